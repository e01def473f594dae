//! Mutants that judge deliveries wrongly.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use webhook_core::ledger::{Ledger, LedgerError};
use webhook_core::{Claim, NewEvent, Quarantine};

use crate::broken::{Broken, Mutant};
use crate::is_caught;
use crate::store::{execute, rows};

/// What the true ledger says, with some of it replaced.
async fn claim<M: Mutant>(
    on: &Broken<M>,
    events: Vec<NewEvent>,
    replace: fn(Claim) -> Claim,
) -> Result<Vec<Claim>, LedgerError> {
    let claims = on.ledger.claim(events).await?;
    Ok(claims.into_iter().map(replace).collect())
}

/// A mutant whose claims are replaced.
macro_rules! judges {
    ($($(#[$doc:meta])+ $mutant:ident: $($from:pat => $to:expr),+;)+) => {
        $(
            $(#[$doc])+
            #[derive(Debug)]
            struct $mutant;

            impl Mutant for $mutant {
                async fn claim(
                    on: &Broken<Self>,
                    events: Vec<NewEvent>,
                ) -> Result<Vec<Claim>, LedgerError> {
                    claim(on, events, |claim| match claim {
                        $($from => $to,)+
                        other => other,
                    })
                    .await
                }
            }
        )+
    };
}

judges! {
    /// Whoever comes while an event is held has it too.
    ClaimsTwice: Claim::InFlight => Claim::Stored;
    /// Gives duplicates no reply.
    DropsReplies: Claim::Duplicate { reply: Some(_) } => Claim::Duplicate { reply: None };
    /// Takes any content for the first one's.
    IgnoresContent: Claim::Quarantined(Quarantine::ContentMismatch) => Claim::InFlight;
    /// Takes any type for the first one's.
    IgnoresTypes: Claim::Quarantined(Quarantine::Relabelled) => Claim::InFlight;
    /// Lets old content in under a new id.
    LetsReplaysIn: Claim::Quarantined(Quarantine::Replayed) => Claim::Stored;
    /// Says that what died is running.
    NeverRevives: Claim::Revived => Claim::InFlight;
}

/// Does not know what was completed.
#[derive(Debug)]
struct ForgetsTheCompleted;

impl Mutant for ForgetsTheCompleted {
    async fn claim(on: &Broken<Self>, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        execute(
            &on.path,
            "delete from webhook_claim
             where inbox in (select id from webhook_inbox where state = 'completed');
             delete from webhook_inbox where state = 'completed'",
        )
        .await;
        on.ledger.claim(events).await
    }
}

/// Runs again what was completed.
#[derive(Debug)]
struct RevivesTheCompleted;

impl Mutant for RevivesTheCompleted {
    async fn claim(on: &Broken<Self>, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        execute(
            &on.path,
            "update webhook_inbox set state = 'pending' where state = 'completed'",
        )
        .await;
        on.ledger.claim(events).await
    }
}

/// Lets a delivery in quarantine hold the id it came under.
#[derive(Debug)]
struct QuarantineHoldsKeys;

impl Mutant for QuarantineHoldsKeys {
    async fn claim(on: &Broken<Self>, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        let keys: Vec<_> = events.iter().map(NewEvent::id_key).collect();
        let claims = on.ledger.claim(events).await?;
        for (claim, key) in claims.iter().zip(keys) {
            if matches!(claim, Claim::Quarantined(_)) {
                let key = key.as_bytes().map(|byte| format!("{byte:02x}")).concat();
                let hold = format!(
                    "insert or ignore into webhook_claim (key, inbox, kind, key_fingerprint)
                     select x'{key}', id, 1, key_fingerprint from webhook_inbox limit 1"
                );
                execute(&on.path, hold).await;
            }
        }
        Ok(claims)
    }
}

/// Keeps nothing in quarantine.
#[derive(Debug)]
struct LosesQuarantine;

impl Mutant for LosesQuarantine {
    async fn claim(on: &Broken<Self>, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        let claims = on.ledger.claim(events).await?;
        execute(&on.path, "delete from webhook_quarantine").await;
        Ok(claims)
    }
}

/// Says of every fortieth event that it is stored, and does not store it.
#[derive(Debug)]
struct LosesSomeOfACrowd;

impl Mutant for LosesSomeOfACrowd {
    async fn claim(on: &Broken<Self>, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        static CLAIMED: AtomicUsize = AtomicUsize::new(1);
        let mut claims = Vec::new();
        for event in events {
            let is_lost = CLAIMED.fetch_add(1, Ordering::Relaxed).is_multiple_of(40);
            claims.push(if is_lost {
                Claim::Stored
            } else {
                on.ledger.claim(vec![event]).await?.remove(0)
            });
        }
        Ok(claims)
    }
}

/// Looks whether an event is there, and then stores it.
#[derive(Debug)]
struct LooksAndThenStores;

impl Mutant for LooksAndThenStores {
    async fn claim(on: &Broken<Self>, events: Vec<NewEvent>) -> Result<Vec<Claim>, LedgerError> {
        let mut claims = Vec::new();
        for event in events {
            let sql = format!(
                "select 1 from webhook_inbox where event_id = '{}'",
                event.id()
            );
            let known: Vec<(i64,)> = rows(&on.path, &sql).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            let claimed = on.ledger.claim(vec![event]).await?.remove(0);
            claims.push(match claimed {
                Claim::InFlight if known.is_empty() => Claim::Stored,
                claimed => claimed,
            });
        }
        Ok(claims)
    }
}

pub(crate) mod caught {
    caught! {
        ClaimsTwice:
            "claims::a_repeat_is_in_flight_and_then_a_duplicate"
            "claims::c1_no_account_twice_is_one_event"
            "claims::c4_equal_and_different_events_in_one_batch"
            "claims::many_events_of_one_delivery"
            "races::two_concurrent_claims_have_one_winner"
            "races::fifty_claims_on_two_ledgers_have_one_winner"
        DropsReplies:
            "judgement::a_stored_reply_is_given_to_duplicates"
            "inline::a_granted_claim_commits_with_its_effect"
        ForgetsTheCompleted:
            "claims::a_repeat_is_in_flight_and_then_a_duplicate"
            "clock::e4_a_clock_set_back_makes_nothing_new"
            "judgement::known_id_same_content"
        IgnoresContent:
            "judgement::known_id_other_content"
            "judgement::contents_equal_after_the_payload_is_gone"
            "quarantined::d3_each_content_is_kept_once"
        IgnoresTypes:
            "judgement::known_id_same_content_other_type"
            "judgement::new_id_known_content_other_type"
        LetsReplaysIn:
            "judgement::new_id_known_content"
            "judgement::d1_a_quarantined_delivery_does_not_occupy_the_id"
            "quarantined::d3_a_replay_is_one_row_without_its_payload"
        LooksAndThenStores:
            "races::fifty_claims_on_two_ledgers_have_one_winner"
        LosesQuarantine:
            "quarantined::d3_each_content_is_kept_once"
            "operators::d11_quarantine_is_read_page_by_page"
        LosesSomeOfACrowd:
            "group::a_crowd_of_claims_is_stored_whole"
            "claims::many_events_of_one_delivery"
        NeverRevives:
            "judgement::known_id_same_content"
            "leases::a_dead_event_is_revived_once_per_quiet_time"
            "ordering::f3_an_ignored_event_is_revived_by_who_takes_its_type"
        QuarantineHoldsKeys:
            "judgement::d1_a_quarantined_delivery_does_not_occupy_the_id"
        RevivesTheCompleted:
            "judgement::known_id_same_content"
    }
}

//! Mutants that remember too little or too much, and those that start where they must not.

use std::sync::Arc;
use std::time::Duration;

use webhook_core::Clock;
use webhook_core::ledger::{
    Check, CheckVerdict, IdentityRetention, Ledger, LedgerError, LedgerFault, Notice, Pruned,
    Registration, Retention,
};

use crate::broken::{Broken, Mutant};
use crate::is_caught;
use crate::store::execute;

/// A mutant that prunes something else, and spoils the store when it has.
macro_rules! prunes {
    ($($(#[$doc:meta])+ $mutant:ident: |$what:ident| $change:expr, $sql:literal;)+) => {
        $(
            $(#[$doc])+
            #[derive(Debug)]
            struct $mutant;

            impl Mutant for $mutant {
                async fn prune(
                    on: &Broken<Self>,
                    $what: Retention,
                ) -> Result<Pruned, LedgerError> {
                    let pruned = on.ledger.prune($change).await?;
                    execute(&on.path, $sql).await;
                    Ok(pruned)
                }
            }
        )+
    };
}

prunes! {
    /// Forgets events that were not completed.
    ForgetsTheUnfinished: |what| what, "
        delete from webhook_claim where inbox in
            (select id from webhook_inbox where state <> 'completed');
        delete from webhook_inbox where state <> 'completed'";
    /// Forgets events with their rows.
    ForgetsTombstones: |what| what, "delete from webhook_claim where pruned_at is not null";
    /// Drops what nobody decided on.
    DropsUndecided: |what| what, "update webhook_quarantine set payload = null";
    /// Leaves claim keys behind.
    LeavesKeys: |what| what, "
        insert into webhook_claim (key, inbox, kind, key_fingerprint)
        values (randomblob(32), randomblob(16), 1, randomblob(16))";
    /// Forgets what is still young.
    PrunesTheYoung: |what| {
        let age = match what.identities {
            IdentityRetention::For(_) => IdentityRetention::For(Duration::ZERO),
            other => other,
        };
        Retention::new(what.endpoint, age).payloads(Duration::ZERO, Duration::ZERO)
    }, "";
    /// Takes one endpoint's word for another's.
    PrunesElsewhere: |what| {
        let mut what = what;
        what.endpoint = "shop".into();
        what
    }, "";
    /// Does as much at once as there is.
    PrunesWithoutBound: |what| what.batch(1000), "";
    /// Does not enter the keys that are live.
    EntersNoKeys: |what| what.live_keys(Vec::new()), "";
    /// Takes keys for gone that are live elsewhere.
    ForgetsLiveKeys: |what| match what.identities {
        IdentityRetention::WhileKeysLive(_) => {
            let mut what = what;
            what.identities = IdentityRetention::WhileKeysLive(Duration::ZERO);
            what
        }
        _ => what,
    }, "";
}

/// A mutant that prepares otherwise.
macro_rules! prepares {
    ($($(#[$doc:meta])+ $mutant:ident: |$on:ident, $with:ident| $outcome:expr;)+) => {
        $(
            $(#[$doc])+
            #[derive(Debug)]
            struct $mutant;

            impl Mutant for $mutant {
                #[allow(unused_mut, reason = "some change what is registered")]
                async fn prepare(
                    $on: &Broken<Self>,
                    mut $with: Registration,
                ) -> Result<Vec<Notice>, LedgerError> {
                    $outcome
                }
            }
        )+
    };
}

prepares! {
    /// Starts with a clock that is far from the store's.
    IgnoresClocks: |on, with| {
        with.clock = None;
        on.ledger.prepare(with).await
    };
    /// Tells nobody what should be known.
    NoticesNothing: |on, with| {
        on.ledger.prepare(with).await?;
        Ok(Vec::new())
    };
    /// Starts with a key whose events were forgotten.
    ReadmitsSpentKeys: |on, with| match on.ledger.prepare(with).await {
        Err(refused) if matches!(refused.kind(), LedgerFault::Unfit(_)) => Ok(Vec::new()),
        other => other,
    };
}

/// Finds everything good.
#[derive(Debug)]
struct ChecksNothing;

impl Mutant for ChecksNothing {
    async fn check(on: &Broken<Self>, clock: Arc<dyn Clock>) -> Vec<Check> {
        let mut checks = on.ledger.check(clock).await;
        for check in &mut checks {
            check.verdict = CheckVerdict::Good;
        }
        checks
    }
}

pub(crate) mod caught {
    caught! {
        ChecksNothing:
            "checks::e4_a_clock_that_is_off_is_told"
            "checks::f3_events_that_nobody_serves_are_told"
            "checks::f10_a_store_that_cannot_be_asked_is_told"
        DropsUndecided:
            "retention::e2_only_completed_events_are_forgotten"
        EntersNoKeys:
            "retention::e3_live_keys_are_entered"
        ForgetsLiveKeys:
            "retention::e3_tombstones_go_with_their_key"
            "retention::e3_a_key_that_lives_anywhere_keeps_its_tombstones"
        ForgetsTheUnfinished:
            "retention::e2_only_completed_events_are_forgotten"
        ForgetsTombstones:
            "retention::e3_a_tombstone_still_knows"
            "retention::e3_a_tombstone_still_knows_what_was_signed"
            "retention::e3_claims_beside_a_burial_are_duplicates"
            "judgement::a_pruned_event_is_still_known"
        IgnoresClocks:
            "checks::e4_a_clock_that_is_far_off_is_refused"
        LeavesKeys:
            "retention::e1_an_identity_outlives_its_payload"
            "retention::e1_replicas_forget_at_once"
        NoticesNothing:
            "prepared::waiting_events_of_other_endpoints_are_noticed"
            "prepared::shared_keys_are_noticed"
        PrunesElsewhere:
            "retention::e1_an_identity_may_go_before_its_payload"
        PrunesTheYoung:
            "retention::e1_an_identity_outlives_its_payload"
            "retention::e2_who_is_seen_again_is_remembered"
            "retention::f15_payloads_of_settled_events_end"
        PrunesWithoutBound:
            "retention::f15_a_batch_is_a_bound"
        ReadmitsSpentKeys:
            "prepared::e3_a_key_whose_events_are_forgotten_is_refused"
            "retention::e3_tombstones_go_with_their_key"
    }
}

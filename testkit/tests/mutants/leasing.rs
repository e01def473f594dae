//! Mutants that hand out events wrongly, or let the wrong ones write.

use std::time::Duration;

use webhook_core::InboxId;
use webhook_core::ledger::{
    Committed, Completion, EventTypes, Failure, FencingToken, Lease, Ledger, LedgerError, LedgerTx,
    Next, RolledBack, Take, Taken,
};
use webhook_sqlx::SqliteTx;

use crate::broken::{Broken, Mutant};
use crate::is_caught;
use crate::store::{execute, rows};

/// A mutant that spoils the store before it takes.
macro_rules! spoils_before_it_takes {
    ($($(#[$doc:meta])+ $mutant:ident: $sql:literal;)+) => {
        $(
            $(#[$doc])+
            #[derive(Debug)]
            struct $mutant;

            impl Mutant for $mutant {
                async fn take(on: &Broken<Self>, want: Take) -> Result<Taken, LedgerError> {
                    execute(&on.path, $sql).await;
                    on.ledger.take(want).await
                }
            }
        )+
    };
}

spoils_before_it_takes! {
    /// Runs events of a key beside each other.
    IgnoresOrder: "update webhook_inbox set order_key = null";
    /// Knows of no pause between attempts.
    IgnoresPauses: "update webhook_inbox set due_at = 0 where state = 'pending'";
    /// Takes the newest first.
    NewestFirst: "update webhook_inbox set due_at = 1000 - seq where state = 'pending'";
    /// Begins its tokens anew.
    ReusesTokens: "update webhook_fencing_token set value = 0";
    /// Takes what others hold.
    TakesTheLeased: "update webhook_inbox set due_at = 0 where state = 'processing'";
}

/// A mutant that wants something else.
macro_rules! wants {
    ($($(#[$doc:meta])+ $mutant:ident: |$want:ident| $change:expr;)+) => {
        $(
            $(#[$doc])+
            #[derive(Debug)]
            struct $mutant;

            impl Mutant for $mutant {
                async fn take(on: &Broken<Self>, mut $want: Take) -> Result<Taken, LedgerError> {
                    $change;
                    on.ledger.take($want).await
                }
            }
        )+
    };
}

wants! {
    /// Takes as many as there are.
    IgnoresTheBound: |want| want.max = 1000;
    /// Tries what crashes for ever.
    NeverBuries: |want| want.max_crashes = u32::MAX;
    /// Lets one that kills its workers take others to the grave.
    SuspectsNobody: |want| want.suspect_from = u32::MAX;
    /// Takes what its worker cannot run.
    TakesAnyType: |want| want.event_types = EventTypes::All;
    /// Waits for a clock that was set back to come where it was.
    WaitsForClocks: |want| want.longest_pause = Duration::from_hours(100_000);
}

/// Counts no crash.
#[derive(Debug)]
struct ForgetsCrashes;

impl Mutant for ForgetsCrashes {
    async fn take(on: &Broken<Self>, want: Take) -> Result<Taken, LedgerError> {
        let mut taken = on.ledger.take(want).await?;
        execute(&on.path, "update webhook_inbox set crashes = 0").await;
        for leased in &mut taken.events {
            leased.crashes = 0;
        }
        Ok(taken)
    }
}

/// Lets whoever once held an event go on, under the token of its holder.
#[derive(Debug)]
struct IgnoresTokens;

impl Mutant for IgnoresTokens {
    async fn lease(on: &Broken<Self>, lease: Lease) -> Lease {
        let sql = format!(
            "select token from webhook_inbox where {}",
            is(lease.inbox())
        );
        let held: Vec<(i64,)> = rows(&on.path, &sql).await;
        Lease::new(lease.inbox(), FencingToken::new(held[0].0))
    }
}

/// Lets a holder go on after its lease ran out.
#[derive(Debug)]
struct IgnoresTheEnd;

impl Mutant for IgnoresTheEnd {
    async fn lease(on: &Broken<Self>, lease: Lease) -> Lease {
        let renew = format!(
            "update webhook_inbox set due_at = unixepoch() * 1000 + 60000
             where state = 'processing' and {}",
            is(lease.inbox())
        );
        execute(&on.path, renew).await;
        lease
    }
}

/// Says that every lease it was given still holds.
#[derive(Debug)]
struct RenewsTheLost;

impl Mutant for RenewsTheLost {
    async fn renew(
        on: &Broken<Self>,
        leases: Vec<Lease>,
        length: Duration,
    ) -> Result<Vec<Lease>, LedgerError> {
        on.ledger.renew(leases.clone(), length).await?;
        Ok(leases)
    }
}

/// Counts what was handed back as failed.
#[derive(Debug)]
struct CountsHandBacks;

impl Mutant for CountsHandBacks {
    async fn hand_back(on: &Broken<Self>, leases: Vec<Lease>) -> Result<(), LedgerError> {
        for lease in leases {
            let failed = Failure::new("handed back", Next::Retry(Duration::ZERO));
            on.ledger.fail(lease, failed).await?;
        }
        Ok(())
    }
}

/// Blames the event for contention.
#[derive(Debug)]
struct CountsContention;

impl Mutant for CountsContention {
    async fn fail(
        on: &Broken<Self>,
        lease: Lease,
        mut failure: Failure,
    ) -> Result<bool, LedgerError> {
        failure.counted = true;
        on.ledger.fail(lease, failure).await
    }
}

/// Commits an effect though the lease ran out.
#[derive(Debug)]
struct CommitsTheLost;

impl Mutant for CommitsTheLost {
    async fn commit(
        _: &Broken<Self>,
        _: Option<Lease>,
        mut tx: SqliteTx,
        done: Completion,
    ) -> Result<Committed, LedgerError> {
        let renew = "update webhook_inbox set due_at = unixepoch() * 1000 + 60000";
        sqlx::raw_sql(renew).execute(tx.conn()).await.unwrap();
        tx.complete(done).await
    }
}

/// Records a completion without its effect.
#[derive(Debug)]
struct CompletesApart;

impl Mutant for CompletesApart {
    async fn commit(
        on: &Broken<Self>,
        lease: Option<Lease>,
        tx: SqliteTx,
        done: Completion,
    ) -> Result<Committed, LedgerError> {
        let Some(lease) = lease else {
            return tx.complete(done).await;
        };
        tx.rollback().await;
        on.ledger.complete(lease, done).await?;
        Ok(Committed::Committed)
    }
}

/// Does not see that a handler ended its transaction.
#[derive(Debug)]
struct SeesNoEscape;

impl Mutant for SeesNoEscape {
    async fn commit(
        _: &Broken<Self>,
        _: Option<Lease>,
        tx: SqliteTx,
        done: Completion,
    ) -> Result<Committed, LedgerError> {
        tx.complete(done).await?;
        Ok(Committed::Committed)
    }

    async fn roll_back(_: &Broken<Self>, tx: SqliteTx) -> RolledBack {
        tx.rollback().await;
        RolledBack::Undone
    }
}

/// Keeps the effect of an attempt that failed.
#[derive(Debug)]
struct KeepsTheUndone;

impl Mutant for KeepsTheUndone {
    async fn roll_back(_: &Broken<Self>, mut tx: SqliteTx) -> RolledBack {
        let _ = sqlx::raw_sql("commit").execute(tx.conn()).await;
        tx.rollback().await;
        RolledBack::Undone
    }
}

/// The row of this event.
fn is(inbox: InboxId) -> String {
    let id = inbox.as_bytes().map(|byte| format!("{byte:02x}")).concat();
    format!("id = x'{id}'")
}

pub(crate) mod caught {
    caught! {
        CommitsTheLost:
            "transactions::a_lost_lease_commits_nothing"
        CompletesApart:
            "transactions::effect_and_completion_commit_together"
        CountsContention:
            "leases::failures_are_counted_apart"
            "ordering::a12_contention_is_counted_apart"
        CountsHandBacks:
            "leases::f2_a_hand_back_counts_nothing"
        ForgetsCrashes:
            "leases::f2_crashes_are_counted_and_buried"
            "races::an_expired_lease_has_one_heir"
        IgnoresOrder:
            "ordering::f8_one_of_a_key_runs_at_a_time"
            "ordering::f8_concurrent_claims_run_as_committed"
            "clock::e4_a_clock_set_back_keeps_the_order_of_a_key"
        IgnoresPauses:
            "leases::a_retry_waits_for_its_time"
            "leases::a_dead_event_is_revived_once_per_quiet_time"
        IgnoresTheBound:
            "leases::the_oldest_due_come_first"
        IgnoresTheEnd:
            "fencing::an_expired_lease_does_nothing"
            "transactions::a_lost_lease_opens_no_transaction"
        IgnoresTokens:
            "fencing::a_stale_token_does_nothing"
        KeepsTheUndone:
            "transactions::a_rolled_back_attempt_leaves_the_lease"
            "inline::a_rollback_leaves_no_trace"
        NeverBuries:
            "leases::f2_crashes_are_counted_and_buried"
            "leases::a_buried_event_is_revived_for_one_attempt"
            "ordering::f8_a_buried_head_blocks_nobody"
        NewestFirst:
            "leases::the_oldest_due_come_first"
        RenewsTheLost:
            "leases::a_lost_lease_is_not_renewed"
            "fencing::an_expired_lease_does_nothing"
        ReusesTokens:
            "fencing::e6_a_token_never_returns"
            "leases::an_expired_lease_is_taken_over"
        SeesNoEscape:
            "transactions::a3_a_raw_commit_is_an_escape"
            "transactions::a3_a_raw_rollback_is_an_escape"
            "transactions::a3_a_replaced_transaction_is_an_escape"
            "transactions::a3_a_failed_handler_that_committed_has_escaped"
        SuspectsNobody:
            "leases::f2_no_two_suspects_run_at_once"
        TakesAnyType:
            "leases::f3_other_types_and_endpoints_are_left_alone"
        TakesTheLeased:
            "leases::an_expired_lease_is_taken_over"
            "leases::a_renewed_lease_holds"
            "leases::concurrent_takers_share_nothing"
            "clock::e4_a_clock_set_back_takes_no_lease_away"
        WaitsForClocks:
            "clock::e4_a_pause_from_a_clock_set_back_is_over"
    }
}

//! Mutants that do an operator's work twice, or not.

use webhook_core::InboxId;
use webhook_core::ledger::{
    Found, Ledger, LedgerError, QuarantineId, Release, Replay, Replayable, Search,
};

use crate::broken::{Broken, Mutant};
use crate::is_caught;
use crate::store::execute;

/// Releases what was released.
#[derive(Debug)]
struct ReleasesTwice;

impl Mutant for ReleasesTwice {
    async fn release(on: &Broken<Self>, id: QuarantineId) -> Result<Release, LedgerError> {
        // One after the other: were all reset before the first releases, only one would.
        static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let _turn = TURN.lock().await;
        execute(
            &on.path,
            "update webhook_quarantine
                 set released_at = null, released_by = null, resolution = null;
             delete from webhook_claim where kind = 3",
        )
        .await;
        on.ledger.release(id, "anna".to_owned()).await
    }
}

/// Releases what was discarded.
#[derive(Debug)]
struct DiscardsNothing;

impl Mutant for DiscardsNothing {
    async fn discard(_: &Broken<Self>, _: QuarantineId) -> Result<bool, LedgerError> {
        Ok(true)
    }
}

/// Runs again what is completed, though nobody said so.
#[derive(Debug)]
struct ReplaysTheCompleted;

impl Mutant for ReplaysTheCompleted {
    async fn replay(
        on: &Broken<Self>,
        inbox: InboxId,
        _: Replayable,
    ) -> Result<Replay, LedgerError> {
        let which = Replayable::EvenCompleted;
        on.ledger.replay(inbox, "anna".to_owned(), which).await
    }
}

/// Tells whoever comes second that it was he.
#[derive(Debug)]
struct ReplaysTwice;

impl Mutant for ReplaysTwice {
    async fn replay(
        on: &Broken<Self>,
        inbox: InboxId,
        which: Replayable,
    ) -> Result<Replay, LedgerError> {
        let replayed = on.ledger.replay(inbox, "anna".to_owned(), which).await?;
        Ok(match replayed {
            Replay::Refused(_) => Replay::Waiting,
            other => other,
        })
    }
}

/// Shows events of any state.
#[derive(Debug)]
struct FindsAnyState;

impl Mutant for FindsAnyState {
    async fn find(on: &Broken<Self>, mut what: Search) -> Result<Vec<Found>, LedgerError> {
        what.state = None;
        on.ledger.find(what).await
    }
}

/// Shows the first page again and again.
#[derive(Debug)]
struct FindsTheFirstPage;

impl Mutant for FindsTheFirstPage {
    async fn find(on: &Broken<Self>, mut what: Search) -> Result<Vec<Found>, LedgerError> {
        what.after = None;
        on.ledger.find(what).await
    }
}

pub(crate) mod caught {
    caught! {
        DiscardsNothing:
            "operators::d11_quarantine_is_read_page_by_page"
            "operators::d11_two_operators_decide_once"
        FindsAnyState:
            "operators::stored_events_are_found"
        FindsTheFirstPage:
            "operators::stored_events_are_found"
        ReleasesTwice:
            "operators::d11_two_operators_release_once"
            "operators::d11_a_release_runs_as_an_event_of_its_own"
        ReplaysTheCompleted:
            "operators::d11_a_completed_event_is_replayed_only_if_told_again"
            "operators::d11_nothing_is_replayed_without_its_payload"
        ReplaysTwice:
            "operators::d11_two_operators_replay_once"
            "operators::d11_a_completed_event_is_replayed_only_if_told_again"
    }
}

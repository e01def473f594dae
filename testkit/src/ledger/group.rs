//! Group commit: claims of one process share statements and nothing else.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;

use tokio::task::JoinSet;
use webhook_core::ledger::{Completion, Ledger};
use webhook_core::{Claim, State};

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{claim, in_state, prepared, want};

/// Claim events `0..count` at once.
async fn crowd<L: Ledger>(ledger: &L, count: usize) -> Vec<Claim> {
    let mut claims = JoinSet::new();
    for number in 0..count {
        let (ledger, event) = (ledger.clone(), Post::new(&number.to_string()).strict());
        claims.spawn(async move { claim(&ledger, event).await });
    }
    claims.join_all().await
}

pub async fn a_crowd_of_claims_is_stored_whole<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(crowd(&ledger, 600).await, vec![Claim::Stored; 600]);
    assert_eq!(in_state(&ledger, State::Pending).await, 600);
    assert_eq!(crowd(&ledger, 600).await, vec![Claim::InFlight; 600]);
}

pub async fn a_crowd_of_completions_is_recorded_whole<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    crowd(&ledger, 100).await;
    let many = want().at_most(100);
    let taken = ledger.take(many).await.unwrap();
    assert_eq!(taken.events.len(), 100);
    let mut completions = JoinSet::new();
    for leased in taken.events {
        let ledger = ledger.clone();
        completions.spawn(async move {
            ledger
                .complete(leased.lease, Completion::default())
                .await
                .unwrap()
        });
    }
    assert_eq!(completions.join_all().await, vec![true; 100]);
    assert_eq!(in_state(&ledger, State::Completed).await, 100);
}

//! Who wins, and what is one event.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;

use webhook_core::ledger::{Completion, Ledger};
use webhook_core::{Claim, NewEvent, Quarantine, State};

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{claim, in_state, prepared, stored, take};

pub async fn a_repeat_is_in_flight_and_then_a_duplicate<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("evt_1");
    assert_eq!(claim(&ledger, post.strict()).await, Claim::Stored);
    assert_eq!(claim(&ledger, post.strict()).await, Claim::InFlight);
    let lease = take(&ledger).await.lease;
    assert_eq!(claim(&ledger, post.strict()).await, Claim::InFlight);
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    let duplicate = Claim::Duplicate { reply: None };
    assert_eq!(claim(&ledger, post.strict()).await, duplicate);
    assert_eq!(claim(&ledger, post.spaced().strict()).await, duplicate);
}

pub async fn c1_no_account_twice_is_one_event<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(
        claim(&ledger, Post::new("evt_1").strict()).await,
        Claim::Stored
    );
    assert_eq!(
        claim(&ledger, Post::new("evt_1").strict()).await,
        Claim::InFlight
    );
    assert_eq!(stored(&ledger).await, 1);
}

pub async fn c4_equal_and_different_events_in_one_batch<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let batch = vec![
        Post::new("evt_1").strict(),
        Post::new("evt_1").strict(),
        Post::new("evt_2").strict(),
        Post::new("evt_1").content("other").strict(),
        Post::new("evt_1").spaced().strict(),
    ];
    let claims = ledger.claim(batch).await.unwrap();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    let wanted = [
        Claim::Stored,
        Claim::InFlight,
        Claim::Stored,
        mismatch,
        Claim::InFlight,
    ];
    assert_eq!(claims, wanted);
    // Half of the second one's keys are the first one's; the third shares the other half.
    let batch = vec![
        Post::new("a").content("1").loose(),
        Post::new("b").content("1").loose(),
        Post::new("b").content("2").loose(),
    ];
    let claims = ledger.claim(batch).await.unwrap();
    assert_eq!(claims, [Claim::Stored, Claim::InFlight, Claim::Stored]);
    assert!(ledger.claim(Vec::new()).await.unwrap().is_empty());
}

pub async fn many_events_of_one_delivery<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let batch = |from: usize| -> Vec<NewEvent> {
        (from..from + 200)
            .map(|n| {
                Post::new(&format!("evt_{n}"))
                    .content(n.to_string())
                    .loose()
            })
            .collect()
    };
    assert!(
        ledger
            .claim(batch(0))
            .await
            .unwrap()
            .iter()
            .all(|claim| *claim == Claim::Stored)
    );
    let overlap = ledger.claim(batch(100)).await.unwrap();
    assert!(overlap[..100].iter().all(|claim| *claim == Claim::InFlight));
    assert!(overlap[100..].iter().all(|claim| *claim == Claim::Stored));
    assert_eq!(in_state(&ledger, State::Pending).await, 300);
}

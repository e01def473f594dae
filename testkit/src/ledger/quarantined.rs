//! Quarantine: evidence, bounded.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;

use webhook_core::ledger::{Ledger, Quarantined, Release};
use webhook_core::{Claim, Quarantine};

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{claim, completed, held, prepared};

async fn only<L: Ledger>(ledger: &L) -> Quarantined {
    let mut rows = ledger.quarantined(None, None, 10).await.unwrap();
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

pub async fn d3_a_replay_is_one_row_without_its_payload<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = completed(&ledger, Post::new("1").loose()).await;
    for n in 0..50 {
        let replay = Post::new(&format!("replay-{n}")).loose();
        assert_eq!(
            claim(&ledger, replay).await,
            Claim::Quarantined(Quarantine::Replayed)
        );
    }
    let row = only(&ledger).await;
    assert_eq!((row.seen, row.event_id.as_str()), (50, "replay-0"));
    assert_eq!(row.first, Some(lease.inbox()));
    assert_eq!(store.keys().await, 2);
}

pub async fn d3_each_content_is_kept_once<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(claim(&ledger, Post::new("1").strict()).await, Claim::Stored);
    for content in ["a", "b", "a", "b", "a"] {
        let other = Post::new("1").content(content).strict();
        let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
        assert_eq!(claim(&ledger, other).await, mismatch);
    }
    let rows = ledger.quarantined(None, None, 10).await.unwrap();
    let first = Post::new("1").strict().digest();
    assert!(rows.iter().all(|row| row.first_digest == Some(first)));
    let seen: Vec<_> = rows.iter().map(|row| (row.digest, row.seen)).collect();
    let digest = |content| Post::new("1").content(content).strict().digest();
    assert_eq!(seen, [(digest("a"), 3), (digest("b"), 2)]);
    // Each payload is kept: it is nobody else's.
    for row in rows {
        let released = ledger.release(row.id, "anna".to_owned()).await.unwrap();
        assert!(matches!(released, Release::Released(_)), "{released:?}");
    }
}

pub async fn d3_an_endpoint_may_keep_evidence_alone<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1").quarantine_bytes(0);
    assert_eq!(claim(&ledger, post.strict()).await, Claim::Stored);
    let other = post.content("other").strict();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    for _ in 0..2 {
        assert_eq!(claim(&ledger, other.clone()).await, mismatch);
    }
    let row = only(&ledger).await;
    assert_eq!((row.digest, row.seen), (other.digest(), 2));
    assert_eq!(row.first_digest, Some(Post::new("1").strict().digest()));
    let released = ledger.release(row.id, "anna".to_owned()).await.unwrap();
    assert_eq!(released, Release::NoPayload);
    assert!(ledger.discard(row.id, "anna".to_owned()).await.unwrap());
}

pub async fn d3_an_endpoint_bounds_its_payloads<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1").quarantine_bytes(1500);
    assert_eq!(claim(&ledger, post.strict()).await, Claim::Stored);
    for content in ["a", "b"] {
        let other = post.clone().content(content.repeat(1000)).strict();
        let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
        assert_eq!(claim(&ledger, other).await, mismatch);
    }
    let rows = ledger.quarantined(None, None, 10).await.unwrap();
    let mut releases = Vec::new();
    for row in rows {
        releases.push(ledger.release(row.id, "anna".to_owned()).await.unwrap());
    }
    assert!(matches!(
        releases[..],
        [Release::Released(_), Release::NoPayload]
    ));
}

pub async fn a_label_that_does_not_fit_spends_no_key<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").event_type("forged").loose();
    ledger
        .quarantine(event, Quarantine::Relabelled)
        .await
        .unwrap();
    assert_eq!(held(&ledger).await, 1);
    assert_eq!(store.keys().await, 0);
    assert_eq!(claim(&ledger, Post::new("1").loose()).await, Claim::Stored);
}

//! Quarantine: evidence, bounded.

use std::sync::Arc;

use webhook_core::ledger::{Completion, Ledger};
use webhook_core::{Claim, Quarantine};

use crate::post::Post;
use crate::store::{Store, claim, prepared, take};

cases! {
    d3_a_replay_is_one_row_without_its_payload
    d3_each_content_is_kept_once
    d3_payloads_are_capped
    a_label_that_does_not_fit_spends_no_key
}

async fn d3_a_replay_is_one_row_without_its_payload<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(claim(&ledger, Post::new("1").loose()).await, Claim::Stored);
    let lease = take(&ledger).await.lease;
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    for n in 0..50 {
        let replay = Post::new(&format!("replay-{n}")).loose();
        assert_eq!(
            claim(&ledger, replay).await,
            Claim::Quarantined(Quarantine::Replayed)
        );
    }
    let row = "select count(*) from webhook.quarantine where seen = 50 and payload is null
        and first_inbox is not null and event_id = 'replay-0' and last_event_id = 'replay-49'";
    assert_eq!(store.number(row).await, 1);
    assert_eq!(
        store
            .number("select count(*) from webhook.quarantine")
            .await,
        1
    );
    assert_eq!(store.number("select count(*) from webhook.claim").await, 2);
}

async fn d3_each_content_is_kept_once<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(claim(&ledger, Post::new("1").strict()).await, Claim::Stored);
    for content in ["a", "b", "a", "b", "a"] {
        let other = Post::new("1").content(content).strict();
        let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
        assert_eq!(claim(&ledger, other).await, mismatch);
    }
    let kept = "select count(*) from webhook.quarantine where payload is not null
        and first_digest = (select digest from webhook.inbox) and digest <> first_digest";
    assert_eq!(store.number(kept).await, 2);
    assert_eq!(
        store
            .number("select sum(seen) from webhook.quarantine")
            .await,
        5
    );
}

async fn d3_payloads_are_capped<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    for endpoint in ["shop", "other"] {
        let first = Post::new("1").endpoint(endpoint).strict();
        assert_eq!(claim(&ledger, first).await, Claim::Stored);
    }
    let other = Post::new("1").content("x".repeat(1024));
    assert_eq!(claim(&ledger, other.strict()).await, mismatch);
    let almost = "x".repeat(1024).len() + 64 * 1024 * 1024 - 2048;
    // Zeros, in both dialects.
    let zeros = match S::bytes(&[]).as_str() {
        "x''" => format!("zeroblob({almost})"),
        _ => format!("convert_to(repeat('0', {almost}), 'UTF8')"),
    };
    store
        .execute(&format!("update webhook.quarantine set payload = {zeros}"))
        .await;
    let full = Post::new("1").content("y".repeat(2048)).strict();
    assert_eq!(claim(&ledger, full).await, mismatch);
    let elsewhere = Post::new("1").endpoint("other").content("y").strict();
    assert_eq!(claim(&ledger, elsewhere).await, mismatch);
    let kept = "select count(*) from webhook.quarantine where payload is not null and endpoint =";
    assert_eq!(store.number(&format!("{kept} 'shop'")).await, 1);
    assert_eq!(store.number(&format!("{kept} 'other'")).await, 1);
    assert_eq!(
        store
            .number("select count(*) from webhook.quarantine")
            .await,
        3
    );
}

async fn a_label_that_does_not_fit_spends_no_key<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").event_type("forged").loose();
    ledger
        .quarantine(event, Quarantine::Relabelled)
        .await
        .unwrap();
    assert_eq!(
        store
            .number("select count(*) from webhook.quarantine")
            .await,
        1
    );
    assert_eq!(store.number("select count(*) from webhook.claim").await, 0);
    assert_eq!(claim(&ledger, Post::new("1").loose()).await, Claim::Stored);
}

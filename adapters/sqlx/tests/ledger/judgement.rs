//! The rule table of `NewEvent::judge`, cell by cell, through the store.

use std::sync::Arc;

use webhook_core::ledger::{Completion, Ledger};
use webhook_core::{Claim, NewEvent, Quarantine, Reply};

use crate::post::Post;
use crate::store::{Store, claim, in_state, prepared, take};

cases! {
    known_id_same_content
    known_id_other_content
    known_id_same_content_other_type
    new_id_known_content
    new_id_known_content_other_type
    contents_equal_in_other_bytes
    contents_equal_after_the_payload_is_gone
    a_pruned_event_is_still_known
    d1_a_quarantined_delivery_does_not_occupy_the_id
    a_stored_reply_is_given_to_duplicates
    a_revived_event_whose_payload_was_dropped_gets_it_back
}

const STATES: [&str; 5] = ["completed", "dead", "ignored", "pending", "processing"];

/// Store `first`, put it in `state`, and return a ledger.
async fn stored<S: Store>(store: &S, first: NewEvent, state: &str) -> S::L {
    let ledger = prepared(store).await;
    store.execute("delete from webhook.claim").await;
    store.execute("delete from webhook.inbox").await;
    assert_eq!(claim(&ledger, first).await, Claim::Stored);
    let sql = format!("update webhook.inbox set state = '{state}', token = 1");
    assert_eq!(store.execute(&sql).await, 1);
    ledger
}

fn again(state: &str) -> Claim {
    match state {
        "completed" => Claim::Duplicate { reply: None },
        "dead" | "ignored" => Claim::Revived,
        _ => Claim::InFlight,
    }
}

async fn known_id_same_content<S: Store>(store: Arc<S>) {
    for state in STATES {
        for make in [Post::strict, Post::loose] {
            let ledger = stored(&*store, make(&Post::new("a")), state).await;
            assert_eq!(
                claim(&ledger, make(&Post::new("a"))).await,
                again(state),
                "{state}"
            );
            // One is enough: the next finds it waiting.
            if again(state) == Claim::Revived {
                assert_eq!(claim(&ledger, make(&Post::new("a"))).await, Claim::InFlight);
                assert_eq!(in_state(&*store, "pending").await, 1);
            }
        }
    }
}

async fn known_id_other_content<S: Store>(store: Arc<S>) {
    for state in STATES {
        for make in [Post::strict, Post::loose] {
            let ledger = stored(&*store, make(&Post::new("a")), state).await;
            let other = make(&Post::new("a").content("other"));
            let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
            assert_eq!(claim(&ledger, other).await, mismatch, "{state}");
            assert_eq!(in_state(&*store, state).await, 1, "{state}");
        }
        // The type is content where it is signed.
        let ledger = stored(&*store, Post::new("a").strict(), state).await;
        let other = Post::new("a").event_type("other").strict();
        let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
        assert_eq!(claim(&ledger, other).await, mismatch, "{state}");
    }
}

async fn known_id_same_content_other_type<S: Store>(store: Arc<S>) {
    for state in STATES {
        let ledger = stored(&*store, Post::new("a").loose(), state).await;
        let other = Post::new("a").event_type("other").loose();
        let relabelled = Claim::Quarantined(Quarantine::Relabelled);
        assert_eq!(claim(&ledger, other).await, relabelled, "{state}");
        assert_eq!(in_state(&*store, state).await, 1, "{state}");
    }
}

async fn new_id_known_content<S: Store>(store: Arc<S>) {
    for state in STATES {
        let ledger = stored(&*store, Post::new("a").loose(), state).await;
        let wanted = match state {
            "completed" => Claim::Quarantined(Quarantine::Replayed),
            _ => again(state),
        };
        assert_eq!(
            claim(&ledger, Post::new("b").loose()).await,
            wanted,
            "{state}"
        );
        assert_eq!(store.number("select count(*) from webhook.inbox").await, 1);
        // Where the id is signed, equal contents under two ids cannot be: the id is content.
        assert_eq!(claim(&ledger, Post::new("b").strict()).await, Claim::Stored);
    }
}

async fn new_id_known_content_other_type<S: Store>(store: Arc<S>) {
    for state in STATES {
        let ledger = stored(&*store, Post::new("a").loose(), state).await;
        let other = Post::new("b").event_type("other").loose();
        let relabelled = Claim::Quarantined(Quarantine::Relabelled);
        assert_eq!(claim(&ledger, other).await, relabelled, "{state}");
        assert_eq!(in_state(&*store, state).await, 1, "{state}");
    }
}

async fn contents_equal_in_other_bytes<S: Store>(store: Arc<S>) {
    for state in STATES {
        let ledger = stored(&*store, Post::new("a").strict(), state).await;
        let spaced = Post::new("a").spaced().strict();
        assert_eq!(claim(&ledger, spaced).await, again(state), "{state}");
    }
}

async fn contents_equal_after_the_payload_is_gone<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("a").strict();
    let canonical = event.canonical();
    assert_eq!(claim(&ledger, event).await, Claim::Stored);
    let done = Completion::new(Reply::default(), canonical);
    assert!(
        ledger
            .complete(take(&ledger).await.lease, done)
            .await
            .unwrap()
    );
    store
        .execute("update webhook.inbox set payload = null")
        .await;
    let duplicate = Claim::Duplicate { reply: None };
    assert_eq!(claim(&ledger, Post::new("a").strict()).await, duplicate);
    assert_eq!(
        claim(&ledger, Post::new("a").spaced().strict()).await,
        duplicate
    );
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    let other = Post::new("a").content("other").strict();
    assert_eq!(claim(&ledger, other).await, mismatch);
}

async fn a_pruned_event_is_still_known<S: Store>(store: Arc<S>) {
    let ledger = stored(&*store, Post::new("a").loose(), "completed").await;
    let sql = format!(
        "update webhook.claim set pruned_at = {}, digest = (select digest from webhook.inbox)",
        S::moment(0)
    );
    assert_eq!(store.execute(&sql).await, 2);
    store.execute("delete from webhook.inbox").await;
    let duplicate = Claim::Duplicate { reply: None };
    assert_eq!(claim(&ledger, Post::new("a").loose()).await, duplicate);
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    let other = Post::new("a").content("other").loose();
    assert_eq!(claim(&ledger, other).await, mismatch);
    let replayed = Claim::Quarantined(Quarantine::Replayed);
    assert_eq!(claim(&ledger, Post::new("b").loose()).await, replayed);
    // Where not even the digest was kept, the id alone must not pass for a duplicate.
    store
        .execute("update webhook.claim set digest = null")
        .await;
    assert_eq!(claim(&ledger, Post::new("a").loose()).await, mismatch);
    assert_eq!(store.number("select count(*) from webhook.claim").await, 2);
    assert_eq!(store.number("select count(*) from webhook.inbox").await, 0);
}

/// The attacker replays an old body under the id of a delivery that he sees coming.
async fn d1_a_quarantined_delivery_does_not_occupy_the_id<S: Store>(store: Arc<S>) {
    let ledger = stored(&*store, Post::new("a").content("old").loose(), "completed").await;
    let replayed = Claim::Quarantined(Quarantine::Replayed);
    let attack = Post::new("b").content("old").loose();
    assert_eq!(claim(&ledger, attack).await, replayed);
    let real = Post::new("b").content("new");
    assert_eq!(claim(&ledger, real.loose()).await, Claim::Stored);
    assert_eq!(claim(&ledger, real.loose()).await, Claim::InFlight);
    assert_eq!(
        store
            .number("select count(*) from webhook.quarantine")
            .await,
        1
    );
}

async fn a_stored_reply_is_given_to_duplicates<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("a").strict();
    assert_eq!(claim(&ledger, event.clone()).await, Claim::Stored);
    let reply = Reply::json(r#"{"text":"hello"}"#);
    let done = Completion::new(reply.clone(), None);
    assert!(
        ledger
            .complete(take(&ledger).await.lease, done)
            .await
            .unwrap()
    );
    let duplicate = Claim::Duplicate { reply: Some(reply) };
    assert_eq!(claim(&ledger, event).await, duplicate);
}

async fn a_revived_event_whose_payload_was_dropped_gets_it_back<S: Store>(store: Arc<S>) {
    let event = Post::new("a").strict();
    let ledger = stored(&*store, event.clone(), "dead").await;
    store
        .execute("update webhook.inbox set payload = null")
        .await;
    assert_eq!(claim(&ledger, event.clone()).await, Claim::Revived);
    assert_eq!(take(&ledger).await.event.payload, event.payload());
}

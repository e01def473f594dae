//! What is recorded where no ledger shows it: in columns.

use std::sync::Arc;
use std::time::Duration;

use webhook_core::ledger::{
    Completion, IdentityRetention, Ledger, RegisteredEndpoint, Registration, Release, Replay,
    Replayable, Retention,
};
use webhook_core::{Claim, Quarantine, Reply};
use webhook_testkit::ledger::steps::{claim, completed, leased, prepared, take};
use webhook_testkit::ledger::{ENDPOINT, Post};

use crate::store::Sql;

cases! {
    d3_a_replay_stores_no_payload
    d3_payloads_are_capped
    d11_a_payload_that_was_not_kept_is_not_the_first_ones
    d11_who_decided_is_recorded
    a_tombstone_without_a_digest_knows_no_content
    f2_hand_backs_are_counted
    f3_ignored_events_are_settled
    f8_idle_heads_go
    keys_are_registered
    last_seen_is_marked_once_a_minute
    spent_payloads_go_with_their_headers
}

async fn d3_a_replay_stores_no_payload<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").loose()).await;
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
}

async fn d3_payloads_are_capped<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    for endpoint in ["shop", "other"] {
        let first = Post::new("1").endpoint(endpoint).strict();
        assert_eq!(claim(&ledger, first).await, Claim::Stored);
    }
    let other = Post::new("1").content("x".repeat(1024));
    assert_eq!(claim(&ledger, other.strict()).await, mismatch);
    let almost = "x".repeat(1024).len() + 64 * 1024 * 1024 - 2048;
    let zeros = S::zeros(almost);
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

/// A payload that went over the endpoint's cap is gone; the first one's is of another content.
async fn d11_a_payload_that_was_not_kept_is_not_the_first_ones<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").loose()).await;
    let other = Post::new("1").content("other").loose();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    assert_eq!(claim(&ledger, other).await, mismatch);
    store
        .execute("update webhook.quarantine set payload = null")
        .await;
    let row = ledger.quarantined(None, None, 10).await.unwrap().remove(0);
    let released = ledger.release(row.id, "anna".to_owned()).await.unwrap();
    assert_eq!(released, Release::NoPayload);
}

async fn d11_who_decided_is_recorded<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let first = completed(&ledger, Post::new("1").strict()).await.inbox();
    for content in ["a", "b"] {
        let other = Post::new("1").content(content).strict();
        let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
        assert_eq!(claim(&ledger, other).await, mismatch);
    }
    let rows = ledger.quarantined(None, None, 10).await.unwrap();
    let released = ledger.release(rows[0].id, "anna".to_owned()).await.unwrap();
    assert!(matches!(released, Release::Released(_)), "{released:?}");
    assert!(ledger.discard(rows[1].id, "bert".to_owned()).await.unwrap());
    for (actor, resolution) in [("anna", "released"), ("bert", "discarded")] {
        let decided = format!(
            "select count(*) from webhook.quarantine where released_by = '{actor}'
             and resolution = '{resolution}' and released_at is not null"
        );
        assert_eq!(store.number(&decided).await, 1);
    }
    let again = ledger.replay(first, "carl".to_owned(), Replayable::EvenCompleted);
    assert_eq!(again.await.unwrap(), Replay::Waiting);
    let by_carl = "select count(*) from webhook.inbox
        where replayed_by = 'carl' and replayed_at is not null";
    assert_eq!(store.number(by_carl).await, 1);
}

/// The id alone must not pass for a duplicate.
async fn a_tombstone_without_a_digest_knows_no_content<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("a").loose()).await;
    let bury = format!("update webhook.claim set pruned_at = {}", S::moment(0));
    assert_eq!(store.execute(&bury).await, 2);
    store.execute("delete from webhook.inbox").await;
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    assert_eq!(claim(&ledger, Post::new("a").loose()).await, mismatch);
    assert_eq!(store.number("select count(*) from webhook.claim").await, 2);
}

async fn f2_hand_backs_are_counted<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mut lease = leased(&ledger, Post::new("1").strict()).await;
    for _ in 0..10 {
        ledger.hand_back(vec![lease]).await.unwrap();
        lease = take(&ledger).await.lease;
    }
    let hand_backs = "select hand_backs from webhook.inbox";
    assert_eq!(store.number(hand_backs).await, 10);
}

async fn f3_ignored_events_are_settled<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ignored = Post::new("1").strict().ignored();
    assert_eq!(claim(&ledger, ignored).await, Claim::Stored);
    let settled = "select count(*) from webhook.inbox
        where state = 'ignored' and settled_at is not null and payload is not null";
    assert_eq!(store.number(settled).await, 1);
}

async fn f8_idle_heads_go<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ordered = |id: &str| Post::new(id).ordered().strict();
    assert_eq!(claim(&ledger, ordered("1")).await, Claim::Stored);
    if S::HAS_HEADS {
        let heads = "select count(*) from webhook.order_head";
        assert_eq!(store.number(heads).await, 1);
        store.shift(2 * 24 * 3_600_000).await;
        let what = Retention::new(ENDPOINT, IdentityRetention::Forever);
        ledger.prune(what).await.unwrap();
        assert_eq!(store.number(heads).await, 0);
    }
    assert_eq!(claim(&ledger, ordered("2")).await, Claim::Stored);
    assert_eq!(take(&ledger).await.event.id.as_str(), "1");
}

fn registration(endpoints: &[(&str, bool)]) -> Registration {
    let keys = vec![Post::new("1").key_fingerprint()];
    let endpoint = |(name, shared): &(&str, bool)| {
        RegisteredEndpoint::new((*name).into(), keys.clone(), *shared)
    };
    Registration::new(endpoints.iter().map(endpoint).collect())
}

async fn keys_are_registered<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let shop = registration(&[("shop", false)]);
    ledger.prepare(shop.clone()).await.unwrap();
    let old = format!(
        "update webhook.signing_key set last_live_at = {}",
        S::moment(-100_000)
    );
    store.execute(&old).await;
    ledger.prepare(shop).await.unwrap();
    let live = format!(
        "select count(*) from webhook.signing_key where last_live_at > {} and pruned_at is null",
        S::moment(-50_000)
    );
    assert_eq!(store.number(&live).await, 1);
    assert_eq!(
        store
            .number("select count(*) from webhook.signing_key")
            .await,
        1
    );
}

async fn last_seen_is_marked_once_a_minute<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(claim(&ledger, Post::new("1").strict()).await, Claim::Stored);
    let lately = format!(
        "select count(*) from webhook.inbox where last_seen_at > {}",
        S::moment(-30_000)
    );
    for (age, marked) in [(-50_000, 0), (-70_000, 1)] {
        let sql = format!("update webhook.inbox set last_seen_at = {}", S::moment(age));
        store.execute(&sql).await;
        assert_eq!(
            claim(&ledger, Post::new("1").strict()).await,
            Claim::InFlight
        );
        assert_eq!(store.number(&lately).await, marked);
    }
}

async fn spent_payloads_go_with_their_headers<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").loose()).await;
    let done = Completion::new(Reply::json("7"), None);
    assert!(ledger.complete(lease, done).await.unwrap());
    store.shift(1000).await;
    let what = Retention::new(ENDPOINT, IdentityRetention::Forever)
        .payloads(Duration::ZERO, Duration::ZERO);
    assert_eq!(ledger.prune(what).await.unwrap().payloads, 1);
    let spent = "select count(*) from webhook.inbox
        where payload is null and headers is null and reply is not null";
    assert_eq!(store.number(spent).await, 1);
}

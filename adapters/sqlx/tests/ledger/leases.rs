//! Leases: who works on an event, for how long, and how often.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::Claim;
use webhook_core::ledger::{Completion, Failure, FencingToken, Lease, Ledger, Next};

use crate::post::{ENDPOINT, Post, TYPE};
use crate::store::{Store, claim, in_state, leased, limits, prepared, set_due, take, want};

cases! {
    what_was_stored_is_leased
    the_oldest_due_come_first
    f3_other_types_and_endpoints_are_left_alone
    concurrent_takers_share_nothing
    an_expired_lease_is_taken_over
    a_stale_token_does_nothing
    an_expired_lease_does_nothing
    a_renewed_lease_holds
    a_lost_lease_is_not_renewed
    e4_a_lease_from_a_clock_set_back_has_run_out
    e6_a_token_never_returns
    f2_crashes_are_counted_and_buried
    f2_a_hand_back_counts_nothing
    failures_are_counted_apart
    a_retry_waits_for_its_time
    a_dead_event_is_revived_once_per_quiet_time
    a_buried_event_is_revived_for_one_attempt
    completing_twice_is_completing
    f14_stored_errors_are_short
    last_seen_is_marked_once_a_minute
}

fn failure(next: Next) -> Failure {
    Failure::new("class: public words", next)
}

async fn nothing_is_due<L: Ledger>(ledger: &L) {
    assert!(ledger.take(want()).await.unwrap().events.is_empty());
}

async fn what_was_stored_is_leased<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("évt 1")
        .account("acct")
        .content("x".repeat(300 * 1024))
        .strict();
    assert_eq!(claim(&ledger, event.clone()).await, Claim::Stored);
    let leased = take(&ledger).await;
    assert_eq!((leased.failures, leased.crashes), (0, 0));
    let stored = leased.event;
    assert_eq!(&*stored.endpoint, ENDPOINT);
    assert_eq!(stored.principal, None);
    assert_eq!(stored.account.unwrap().as_str(), "acct");
    assert_eq!(stored.id, *event.id());
    assert_eq!(stored.event_type, *event.event_type());
    assert_eq!(stored.payload, event.payload());
    assert_eq!(stored.headers, *event.headers());
    assert_eq!(stored.key_id.as_deref(), Some("k1"));
    assert_eq!(stored.signed_at, None);
    let now = format!(
        "select count(*) from webhook.inbox where received_at between {} and {}",
        S::moment(-60_000),
        S::moment(60_000)
    );
    assert_eq!(store.number(&now).await, 1);
    assert!(stored.received_at > 1_700_000_000, "{}", stored.received_at);

    let event = Post::new("ascii").tenant("t").strict();
    assert_eq!(claim(&ledger, event.clone()).await, Claim::Stored);
    let stored = take(&ledger).await.event;
    assert_eq!(stored.principal.as_deref(), Some("t"));
    assert_eq!(stored.headers.get("X-Id"), Some("ascii"));
}

async fn the_oldest_due_come_first<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for id in ["1", "2", "3", "4", "5"] {
        assert_eq!(claim(&ledger, Post::new(id).strict()).await, Claim::Stored);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let two = want().at_most(2);
    for wanted in [vec!["1", "2"], vec!["3", "4"], vec!["5"], vec![]] {
        let events = ledger.take(two.clone()).await.unwrap().events;
        let ids: Vec<_> = events
            .iter()
            .map(|leased| leased.event.id.as_str())
            .collect();
        assert_eq!(ids, wanted);
    }
}

async fn f3_other_types_and_endpoints_are_left_alone<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let posts = [
        Post::new("1"),
        Post::new("2").event_type("new.type"),
        Post::new("3").endpoint("elsewhere"),
        Post::new("4").event_type(&TYPE.to_uppercase()),
    ];
    for post in &posts {
        assert_eq!(claim(&ledger, post.strict()).await, Claim::Stored);
    }
    assert_eq!(take(&ledger).await.event.id.as_str(), "1");
    nothing_is_due(&ledger).await;
    assert_eq!(in_state(&*store, "pending").await, 3);
    // Nor are abandoned ones taken by who cannot run them.
    let mut other = want();
    other.event_types = vec!["new.type".to_owned()].into();
    let taken = ledger.take(other).await.unwrap().events;
    set_due(&*store, taken[0].lease, -1).await;
    nothing_is_due(&ledger).await;
    let mut none = want();
    none.event_types = Vec::new().into();
    assert!(ledger.take(none).await.unwrap().events.is_empty());
}

async fn concurrent_takers_share_nothing<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let events = (0..60)
        .map(|n| Post::new(&n.to_string()).strict())
        .collect();
    ledgers[0].claim(events).await.unwrap();
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(8) {
        let ledger = ledger.clone();
        race.spawn(async move {
            let mut leases = Vec::new();
            loop {
                let taken = ledger.take(want().at_most(3)).await.unwrap().events;
                if taken.is_empty() {
                    return leases;
                }
                leases.extend(taken.into_iter().map(|leased| leased.lease));
            }
        });
    }
    let leases: Vec<Lease> = race.join_all().await.concat();
    // Somebody may have gone away while rows were locked by others; nothing is taken twice.
    let mut rest = ledgers[0].take(want().at_most(60)).await.unwrap().events;
    let leases: Vec<Lease> = leases
        .into_iter()
        .chain(rest.drain(..).map(|leased| leased.lease))
        .collect();
    let rows: std::collections::HashSet<_> = leases.iter().map(Lease::inbox).collect();
    let tokens: std::collections::HashSet<_> = leases.iter().map(Lease::token).collect();
    assert_eq!((leases.len(), rows.len(), tokens.len()), (60, 60, 60));
}

async fn an_expired_lease_is_taken_over<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let first = leased(&ledger, Post::new("1").strict()).await;
    nothing_is_due(&ledger).await;
    set_due(&*store, first, -1).await;
    let second = take(&ledger).await;
    assert_eq!(second.lease.inbox(), first.inbox());
    assert!(second.lease.token() > first.token());
    assert_eq!(second.crashes, 1);
}

/// Everything a holder can do, and all of it in vain.
async fn is_powerless<S: Store>(ledger: &S::L, lease: Lease) {
    let retry = failure(Next::Retry(Duration::ZERO));
    assert!(ledger.begin(lease, limits()).await.unwrap().is_none());
    assert!(!ledger.complete(lease, Completion::default()).await.unwrap());
    assert!(!ledger.fail(lease, retry).await.unwrap());
    let length = Duration::from_mins(1);
    assert!(ledger.renew(vec![lease], length).await.unwrap().is_empty());
    ledger.hand_back(vec![lease]).await.unwrap();
}

async fn a_stale_token_does_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let stale = leased(&ledger, Post::new("1").strict()).await;
    set_due(&*store, stale, -1).await;
    let fresh = take(&ledger).await.lease;
    is_powerless::<S>(&ledger, stale).await;
    assert_eq!(in_state(&*store, "processing").await, 1);
    let invented = Lease::new(fresh.inbox(), FencingToken::new(fresh.token().get() + 1));
    is_powerless::<S>(&ledger, invented).await;
    assert!(ledger.complete(fresh, Completion::default()).await.unwrap());
    is_powerless::<S>(&ledger, stale).await;
}

async fn an_expired_lease_does_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    set_due(&*store, lease, -1).await;
    is_powerless::<S>(&ledger, lease).await;
    assert_eq!(in_state(&*store, "processing").await, 1);
}

async fn a_renewed_lease_holds<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    set_due(&*store, lease, 300).await;
    let length = Duration::from_secs(30);
    assert_eq!(ledger.renew(vec![lease], length).await.unwrap(), [lease]);
    tokio::time::sleep(Duration::from_millis(350)).await;
    nothing_is_due(&ledger).await;
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
}

async fn a_lost_lease_is_not_renewed<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let (a, b) = (Post::new("a").strict(), Post::new("b").strict());
    let (a, b) = (leased(&ledger, a).await, leased(&ledger, b).await);
    set_due(&*store, a, -1).await;
    let length = Duration::from_secs(30);
    assert_eq!(ledger.renew(vec![a, b], length).await.unwrap(), [b]);
    assert!(ledger.renew(Vec::new(), length).await.unwrap().is_empty());
}

async fn e4_a_lease_from_a_clock_set_back_has_run_out<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    set_due(&*store, lease, 30 * 60 * 1000).await;
    nothing_is_due(&ledger).await;
    set_due(&*store, lease, 2 * 3600 * 1000).await;
    let mut long = want();
    long.lease = Duration::from_hours(2);
    assert!(ledger.take(long).await.unwrap().events.is_empty());
    assert_eq!(take(&ledger).await.lease.inbox(), lease.inbox());
}

async fn e6_a_token_never_returns<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let first = leased(&ledger, Post::new("1").strict()).await;
    store.execute("delete from webhook.claim").await;
    store.execute("delete from webhook.inbox").await;
    let second = leased(&ledger, Post::new("1").strict()).await;
    assert!(second.token() > first.token());
    let zombie = Lease::new(second.inbox(), first.token());
    is_powerless::<S>(&ledger, zombie).await;
    // Neither does another process begin anew.
    let other = prepared(&*store).await;
    let third = leased(&other, Post::new("2").strict()).await;
    assert!(third.token() > second.token());
}

async fn f2_crashes_are_counted_and_buried<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mut lease = leased(&ledger, Post::new("1").strict()).await;
    for crashes in 1..=3 {
        set_due(&*store, lease, -1).await;
        let again = take(&ledger).await;
        assert_eq!((again.crashes, again.failures), (crashes, 0));
        lease = again.lease;
    }
    set_due(&*store, lease, -1).await;
    let taken = ledger.take(want()).await.unwrap();
    assert_eq!((taken.events.len(), taken.buried), (0, 1));
    assert_eq!(in_state(&*store, "dead").await, 1);
    is_powerless::<S>(&ledger, lease).await;
    nothing_is_due(&ledger).await;
}

async fn f2_a_hand_back_counts_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mut lease = leased(&ledger, Post::new("1").strict()).await;
    for _ in 0..10 {
        ledger.hand_back(vec![lease]).await.unwrap();
        let again = take(&ledger).await;
        assert_eq!((again.failures, again.crashes), (0, 0));
        lease = again.lease;
    }
    assert_eq!(
        store.number("select hand_backs from webhook.inbox").await,
        10
    );
}

async fn failures_are_counted_apart<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mut lease = leased(&ledger, Post::new("1").strict()).await;
    for (counted, failures) in [(true, 1), (false, 1), (true, 2)] {
        let mut failure = failure(Next::Retry(Duration::ZERO));
        failure.counted = counted;
        assert!(ledger.fail(lease, failure).await.unwrap());
        let again = take(&ledger).await;
        assert_eq!((again.failures, again.crashes), (failures, 0));
        lease = again.lease;
    }
}

async fn a_retry_waits_for_its_time<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let retry = failure(Next::Retry(Duration::from_millis(400)));
    assert!(ledger.fail(lease, retry).await.unwrap());
    is_powerless::<S>(&ledger, lease).await;
    nothing_is_due(&ledger).await;
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::InFlight
    );
    nothing_is_due(&ledger).await;
    tokio::time::sleep(Duration::from_millis(450)).await;
    assert_eq!(take(&ledger).await.failures, 1);
}

async fn a_dead_event_is_revived_once_per_quiet_time<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    let lease = leased(&ledger, post.strict()).await;
    let quiet = Duration::from_millis(400);
    assert!(
        ledger
            .fail(lease, failure(Next::Dead { quiet }))
            .await
            .unwrap()
    );
    assert_eq!(in_state(&*store, "dead").await, 1);
    nothing_is_due(&ledger).await;
    let claims = [post.strict(), post.strict(), post.spaced().strict()];
    let claims = ledger.claim(claims.to_vec()).await.unwrap();
    assert_eq!(claims, [Claim::Revived, Claim::InFlight, Claim::InFlight]);
    nothing_is_due(&ledger).await;
    tokio::time::sleep(Duration::from_millis(450)).await;
    let again = take(&ledger).await;
    assert_eq!(again.failures, 1);
    // At once where the quiet time is over.
    let quiet = Duration::ZERO;
    assert!(
        ledger
            .fail(again.lease, failure(Next::Dead { quiet }))
            .await
            .unwrap()
    );
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::Revived
    );
    assert_eq!(take(&ledger).await.failures, 2);
}

async fn a_buried_event_is_revived_for_one_attempt<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    set_due(&*store, lease, -1).await;
    let mut strict = want();
    strict.max_crashes = 0;
    strict.lease = Duration::from_millis(1);
    assert_eq!(ledger.take(strict.clone()).await.unwrap().buried, 1);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::Revived
    );
    let taken = ledger.take(strict.clone()).await.unwrap();
    assert_eq!((taken.events.len(), taken.buried), (1, 0));
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(ledger.take(strict).await.unwrap().buried, 1);
}

async fn completing_twice_is_completing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    for _ in 0..2 {
        assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    }
    let other = Lease::new(lease.inbox(), FencingToken::new(lease.token().get() - 1));
    assert!(!ledger.complete(other, Completion::default()).await.unwrap());
    assert_eq!(in_state(&*store, "completed").await, 1);
}

async fn f14_stored_errors_are_short<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut long = failure(Next::Retry(Duration::ZERO));
    long.error = "é".repeat(1000);
    assert!(ledger.fail(lease, long).await.unwrap());
    assert_eq!(
        store
            .number("select length(last_error) from webhook.inbox")
            .await,
        250
    );
}

async fn last_seen_is_marked_once_a_minute<S: Store>(store: Arc<S>) {
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

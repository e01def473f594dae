//! Leases: who works on an event, for how long, and how often.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::ledger::{Completion, EventTypes, Lease, Ledger, Next, Search};
use webhook_core::{Claim, State};

use crate::ledger::Store;
use crate::ledger::post::{ENDPOINT, Post, TYPE};
use crate::ledger::steps::{
    claim, done, failure, found, in_state, is_powerless, lapse, leased, nothing_is_due, pass,
    prepared, take, want,
};

pub async fn what_was_stored_is_leased<S: Store>(store: Arc<S>) {
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
    assert!(stored.received_at > 1_700_000_000, "{}", stored.received_at);

    let event = Post::new("ascii").tenant("t").strict();
    assert_eq!(claim(&ledger, event.clone()).await, Claim::Stored);
    let stored = take(&ledger).await.event;
    assert_eq!(stored.principal.as_deref(), Some("t"));
    assert_eq!(stored.headers.get("X-Id"), Some("ascii"));
}

pub async fn the_oldest_due_come_first<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for id in ["1", "2", "3", "4", "5"] {
        assert_eq!(claim(&ledger, Post::new(id).strict()).await, Claim::Stored);
        pass(&*store, Duration::from_secs(1)).await;
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

pub async fn f3_other_types_and_endpoints_are_left_alone<S: Store>(store: Arc<S>) {
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
    let own = take(&ledger).await;
    assert_eq!(own.event.id.as_str(), "1");
    done(&ledger, own.lease).await;
    nothing_is_due(&ledger).await;
    assert_eq!(in_state(&ledger, State::Pending).await, 3);
    // Nor are abandoned ones taken by who cannot run them.
    let mut other = want();
    other.event_types = vec!["new.type".to_owned()].into();
    assert_eq!(ledger.take(other).await.unwrap().events.len(), 1);
    lapse(&*store).await;
    nothing_is_due(&ledger).await;
    let mut none = want();
    none.event_types = Vec::new().into();
    assert!(ledger.take(none).await.unwrap().events.is_empty());
    // Who can run all types is given all, waiting and abandoned, and still none of elsewhere.
    let mut all = want().at_most(9);
    all.event_types = EventTypes::All;
    let taken = ledger.take(all).await.unwrap().events;
    let mut ids: Vec<_> = taken.iter().map(|one| one.event.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["2", "4"]);
}

pub async fn concurrent_takers_share_nothing<S: Store>(store: Arc<S>) {
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

pub async fn an_expired_lease_is_taken_over<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let first = leased(&ledger, Post::new("1").strict()).await;
    nothing_is_due(&ledger).await;
    lapse(&*store).await;
    let second = take(&ledger).await;
    assert_eq!(second.lease.inbox(), first.inbox());
    assert!(second.lease.token() > first.token());
    assert_eq!(second.crashes, 1);
}

pub async fn a_renewed_lease_holds<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    pass(&*store, Duration::from_secs(28)).await;
    let length = Duration::from_secs(30);
    assert_eq!(ledger.renew(vec![lease], length).await.unwrap(), [lease]);
    pass(&*store, Duration::from_secs(28)).await;
    nothing_is_due(&ledger).await;
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
}

pub async fn a_lost_lease_is_not_renewed<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let a = leased(&ledger, Post::new("a").strict()).await;
    lapse(&*store).await;
    let mut b = want();
    b.event_types = vec!["b".to_owned()].into();
    let event = Post::new("b").event_type("b").strict();
    assert_eq!(claim(&ledger, event).await, Claim::Stored);
    let b = ledger.take(b).await.unwrap().events.remove(0).lease;
    let length = Duration::from_secs(30);
    assert_eq!(ledger.renew(vec![a, b], length).await.unwrap(), [b]);
    assert!(ledger.renew(Vec::new(), length).await.unwrap().is_empty());
}

pub async fn f2_crashes_are_counted_and_buried<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mut lease = leased(&ledger, Post::new("1").strict()).await;
    for crashes in 1..=3 {
        lapse(&*store).await;
        let again = take(&ledger).await;
        assert_eq!((again.crashes, again.failures), (crashes, 0));
        lease = again.lease;
    }
    lapse(&*store).await;
    let taken = ledger.take(want()).await.unwrap();
    assert_eq!((taken.events.len(), taken.buried), (0, 1));
    assert_eq!(in_state(&ledger, State::Dead).await, 1);
    is_powerless(&ledger, lease).await;
    nothing_is_due(&ledger).await;
}

pub async fn f2_abandoned_events_are_taken_few_at_a_time<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let claims = ["1", "2", "3"].map(|id| Post::new(id).strict());
    ledger.claim(claims.to_vec()).await.unwrap();
    assert_eq!(ledger.take(want()).await.unwrap().events.len(), 3);
    lapse(&*store).await;
    let claims = ["4", "5", "6"].map(|id| Post::new(id).strict());
    ledger.claim(claims.to_vec()).await.unwrap();
    let taken = ledger.take(want().max_abandoned(1)).await.unwrap().events;
    let crashes: Vec<_> = taken.iter().map(|leased| leased.crashes).collect();
    assert_eq!(crashes, [1, 0, 0, 0]);
    let rest = ledger.take(want()).await.unwrap().events;
    assert_eq!(rest.len(), 2);
}

pub async fn f2_no_two_suspects_run_at_once<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let want = || want().max_crashes(20);
    let claims = ["1", "2", "3"].map(|id| Post::new(id).strict());
    ledger.claim(claims.to_vec()).await.unwrap();
    for _ in 0..=3 {
        assert_eq!(ledger.take(want()).await.unwrap().events.len(), 3);
        lapse(&*store).await;
    }
    // One of them kills its worker. It takes down nobody else who crashed so often.
    let suspect = || async {
        let mut events = ledger.take(want()).await.unwrap().events;
        assert_eq!(events.len(), 1);
        events.remove(0)
    };
    let first = suspect().await;
    assert_eq!(first.crashes, 4);
    assert!(ledger.take(want()).await.unwrap().events.is_empty());
    // Others go on.
    let fresh = Post::new("4").strict();
    assert_eq!(claim(&ledger, fresh).await, Claim::Stored);
    assert_eq!(suspect().await.event.id.as_str(), "4");
    // Its lease ran out: the others first, one after the other.
    lapse(&*store).await;
    let lapsed = ledger.take(want()).await.unwrap().events;
    assert_eq!(lapsed.len(), 2);
    let [second] = &*lapsed
        .iter()
        .filter(|leased| leased.crashes == 4)
        .collect::<Vec<_>>()
    else {
        panic!("one suspect, and the fourth");
    };
    assert_ne!(second.event.id, first.event.id);
    done(&ledger, second.lease).await;
    let third = suspect().await;
    assert_ne!(third.event.id, first.event.id);
    done(&ledger, third.lease).await;
    let again = suspect().await;
    assert_eq!((&again.event.id, again.crashes), (&first.event.id, 5));
    // A bound below that of suspects is kept as it is.
    lapse(&*store).await;
    let taken = ledger.take(want().max_crashes(3)).await.unwrap();
    assert_eq!(taken.buried, 1);
}

pub async fn f2_a_hand_back_counts_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mut lease = leased(&ledger, Post::new("1").strict()).await;
    for _ in 0..10 {
        ledger.hand_back(vec![lease]).await.unwrap();
        let again = take(&ledger).await;
        assert_eq!((again.failures, again.crashes), (0, 0));
        lease = again.lease;
    }
}

pub async fn failures_are_counted_apart<S: Store>(store: Arc<S>) {
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

pub async fn a_retry_waits_for_its_time<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let retry = failure(Next::Retry(Duration::from_mins(10)));
    assert!(ledger.fail(lease, retry).await.unwrap());
    is_powerless(&ledger, lease).await;
    nothing_is_due(&ledger).await;
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::InFlight
    );
    nothing_is_due(&ledger).await;
    pass(&*store, Duration::from_mins(9)).await;
    nothing_is_due(&ledger).await;
    pass(&*store, Duration::from_mins(1)).await;
    assert_eq!(take(&ledger).await.failures, 1);
}

pub async fn a_dead_event_is_revived_once_per_quiet_time<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    let lease = leased(&ledger, post.strict()).await;
    let quiet = Duration::from_mins(10);
    assert!(
        ledger
            .fail(lease, failure(Next::Dead { quiet }))
            .await
            .unwrap()
    );
    assert_eq!(in_state(&ledger, State::Dead).await, 1);
    nothing_is_due(&ledger).await;
    let claims = [post.strict(), post.strict(), post.spaced().strict()];
    let claims = ledger.claim(claims.to_vec()).await.unwrap();
    assert_eq!(claims, [Claim::Revived, Claim::InFlight, Claim::InFlight]);
    nothing_is_due(&ledger).await;
    pass(&*store, Duration::from_mins(9)).await;
    nothing_is_due(&ledger).await;
    pass(&*store, Duration::from_mins(1)).await;
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

pub async fn a_buried_event_is_revived_for_one_attempt<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    leased(&ledger, Post::new("1").strict()).await;
    lapse(&*store).await;
    let mut strict = want();
    strict.max_crashes = 0;
    assert_eq!(ledger.take(strict.clone()).await.unwrap().buried, 1);
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::Revived
    );
    // A buried event may be quiet for as long as a lease.
    lapse(&*store).await;
    let taken = ledger.take(strict.clone()).await.unwrap();
    assert_eq!((taken.events.len(), taken.buried), (1, 0));
    lapse(&*store).await;
    assert_eq!(ledger.take(strict).await.unwrap().buried, 1);
}

pub async fn f14_stored_errors_are_short<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut long = failure(Next::Retry(Duration::ZERO));
    long.error = "é".repeat(1000);
    assert!(ledger.fail(lease, long).await.unwrap());
    let stored = found(&ledger, Search::default()).await.remove(0);
    assert_eq!(stored.last_error, Some("é".repeat(250)));
}

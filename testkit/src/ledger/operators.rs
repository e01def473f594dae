//! Operators: what they see, and that two of them at once do what one would.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::ledger::{
    Completion, Found, IdentityRetention, Ledger, Next, QuarantineId, Release, Replay, Replayable,
    Retention, Search,
};
use webhook_core::{Claim, InboxId, Quarantine, State};

use crate::ledger::Store;
use crate::ledger::post::{ENDPOINT, Post, TYPE};
use crate::ledger::steps::{
    claim, completed, failure, found, in_state, leased, pass, prepared, take, want,
};

/// A replay of a completed event, and its row in quarantine.
async fn replayed<L: Ledger>(ledger: &L) -> QuarantineId {
    completed(ledger, Post::new("1").loose()).await;
    let replay = Post::new("2").loose();
    assert_eq!(
        claim(ledger, replay).await,
        Claim::Quarantined(Quarantine::Replayed)
    );
    only_quarantined(ledger).await
}

async fn only_quarantined<L: Ledger>(ledger: &L) -> QuarantineId {
    let rows = ledger.quarantined(None, None, 10).await.unwrap();
    assert_eq!(rows.len(), 1);
    rows[0].id
}

async fn dead<L: Ledger>(ledger: &L, post: &Post) -> InboxId {
    let lease = leased(ledger, post.strict()).await;
    let quiet = Duration::from_hours(1);
    let dead = failure(Next::Dead { quiet });
    assert!(ledger.fail(lease, dead).await.unwrap());
    lease.inbox()
}

/// Let all payloads of settled events and settled quarantine grow old, and prune them.
async fn drop_payloads<S: Store>(store: &S, ledger: &S::Ledger) {
    pass(store, Duration::from_secs(1)).await;
    let pruned = ledger.prune(payloads()).await.unwrap();
    assert_eq!(pruned.payloads, 1);
}

fn payloads() -> Retention {
    Retention::new(ENDPOINT, IdentityRetention::Forever).payloads(Duration::ZERO, Duration::ZERO)
}

fn search() -> Search {
    Search::default().limit(10)
}

fn anna() -> String {
    "anna".to_owned()
}

pub async fn d11_quarantine_is_read_page_by_page<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for endpoint in [ENDPOINT, "other"] {
        let first = Post::new("1").endpoint(endpoint).account("acct");
        assert_eq!(claim(&ledger, first.strict()).await, Claim::Stored);
        for content in ["a", "b", "c", "a"] {
            let other = first.clone().content(content).strict();
            assert!(matches!(claim(&ledger, other).await, Claim::Quarantined(_)));
        }
    }
    let all = ledger.quarantined(None, None, 10).await.unwrap();
    assert_eq!(all.len(), 6);
    let two = ledger.quarantined(None, None, 2).await.unwrap();
    let rest = ledger.quarantined(None, Some(two[1].id), 10).await.unwrap();
    let ids: Vec<_> = two.iter().chain(&rest).map(|row| row.id).collect();
    assert_eq!(ids, all.iter().map(|row| row.id).collect::<Vec<_>>());
    let shop = ledger
        .quarantined(Some(ENDPOINT.into()), None, 10)
        .await
        .unwrap();
    assert_eq!(shop.len(), 3);
    let row = &shop[0];
    assert_eq!((row.endpoint.as_str(), row.seen), (ENDPOINT, 2));
    assert_eq!(row.reason, Quarantine::ContentMismatch);
    assert_eq!(
        (row.event_id.as_str(), row.event_type.as_str()),
        ("1", TYPE)
    );
    assert_eq!(row.account.as_deref(), Some("acct"));
    let first = Post::new("1").account("acct");
    assert_eq!(row.digest, first.clone().content("a").strict().digest());
    assert_eq!(row.first_digest, Some(first.strict().digest()));
    let events = found(&ledger, search()).await;
    assert!(events.iter().any(|event| Some(event.inbox) == row.first));
    assert!(row.first_seen_at > 1_700_000_000 && row.last_seen_at >= row.first_seen_at);
    assert!(ledger.discard(row.id, anna()).await.unwrap());
    let shop = ledger
        .quarantined(Some(ENDPOINT.into()), None, 10)
        .await
        .unwrap();
    assert_eq!(shop.len(), 2);
}

pub async fn d11_a_release_runs_as_an_event_of_its_own<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    let other = Post::new("1").content("other").strict();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    assert_eq!(claim(&ledger, other.clone()).await, mismatch);
    let id = only_quarantined(&ledger).await;
    let Release::Released(inbox) = ledger.release(id, anna()).await.unwrap() else {
        panic!()
    };
    assert_ne!(inbox, lease.inbox());
    let released = take(&ledger).await;
    assert_eq!(released.lease.inbox(), inbox);
    assert_eq!(released.event.payload, other.payload());
    assert_eq!(released.event.id, *other.id());
    assert_eq!(released.event.headers, *other.headers());
    assert!(
        ledger
            .complete(released.lease, Completion::default())
            .await
            .unwrap()
    );
    // It stands in nobody's way, and is not released again.
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::Duplicate { reply: None }
    );
    assert_eq!(claim(&ledger, other).await, mismatch);
    assert_eq!(ledger.release(id, anna()).await.unwrap(), Release::Settled);
    assert!(ledger.quarantined(None, None, 9).await.unwrap().is_empty());
    let unknown = QuarantineId::from_bytes([7; 16]);
    assert_eq!(
        ledger.release(unknown, anna()).await.unwrap(),
        Release::Settled
    );
}

pub async fn d11_a_released_event_goes_by_a_key_of_its_own<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let first = Post::new("1").strict();
    assert_eq!(claim(&ledger, first.clone()).await, Claim::Stored);
    assert_eq!(take(&ledger).await.event.key, first.id_key());
    let mut keys = vec![first.id_key()];
    for content in ["a", "b"] {
        let other = Post::new("1").content(content).strict();
        assert!(matches!(claim(&ledger, other).await, Claim::Quarantined(_)));
        let id = ledger.quarantined(None, None, 10).await.unwrap()[0].id;
        assert!(matches!(
            ledger.release(id, anna()).await.unwrap(),
            Release::Released(_)
        ));
        keys.push(take(&ledger).await.event.key);
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 3);
}

pub async fn d11_a_release_takes_the_payload_from_the_first<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let id = replayed(&ledger).await;
    assert!(matches!(
        ledger.release(id, anna()).await.unwrap(),
        Release::Released(_)
    ));
    let released = take(&ledger).await;
    assert_eq!(released.event.id.as_str(), "2");
    assert_eq!(released.event.payload, Post::new("1").loose().payload());
}

pub async fn d11_a_payload_that_was_not_kept_is_not_made_up<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let id = replayed(&ledger).await;
    // It was the first one's, and that is gone.
    drop_payloads(&*store, &ledger).await;
    assert_eq!(
        ledger.release(id, anna()).await.unwrap(),
        Release::NoPayload
    );
    assert_eq!(only_quarantined(&ledger).await, id);
    assert!(ledger.discard(id, anna()).await.unwrap());
}

pub async fn d11_two_operators_release_once<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let id = replayed(&ledgers[0]).await;
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(8) {
        let ledger = ledger.clone();
        race.spawn(async move { ledger.release(id, anna()).await.unwrap() });
    }
    let orders = race.join_all().await;
    let released = orders
        .iter()
        .filter(|release| matches!(release, Release::Released(_)));
    assert_eq!(released.count(), 1);
    let settled = orders
        .iter()
        .filter(|release| **release == Release::Settled);
    assert_eq!(settled.count(), 7);
    assert_eq!(in_state(&ledgers[0], State::Pending).await, 1);
}

pub async fn d11_two_operators_decide_once<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let id = replayed(&ledgers[0]).await;
    let [one, two] = ledgers.clone();
    let (discarded, released) = tokio::join!(
        tokio::spawn(async move { one.discard(id, anna()).await.unwrap() }),
        tokio::spawn(async move { two.release(id, "bert".to_owned()).await.unwrap() })
    );
    let (discarded, released) = (discarded.unwrap(), released.unwrap());
    assert_eq!(discarded, released == Release::Settled);
    let pending = in_state(&ledgers[0], State::Pending).await;
    assert_eq!(pending, usize::from(!discarded));
    assert!(!ledgers[0].discard(id, anna()).await.unwrap());
}

pub async fn d11_a_released_event_keeps_its_order<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ordered = |id: &str| Post::new(id).content("k").ordered();
    assert_eq!(claim(&ledger, ordered("1").strict()).await, Claim::Stored);
    ledger
        .quarantine(ordered("2").strict(), Quarantine::Relabelled)
        .await
        .unwrap();
    let id = only_quarantined(&ledger).await;
    assert!(matches!(
        ledger.release(id, anna()).await.unwrap(),
        Release::Released(_)
    ));
    assert_eq!(claim(&ledger, ordered("3").strict()).await, Claim::Stored);
    for wanted in ["1", "2", "3"] {
        let leased = take(&ledger).await;
        assert_eq!(leased.event.id.as_str(), wanted);
        assert!(
            ledger
                .complete(leased.lease, Completion::default())
                .await
                .unwrap()
        );
    }
}

pub async fn d11_a_release_never_loses_its_payload_to_a_prune<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let id = replayed(&ledger).await;
    pass(&*store, Duration::from_secs(1)).await;
    let other = prepared(&*store).await;
    let (released, pruned) = tokio::join!(ledger.release(id, anna()), other.prune(payloads()));
    pruned.unwrap();
    match released.unwrap() {
        Release::Released(_) => {
            let released = take(&ledger).await;
            assert_eq!(released.event.payload, Post::new("1").loose().payload());
        }
        Release::NoPayload => assert_eq!(only_quarantined(&ledger).await, id),
        other => panic!("{other:?}"),
    }
}

pub async fn d11_dead_and_ignored_events_are_replayed<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let inbox = dead(&ledger, &Post::new("1")).await;
    assert_eq!(
        ledger
            .replay(inbox, anna(), Replayable::Unfinished)
            .await
            .unwrap(),
        Replay::Waiting
    );
    assert_eq!(
        ledger
            .replay(inbox, anna(), Replayable::EvenCompleted)
            .await
            .unwrap(),
        Replay::Refused(State::Pending)
    );
    let leased = take(&ledger).await;
    assert_eq!(leased.lease.inbox(), inbox);
    // With all of its attempts, and at once.
    assert_eq!((leased.failures, leased.crashes), (0, 0));
    assert_eq!(
        ledger
            .replay(inbox, anna(), Replayable::EvenCompleted)
            .await
            .unwrap(),
        Replay::Refused(State::Processing)
    );
    let ignored = Post::new("2").strict().ignored();
    assert_eq!(claim(&ledger, ignored).await, Claim::Stored);
    let ignored = found(&ledger, search().state(State::Ignored)).await;
    assert_eq!(
        ledger
            .replay(ignored[0].inbox, anna(), Replayable::Unfinished)
            .await
            .unwrap(),
        Replay::Waiting
    );
    assert_eq!(take(&ledger).await.event.id.as_str(), "2");
    let unknown = InboxId::from_bytes([7; 16]);
    assert_eq!(
        ledger
            .replay(unknown, anna(), Replayable::EvenCompleted)
            .await
            .unwrap(),
        Replay::Unknown
    );
}

pub async fn d11_a_completed_event_is_replayed_only_if_told_again<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    assert_eq!(
        ledger
            .replay(lease.inbox(), anna(), Replayable::Unfinished)
            .await
            .unwrap(),
        Replay::Refused(State::Completed)
    );
    assert_eq!(
        ledger
            .replay(lease.inbox(), anna(), Replayable::EvenCompleted)
            .await
            .unwrap(),
        Replay::Waiting
    );
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::InFlight
    );
    let again = take(&ledger).await.lease;
    assert!(again.token() > lease.token());
    assert!(!ledger.complete(lease, Completion::default()).await.unwrap());
    assert!(ledger.complete(again, Completion::default()).await.unwrap());
}

pub async fn d11_two_operators_replay_once<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let inbox = dead(&ledgers[0], &Post::new("1")).await;
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(8) {
        let ledger = ledger.clone();
        race.spawn(async move {
            ledger
                .replay(inbox, anna(), Replayable::Unfinished)
                .await
                .unwrap()
        });
    }
    let replays = race.join_all().await;
    let waiting = replays.iter().filter(|replay| **replay == Replay::Waiting);
    assert_eq!(waiting.count(), 1);
}

pub async fn d11_nothing_is_replayed_without_its_payload<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let inbox = dead(&ledger, &Post::new("1")).await;
    drop_payloads(&*store, &ledger).await;
    for which in [Replayable::Unfinished, Replayable::EvenCompleted] {
        let replayed = ledger.replay(inbox, anna(), which).await.unwrap();
        assert_eq!(replayed, Replay::NoPayload);
    }
    let inbox = completed(&ledger, Post::new("2").strict()).await.inbox();
    drop_payloads(&*store, &ledger).await;
    for (which, wanted) in [
        (Replayable::Unfinished, Replay::Refused(State::Completed)),
        (Replayable::EvenCompleted, Replay::NoPayload),
    ] {
        let replayed = ledger.replay(inbox, anna(), which).await.unwrap();
        assert_eq!(replayed, wanted);
    }
}

pub async fn d11_a_replayed_event_of_a_key_runs_beside_nobody<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ordered = |id: &str| Post::new(id).content("k").ordered();
    let inbox = dead(&ledger, &ordered("1")).await;
    let second = leased(&ledger, ordered("2").strict()).await;
    assert_eq!(
        ledger
            .replay(inbox, anna(), Replayable::Unfinished)
            .await
            .unwrap(),
        Replay::Waiting
    );
    // A replayed event may have to wait, for less than the other's lease.
    pass(&*store, Duration::from_secs(20)).await;
    assert!(ledger.take(want()).await.unwrap().events.is_empty());
    assert!(
        ledger
            .complete(second, Completion::default())
            .await
            .unwrap()
    );
    assert_eq!(take(&ledger).await.lease.inbox(), inbox);
}

pub async fn f3_ignored_events_are_replayed_by_type<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mut batch: Vec<_> = (0..1203)
        .map(|n| Post::new(&n.to_string()).strict().ignored())
        .collect();
    batch.push(
        Post::new("type")
            .event_type("other.type")
            .strict()
            .ignored(),
    );
    batch.push(Post::new("place").endpoint("other").strict().ignored());
    ledger.claim(batch).await.unwrap();
    let types: Arc<[String]> = vec![TYPE.to_owned(), "no.such".to_owned()].into();
    for wanted in [1203, 0] {
        let replayed = ledger
            .replay_ignored(ENDPOINT.into(), types.clone(), anna())
            .await
            .unwrap();
        assert_eq!(replayed, wanted);
    }
    assert_eq!(in_state(&ledger, State::Ignored).await, 2);
    assert_eq!(ledger.take(want()).await.unwrap().events.len(), 10);
}

pub async fn stored_events_are_found<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let inbox = dead(&ledger, &Post::new("dead").account("acct")).await;
    for n in 0..5 {
        let event = Post::new(&n.to_string()).strict();
        assert_eq!(claim(&ledger, event).await, Claim::Stored);
    }
    for post in [
        Post::new("2").endpoint("other"),
        Post::new("6").event_type("x"),
    ] {
        assert_eq!(claim(&ledger, post.strict()).await, Claim::Stored);
    }
    let ids = |events: Vec<Found>| -> Vec<String> {
        events.into_iter().map(|event| event.event_id).collect()
    };
    let all = found(&ledger, search()).await;
    assert_eq!(all.len(), 8);
    let first = search().limit(3);
    let page = ledger.find(first.clone()).await.unwrap();
    let next = first.after(page[2].inbox);
    let next = ledger.find(next).await.unwrap();
    assert_eq!((page.len(), next.len()), (3, 3));
    assert_eq!(next[0].inbox, all[3].inbox);
    let dead = found(&ledger, search().state(State::Dead)).await;
    let row = &dead[0];
    assert_eq!((dead.len(), row.inbox, row.state), (1, inbox, State::Dead));
    assert_eq!(
        (row.endpoint.as_str(), row.event_id.as_str()),
        (ENDPOINT, "dead")
    );
    assert_eq!((row.failures, row.crashes), (1, 0));
    assert_eq!(row.account.as_deref(), Some("acct"));
    assert_eq!(row.last_error.as_deref(), Some("class: public words"));
    assert!(row.received_at > 1_700_000_000);
    let with = |change: fn(&mut Search)| {
        let mut what = search();
        change(&mut what);
        what
    };
    let by_id = with(|what| what.event_id = Some("2".to_owned()));
    assert_eq!(found(&ledger, by_id).await.len(), 2);
    let by_type = with(|what| what.event_type = Some("x' or true --".to_owned()));
    assert!(found(&ledger, by_type).await.is_empty());
    let both = with(|what| {
        what.endpoint = Some("other".into());
        what.event_type = Some(TYPE.to_owned());
        what.state = Some(State::Pending);
    });
    assert_eq!(ids(found(&ledger, both).await), ["2"]);
}

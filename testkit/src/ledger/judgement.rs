//! The rule table of `NewEvent::judge`, cell by cell, through the store.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use webhook_core::ledger::{Completion, IdentityRetention, Ledger, Next, Retention, Search};
use webhook_core::{Claim, NewEvent, Quarantine, Reply, State};

use crate::ledger::Store;
use crate::ledger::post::{ENDPOINT, Post};
use crate::ledger::steps::{
    claim, completed, done, failure, found, held, leased, pass, prepared, stored, take, want,
};

const STATES: [State; 5] = [
    State::Completed,
    State::Dead,
    State::Ignored,
    State::Pending,
    State::Processing,
];

/// Store `first` on an endpoint of its own and bring it to `state`.
async fn brought<L: Ledger>(ledger: &L, first: NewEvent, state: State) {
    let endpoint = first.endpoint().clone();
    let first = match state {
        State::Ignored => first.ignored(),
        _ => first,
    };
    assert_eq!(claim(ledger, first).await, Claim::Stored);
    if !matches!(state, State::Ignored | State::Pending) {
        let mut there = want();
        there.endpoint = endpoint;
        let mut events = ledger.take(there).await.unwrap().events;
        let lease = events.remove(0).lease;
        match state {
            State::Completed => done(ledger, lease).await,
            State::Dead => {
                let quiet = Duration::ZERO;
                let dead = failure(Next::Dead { quiet });
                assert!(ledger.fail(lease, dead).await.unwrap());
            }
            _ => {}
        }
    }
}

/// How many events of this endpoint are in `state`.
async fn count<L: Ledger>(ledger: &L, post: &Post, state: State) -> usize {
    let what = Search::default()
        .endpoint(post.strict().endpoint().clone())
        .state(state);
    found(ledger, what).await.len()
}

/// A delivery to an endpoint of its own.
fn post(id: &str, state: State, kind: &str) -> Post {
    Post::new(id).endpoint(&format!("{kind}-{}", state.as_str()))
}

fn again(state: State) -> Claim {
    match state {
        State::Completed => Claim::Duplicate { reply: None },
        State::Dead | State::Ignored => Claim::Revived,
        _ => Claim::InFlight,
    }
}

type Make = fn(&Post) -> NewEvent;

const KINDS: [(&str, Make); 2] = [("strict", Post::strict), ("loose", Post::loose)];

pub async fn known_id_same_content<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for state in STATES {
        for (kind, make) in KINDS {
            let first = post("a", state, kind);
            brought(&ledger, make(&first), state).await;
            let claimed = claim(&ledger, make(&first)).await;
            assert_eq!(claimed, again(state), "{state:?}");
            // One is enough: the next finds it waiting.
            if claimed == Claim::Revived {
                assert_eq!(claim(&ledger, make(&first)).await, Claim::InFlight);
                assert_eq!(count(&ledger, &first, State::Pending).await, 1);
            }
        }
    }
}

pub async fn known_id_other_content<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    for state in STATES {
        for (kind, make) in KINDS {
            let first = post("a", state, kind);
            brought(&ledger, make(&first), state).await;
            let other = make(&first.clone().content("other"));
            assert_eq!(claim(&ledger, other).await, mismatch, "{state:?}");
            assert_eq!(count(&ledger, &first, state).await, 1, "{state:?}");
        }
        // The type is content where it is signed.
        let other = post("a", state, "strict").event_type("other").strict();
        assert_eq!(claim(&ledger, other).await, mismatch, "{state:?}");
    }
}

pub async fn known_id_same_content_other_type<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for state in STATES {
        let first = post("a", state, "loose");
        brought(&ledger, first.loose(), state).await;
        let other = first.clone().event_type("other").loose();
        let relabelled = Claim::Quarantined(Quarantine::Relabelled);
        assert_eq!(claim(&ledger, other).await, relabelled, "{state:?}");
        assert_eq!(count(&ledger, &first, state).await, 1, "{state:?}");
    }
}

pub async fn new_id_known_content<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for (before, state) in STATES.into_iter().enumerate() {
        let first = post("a", state, "loose");
        brought(&ledger, first.loose(), state).await;
        let wanted = match state {
            State::Completed => Claim::Quarantined(Quarantine::Replayed),
            _ => again(state),
        };
        let second = post("b", state, "loose");
        assert_eq!(claim(&ledger, second.loose()).await, wanted, "{state:?}");
        assert_eq!(stored(&ledger).await, 2 * before + 1);
        // Where the id is signed, equal contents under two ids cannot be: the id is content.
        let signed = claim(&ledger, second.strict()).await;
        assert_eq!(signed, Claim::Stored, "{state:?}");
    }
}

pub async fn new_id_known_content_other_type<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for state in STATES {
        let first = post("a", state, "loose");
        brought(&ledger, first.loose(), state).await;
        let other = post("b", state, "loose").event_type("other").loose();
        let relabelled = Claim::Quarantined(Quarantine::Relabelled);
        assert_eq!(claim(&ledger, other).await, relabelled, "{state:?}");
        assert_eq!(count(&ledger, &first, state).await, 1, "{state:?}");
    }
}

pub async fn contents_equal_in_other_bytes<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for state in STATES {
        let first = post("a", state, "strict");
        brought(&ledger, first.strict(), state).await;
        let spaced = first.spaced().strict();
        assert_eq!(claim(&ledger, spaced).await, again(state), "{state:?}");
    }
}

pub async fn contents_equal_after_the_payload_is_gone<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("a").strict();
    let canonical = event.canonical();
    let lease = leased(&ledger, event).await;
    let completion = Completion::new(Reply::default(), canonical);
    assert!(ledger.complete(lease, completion).await.unwrap());
    drop_payloads(&*store, &ledger).await;
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

/// Let the only payload there is grow old, and prune it.
async fn drop_payloads<S: Store>(store: &S, ledger: &S::Ledger) {
    pass(store, Duration::from_secs(1)).await;
    let pruned = ledger.prune(old(IdentityRetention::Forever)).await.unwrap();
    assert_eq!(pruned.payloads, 1);
}

/// All payloads, and identities as said.
fn old(identities: IdentityRetention) -> Retention {
    Retention::new(ENDPOINT, identities)
        .payloads(Duration::ZERO, Duration::ZERO)
        .batch(10)
}

pub async fn a_pruned_event_is_still_known<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("a").loose()).await;
    pass(&*store, Duration::from_secs(1)).await;
    let tombstones = IdentityRetention::WhileKeysLive(Duration::from_hours(1));
    assert_eq!(ledger.prune(old(tombstones)).await.unwrap().buried, 1);
    let duplicate = Claim::Duplicate { reply: None };
    assert_eq!(claim(&ledger, Post::new("a").loose()).await, duplicate);
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    let other = Post::new("a").content("other").loose();
    assert_eq!(claim(&ledger, other).await, mismatch);
    let replayed = Claim::Quarantined(Quarantine::Replayed);
    assert_eq!(claim(&ledger, Post::new("b").loose()).await, replayed);
    assert_eq!(store.keys().await, 2);
    assert_eq!(stored(&ledger).await, 0);
}

/// The attacker replays an old body under the id of a delivery that he sees coming.
pub async fn d1_a_quarantined_delivery_does_not_occupy_the_id<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("a").content("old").loose()).await;
    let replayed = Claim::Quarantined(Quarantine::Replayed);
    let attack = Post::new("b").content("old").loose();
    assert_eq!(claim(&ledger, attack).await, replayed);
    let real = Post::new("b").content("new");
    assert_eq!(claim(&ledger, real.loose()).await, Claim::Stored);
    assert_eq!(claim(&ledger, real.loose()).await, Claim::InFlight);
    assert_eq!(held(&ledger).await, 1);
}

pub async fn a_stored_reply_is_given_to_duplicates<S: Store>(store: Arc<S>) {
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

pub async fn a_revived_event_whose_payload_was_dropped_gets_it_back<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("a").strict();
    brought(&ledger, event.clone(), State::Dead).await;
    drop_payloads(&*store, &ledger).await;
    assert_eq!(claim(&ledger, event.clone()).await, Claim::Revived);
    assert_eq!(take(&ledger).await.event.payload, event.payload());
}

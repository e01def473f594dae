//! Retention: what is forgotten, when, and what never is.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::ledger::{
    Completion, IdentityRetention, Ledger, LedgerFault, Next, Pruned, RegisteredEndpoint,
    Registration, Release, Replay, Replayable, Retention, Search,
};
use webhook_core::{Claim, NewEvent, Quarantine, Reply, State};

use crate::ledger::Store;
use crate::ledger::post::{ENDPOINT, Post};
use crate::ledger::steps::{
    claim, done, failure, found, held, in_state, leased, pass, prepared, stored, take, want,
};

const HOUR: Duration = Duration::from_hours(1);

fn keep(identities: IdentityRetention) -> Retention {
    Retention::new(ENDPOINT, identities)
        .payloads(10 * HOUR, 20 * HOUR)
        .batch(100)
}

/// Complete one event, with a reply.
async fn completed<L: Ledger>(ledger: &L, event: NewEvent) {
    let lease = leased(ledger, event).await;
    let done = Completion::new(Reply::json("7"), None);
    assert!(ledger.complete(lease, done).await.unwrap());
}

async fn prune<L: Ledger>(ledger: &L, what: &Retention) -> Pruned {
    ledger.prune(what.clone()).await.unwrap()
}

fn pruned(payloads: u64, buried: u64, forgotten: u64) -> Pruned {
    let mut pruned = Pruned::default();
    (pruned.payloads, pruned.buried, pruned.forgotten) = (payloads, buried, forgotten);
    pruned
}

pub async fn e1_an_identity_outlives_its_payload<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").loose()).await;
    let what = keep(IdentityRetention::For(30 * HOUR));
    pass(&*store, 9 * HOUR).await;
    assert!(prune(&ledger, &what).await.is_nothing());
    pass(&*store, 2 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    let event = found(&ledger, Search::default()).await.remove(0).inbox;
    let again = ledger.replay(event, "anna".to_owned(), Replayable::EvenCompleted);
    assert_eq!(again.await.unwrap(), Replay::NoPayload);
    let reply = Some(Reply::json("7"));
    assert_eq!(
        claim(&ledger, Post::new("1").loose()).await,
        Claim::Duplicate { reply }
    );
    pass(&*store, 31 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(0, 0, 1));
    assert_eq!(stored(&ledger).await, 0);
    assert_eq!(store.keys().await, 0);
    assert_eq!(claim(&ledger, Post::new("1").loose()).await, Claim::Stored);
}

pub async fn e1_an_identity_may_go_before_its_payload<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").strict()).await;
    completed(&ledger, Post::new("2").endpoint("shop").loose()).await;
    pass(&*store, 2 * HOUR).await;
    let what = keep(IdentityRetention::For(HOUR));
    let mut elsewhere = what.clone();
    elsewhere.endpoint = "elsewhere".into();
    assert!(prune(&ledger, &elsewhere).await.is_nothing());
    assert_eq!(prune(&ledger, &what).await, pruned(0, 0, 2));
    assert_eq!(store.keys().await, 0);
}

/// Complete so many events, and let them grow old.
async fn many<S: Store>(store: &S, ledger: &S::Ledger, events: usize) {
    let batch: Vec<NewEvent> = (0..events)
        .map(|n| Post::new(&n.to_string()).content(n.to_string()).loose())
        .collect();
    ledger.claim(batch).await.unwrap();
    let mut completions = JoinSet::new();
    for leased in ledger.take(want().at_most(1000)).await.unwrap().events {
        let ledger = ledger.clone();
        completions.spawn(async move { done(&ledger, leased.lease).await });
    }
    assert_eq!(completions.join_all().await.len(), events);
    pass(store, 50 * HOUR).await;
}

pub async fn e1_replicas_forget_at_once<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    many(&*store, &ledgers[0], 60).await;
    let what = keep(IdentityRetention::For(30 * HOUR)).batch(7);
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(4) {
        let (ledger, what) = (ledger.clone(), what.clone());
        race.spawn(async move {
            let mut forgotten = 0;
            loop {
                match ledger.prune(what.clone()).await {
                    Ok(pruned) if pruned.is_nothing() => return forgotten,
                    Ok(pruned) => forgotten += pruned.forgotten,
                    Err(fault) => panic!("{fault:?}"),
                }
            }
        });
    }
    let forgotten: u64 = race.join_all().await.into_iter().sum();
    let left = ledgers[0].prune(what.batch(100)).await;
    assert_eq!(forgotten + left.unwrap().forgotten, 60);
    assert_eq!(store.keys().await, 0);
}

/// Claim all of [`many`] while `what` is pruned; what became of the claims.
async fn claims_beside<S: Store>(store: &S, events: usize, what: Retention) -> Vec<Claim> {
    let (one, two) = (prepared(store).await, prepared(store).await);
    many(store, &one, events).await;
    let pruning = tokio::spawn(async move {
        loop {
            if one.prune(what.clone()).await.unwrap().is_nothing() {
                return;
            }
        }
    });
    let mut claims = Vec::new();
    for n in (0..events).rev() {
        let event = Post::new(&n.to_string()).content(n.to_string()).loose();
        claims.push(claim(&two, event).await);
    }
    pruning.await.unwrap();
    claims
}

pub async fn e1_a_claim_beside_a_prune_is_a_duplicate_or_new<S: Store>(store: Arc<S>) {
    let what = keep(IdentityRetention::For(30 * HOUR)).batch(3);
    for claim in claims_beside(&*store, 60, what).await {
        let is_whole = matches!(claim, Claim::Duplicate { .. } | Claim::Stored);
        assert!(is_whole, "{claim:?}");
    }
    // An event and its keys went together.
    let events = u64::try_from(stored(&prepared(&*store).await).await).unwrap();
    assert_eq!(store.keys().await, 2 * events);
}

pub async fn e3_claims_beside_a_burial_are_duplicates<S: Store>(store: Arc<S>) {
    let what = keep(IdentityRetention::WhileKeysLive(HOUR)).batch(3);
    for claim in claims_beside(&*store, 60, what).await {
        assert_eq!(claim, Claim::Duplicate { reply: None });
    }
    assert_eq!(stored(&prepared(&*store).await).await, 0);
    assert_eq!(store.keys().await, 120);
}

pub async fn e2_who_is_seen_again_is_remembered<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").strict()).await;
    pass(&*store, 31 * HOUR).await;
    let duplicate = claim(&ledger, Post::new("1").strict()).await;
    assert!(matches!(duplicate, Claim::Duplicate { .. }));
    let what = keep(IdentityRetention::For(30 * HOUR));
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    pass(&*store, 31 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(0, 0, 1));
}

pub async fn e2_only_completed_events_are_forgotten<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let dead = leased(&ledger, Post::new("dead").strict()).await;
    let quiet = Duration::ZERO;
    let buried = failure(Next::Dead { quiet });
    assert!(ledger.fail(dead, buried).await.unwrap());
    leased(&ledger, Post::new("processing").strict()).await;
    for event in [
        Post::new("pending").strict(),
        Post::new("ignored").strict().ignored(),
    ] {
        assert_eq!(claim(&ledger, event).await, Claim::Stored);
    }
    let other = Post::new("pending").content("other").strict();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    assert_eq!(claim(&ledger, other).await, mismatch);
    pass(&*store, 5000 * HOUR).await;
    for identities in [
        IdentityRetention::For(Duration::ZERO),
        IdentityRetention::WhileKeysLive(Duration::ZERO),
    ] {
        let mut what = keep(identities);
        what.completed_payloads = Duration::ZERO;
        let pruned = prune(&ledger, &what).await;
        assert_eq!((pruned.buried, pruned.forgotten), (0, 0));
    }
    for state in [
        State::Dead,
        State::Processing,
        State::Pending,
        State::Ignored,
    ] {
        assert_eq!(in_state(&ledger, state).await, 1);
    }
    assert_eq!(store.keys().await, 4);
    // Not looked at yet: kept whole.
    let row = ledger.quarantined(None, None, 10).await.unwrap().remove(0);
    let released = ledger.release(row.id, "anna".to_owned()).await.unwrap();
    assert!(matches!(released, Release::Released(_)), "{released:?}");
}

pub async fn e3_a_tombstone_still_knows<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let first = Post::new("1").strict();
    let lease = leased(&ledger, first.clone()).await;
    let done = Completion::new(Reply::default(), first.canonical());
    assert!(ledger.complete(lease, done).await.unwrap());
    let what = keep(IdentityRetention::WhileKeysLive(HOUR));
    pass(&*store, 9 * HOUR).await;
    assert!(prune(&ledger, &what).await.is_nothing());
    pass(&*store, 2 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(0, 1, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    assert_eq!(stored(&ledger).await, 0);
    for same in [Post::new("1"), Post::new("1").spaced()] {
        assert_eq!(
            claim(&ledger, same.strict()).await,
            Claim::Duplicate { reply: None }
        );
    }
    let other = Post::new("1").content("other").strict();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    assert_eq!(claim(&ledger, other).await, mismatch);
}

pub async fn e3_a_tombstone_still_knows_what_was_signed<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").loose()).await;
    pass(&*store, 11 * HOUR).await;
    let what = keep(IdentityRetention::WhileKeysLive(HOUR));
    assert_eq!(prune(&ledger, &what).await, pruned(0, 1, 0));
    assert_eq!(
        claim(&ledger, Post::new("1").loose()).await,
        Claim::Duplicate { reply: None }
    );
    assert_eq!(
        claim(&ledger, Post::new("2").loose()).await,
        Claim::Quarantined(Quarantine::Replayed)
    );
    // Nothing of a tombstone is mistaken for what a crash left.
    assert_eq!(store.keys().await, 2);
}

fn registration(endpoint: &str, post: &Post) -> Registration {
    let keys = vec![post.key_fingerprint()];
    Registration::new(vec![RegisteredEndpoint::new(endpoint.into(), keys, true)])
}

pub async fn e3_tombstones_go_with_their_key<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let (old, new) = (
        Post::new("1"),
        Post::new("2").secret("whsec_fedcba9876543210fedcba98"),
    );
    for post in [&old, &new] {
        completed(&ledger, post.loose()).await;
    }
    pass(&*store, 11 * HOUR).await;
    let what =
        keep(IdentityRetention::WhileKeysLive(5 * HOUR)).live_keys(vec![new.key_fingerprint()]);
    // A key that nobody registered may live anywhere.
    assert_eq!(prune(&ledger, &what).await, pruned(0, 2, 0));
    ledger.prepare(registration("shop", &old)).await.unwrap();
    pass(&*store, 4 * HOUR).await;
    assert!(prune(&ledger, &what).await.is_nothing());
    pass(&*store, 2 * HOUR).await;
    let one = what.batch(1);
    assert_eq!(prune(&ledger, &one).await, pruned(0, 0, 1));
    let refused = ledger.prepare(registration("shop", &old)).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused.kind(), LedgerFault::Unfit(advice) if advice.contains("`shop`")));
    assert_eq!(prune(&ledger, &one).await, pruned(0, 0, 1));
    assert!(prune(&ledger, &one).await.is_nothing());
    assert_eq!(store.keys().await, 2);
    ledger.prepare(registration("shop", &new)).await.unwrap();
    assert_eq!(
        claim(&ledger, new.loose()).await,
        Claim::Duplicate { reply: None }
    );
}

pub async fn e3_a_key_that_lives_anywhere_keeps_its_tombstones<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    completed(&ledger, post.strict()).await;
    pass(&*store, 11 * HOUR).await;
    ledger.prepare(registration("shop", &post)).await.unwrap();
    pass(&*store, 6 * HOUR).await;
    ledger.prepare(registration("other", &post)).await.unwrap();
    let what = keep(IdentityRetention::WhileKeysLive(5 * HOUR));
    assert_eq!(prune(&ledger, &what).await, pruned(0, 1, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    pass(&*store, 6 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(0, 0, 1));
    // It comes back to neither.
    for endpoint in ["shop", "other"] {
        let refused = ledger.prepare(registration(endpoint, &post)).await;
        assert!(matches!(refused.unwrap_err().kind(), LedgerFault::Unfit(_)));
    }
}

pub async fn e3_live_keys_are_entered<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    completed(&ledger, post.strict()).await;
    pass(&*store, 11 * HOUR).await;
    let gone = keep(IdentityRetention::WhileKeysLive(5 * HOUR));
    let key = post.key_fingerprint();
    let live = gone.clone().live_keys(vec![key, key]);
    assert_eq!(prune(&ledger, &live).await, pruned(0, 1, 0));
    pass(&*store, 6 * HOUR).await;
    // Live now, and so not for six hours gone.
    assert!(prune(&ledger, &live).await.is_nothing());
    assert!(prune(&ledger, &gone).await.is_nothing());
    pass(&*store, 6 * HOUR).await;
    assert_eq!(prune(&ledger, &gone).await, pruned(0, 0, 1));
}

/// Quarantine an event, and discard it.
async fn discarded<L: Ledger>(ledger: &L, id: &str) {
    assert_eq!(claim(ledger, Post::new(id).strict()).await, Claim::Stored);
    is_held(ledger, id).await;
    let row = ledger.quarantined(None, None, 10).await.unwrap()[0].id;
    assert!(ledger.discard(row, "anna".to_owned()).await.unwrap());
}

async fn is_held<L: Ledger>(ledger: &L, id: &str) {
    let other = Post::new(id).content("other").strict();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    assert_eq!(claim(ledger, other).await, mismatch);
}

pub async fn d11_a_decision_is_forgotten_with_its_identity<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    discarded(&ledger, "1").await;
    let short = keep(IdentityRetention::For(30 * HOUR)).settled_quarantine(HOUR);
    let long = keep(IdentityRetention::For(HOUR)).settled_quarantine(30 * HOUR);
    pass(&*store, 25 * HOUR).await;
    for what in [&short, &long] {
        assert_eq!(prune(&ledger, what).await.decisions, 0);
    }
    // It comes again: decided on before, and remembered anew.
    is_held(&ledger, "1").await;
    assert_eq!(held(&ledger).await, 0);
    pass(&*store, 25 * HOUR).await;
    for what in [&short, &long] {
        assert_eq!(prune(&ledger, what).await.decisions, 0);
    }
    pass(&*store, 6 * HOUR).await;
    assert_eq!(prune(&ledger, &short).await.decisions, 1);
    assert!(prune(&ledger, &short).await.is_nothing());
}

pub async fn d11_nothing_undecided_is_forgotten<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(claim(&ledger, Post::new("1").strict()).await, Claim::Stored);
    is_held(&ledger, "1").await;
    pass(&*store, 5000 * HOUR).await;
    for identities in [
        IdentityRetention::For(HOUR),
        IdentityRetention::WhileKeysLive(HOUR),
    ] {
        let what = keep(identities).settled_quarantine(Duration::ZERO);
        assert_eq!(prune(&ledger, &what).await.decisions, 0);
    }
    assert_eq!(held(&ledger).await, 1);
}

pub async fn d11_a_decision_without_a_timestamp_goes_with_its_key<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    let keys = vec![post.key_fingerprint()];
    let endpoint = RegisteredEndpoint::new(ENDPOINT.into(), keys, false);
    let registration = Registration::new(vec![endpoint]);
    ledger.prepare(registration).await.unwrap();
    completed(&ledger, Post::new("0").strict()).await;
    discarded(&ledger, "1").await;
    pass(&*store, 50 * HOUR).await;
    let forever = keep(IdentityRetention::Forever).settled_quarantine(HOUR);
    assert_eq!(prune(&ledger, &forever).await.decisions, 0);
    let live = keep(IdentityRetention::WhileKeysLive(60 * HOUR)).settled_quarantine(HOUR);
    for _ in 0..2 {
        assert_eq!(prune(&ledger, &live).await.decisions, 0);
    }
    pass(&*store, 20 * HOUR).await;
    let mut decisions = 0;
    for _ in 0..2 {
        decisions += prune(&ledger, &live).await.decisions;
    }
    assert_eq!(decisions, 1);
}

pub async fn f15_payloads_of_settled_events_end<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("completed").strict()).await;
    let other = Post::new("completed").content("other").strict();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    assert_eq!(claim(&ledger, other).await, mismatch);
    let ignored = Post::new("ignored").strict().ignored();
    assert_eq!(claim(&ledger, ignored).await, Claim::Stored);
    let what = keep(IdentityRetention::For(100 * HOUR));
    pass(&*store, 11 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    pass(&*store, 10 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    // Not before somebody decided on it.
    let row = ledger.quarantined(None, None, 10).await.unwrap().remove(0);
    assert!(ledger.discard(row.id, "anna".to_owned()).await.unwrap());
    assert!(prune(&ledger, &what).await.is_nothing());
    pass(&*store, 21 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    // Who comes again brings its payload along.
    let again = Post::new("ignored").strict();
    assert_eq!(claim(&ledger, again).await, Claim::Revived);
    assert_eq!(take(&ledger).await.event.id.as_str(), "ignored");
}

pub async fn f15_for_ever_is_for_identities<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").strict()).await;
    pass(&*store, 50_000 * HOUR).await;
    let what = keep(IdentityRetention::Forever);
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    let again = claim(&ledger, Post::new("1").strict()).await;
    assert!(matches!(again, Claim::Duplicate { .. }));
}

pub async fn f15_a_batch_is_a_bound<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    many(&*store, &ledger, 5).await;
    let what = keep(IdentityRetention::Forever).batch(2);
    for payloads in [2, 2, 1, 0] {
        assert_eq!(prune(&ledger, &what).await, pruned(payloads, 0, 0));
    }
}

pub async fn f8_an_idle_key_keeps_its_order<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ordered = |id: &str| Post::new(id).ordered().strict();
    assert_eq!(claim(&ledger, ordered("1")).await, Claim::Stored);
    pass(&*store, 100 * HOUR).await;
    prune(&ledger, &keep(IdentityRetention::Forever)).await;
    assert_eq!(claim(&ledger, ordered("2")).await, Claim::Stored);
    assert_eq!(take(&ledger).await.event.id.as_str(), "1");
}

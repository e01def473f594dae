//! Retention: what is forgotten, when, and what never is.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::ledger::{
    Completion, Failure, IdentityRetention, Ledger, LedgerFault, Next, Pruned, RegisteredEndpoint,
    Registration, Retention,
};
use webhook_core::{Claim, NewEvent, Quarantine, Reply};

use crate::post::{ENDPOINT, Post};
use crate::store::{Store, claim, in_state, leased, prepared, take};

cases! {
    e1_an_identity_outlives_its_payload
    e1_an_identity_may_go_before_its_payload
    e1_replicas_forget_at_once
    e1_a_claim_beside_a_prune_is_a_duplicate_or_new
    e2_who_is_seen_again_is_remembered
    e2_only_completed_events_are_forgotten
    e3_a_tombstone_still_knows
    e3_a_tombstone_still_knows_what_was_signed
    e3_tombstones_go_with_their_key
    e3_a_key_that_lives_anywhere_keeps_its_tombstones
    e3_live_keys_are_entered
    e3_claims_beside_a_burial_are_duplicates
    f15_payloads_of_settled_events_end
    f15_for_ever_is_for_identities
    f15_a_batch_is_a_bound
    f8_idle_heads_go
}

const HOUR: Duration = Duration::from_hours(1);

fn keep(identities: IdentityRetention) -> Retention {
    Retention::new(ENDPOINT, identities)
        .payloads(10 * HOUR, 20 * HOUR)
        .batch(100)
}

async fn completed<L: Ledger>(ledger: &L, event: NewEvent) {
    let lease = leased(ledger, event).await;
    let done = Completion::new(Reply::json("7"), None);
    assert!(ledger.complete(lease, done).await.unwrap());
}

/// Let everything be as if it had happened so much earlier.
async fn age<S: Store>(store: &S, age: Duration) {
    let moment = S::moment(-i64::try_from(age.as_millis()).unwrap());
    let inbox = format!(
        "update webhook.inbox set last_seen_at = {moment}, settled_at =
         case when settled_at is not null then {moment} end"
    );
    store.execute(&inbox).await;
    let quarantine = format!(
        "update webhook.quarantine set first_seen_at = {moment}, last_seen_at = {moment},
         released_at = case when released_at is not null then {moment} end"
    );
    store.execute(&quarantine).await;
}

async fn count<S: Store>(store: &S, rest: &str) -> i64 {
    store.number(&format!("select count(*) from {rest}")).await
}

async fn prune<L: Ledger>(ledger: &L, what: &Retention) -> Pruned {
    ledger.prune(what.clone()).await.unwrap()
}

fn pruned(payloads: u64, buried: u64, forgotten: u64) -> Pruned {
    let mut pruned = Pruned::default();
    (pruned.payloads, pruned.buried, pruned.forgotten) = (payloads, buried, forgotten);
    pruned
}

async fn e1_an_identity_outlives_its_payload<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").loose()).await;
    let what = keep(IdentityRetention::For(30 * HOUR));
    age(&*store, 9 * HOUR).await;
    assert!(prune(&ledger, &what).await.is_nothing());
    age(&*store, 11 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    let spent = "webhook.inbox where payload is null and headers is null and reply is not null";
    assert_eq!(count(&*store, spent).await, 1);
    let reply = Some(Reply::json("7"));
    assert_eq!(
        claim(&ledger, Post::new("1").loose()).await,
        Claim::Duplicate { reply }
    );
    age(&*store, 31 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(0, 0, 1));
    assert_eq!(count(&*store, "webhook.inbox").await, 0);
    assert_eq!(count(&*store, "webhook.claim").await, 0);
    assert_eq!(claim(&ledger, Post::new("1").loose()).await, Claim::Stored);
}

async fn e1_an_identity_may_go_before_its_payload<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").strict()).await;
    completed(&ledger, Post::new("2").endpoint("shop").loose()).await;
    age(&*store, 2 * HOUR).await;
    let what = keep(IdentityRetention::For(HOUR));
    let mut elsewhere = what.clone();
    elsewhere.endpoint = "elsewhere".into();
    assert!(prune(&ledger, &elsewhere).await.is_nothing());
    assert_eq!(prune(&ledger, &what).await, pruned(0, 0, 2));
    assert_eq!(count(&*store, "webhook.claim").await, 0);
}

async fn many<S: Store>(store: &S, ledger: &S::L, events: usize) {
    let batch: Vec<NewEvent> = (0..events)
        .map(|n| Post::new(&n.to_string()).content(n.to_string()).loose())
        .collect();
    ledger.claim(batch).await.unwrap();
    let complete = format!(
        "update webhook.inbox set state = 'completed', settled_at = {}",
        S::moment(0)
    );
    store.execute(&complete).await;
    age(store, 50 * HOUR).await;
}

async fn e1_replicas_forget_at_once<S: Store>(store: Arc<S>) {
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
    assert_eq!(count(&*store, "webhook.claim").await, 0);
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

async fn e1_a_claim_beside_a_prune_is_a_duplicate_or_new<S: Store>(store: Arc<S>) {
    let what = keep(IdentityRetention::For(30 * HOUR)).batch(3);
    for claim in claims_beside(&*store, 60, what).await {
        let is_whole = matches!(claim, Claim::Duplicate { .. } | Claim::Stored);
        assert!(is_whole, "{claim:?}");
    }
    let keys = "webhook.claim where not exists
        (select 1 from webhook.inbox where inbox.id = claim.inbox)";
    let keys = match S::bytes(&[]).as_str() {
        "x''" => keys
            .replace("inbox.id", "webhook_inbox.id")
            .replace("claim.inbox)", "webhook_claim.inbox)"),
        _ => keys.to_owned(),
    };
    assert_eq!(count(&*store, &keys).await, 0);
}

async fn e3_claims_beside_a_burial_are_duplicates<S: Store>(store: Arc<S>) {
    let what = keep(IdentityRetention::WhileKeysLive(HOUR)).batch(3);
    for claim in claims_beside(&*store, 60, what).await {
        assert_eq!(claim, Claim::Duplicate { reply: None });
    }
    assert_eq!(count(&*store, "webhook.inbox").await, 0);
    assert_eq!(
        count(&*store, "webhook.claim where pruned_at is not null").await,
        120
    );
}

async fn e2_who_is_seen_again_is_remembered<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").strict()).await;
    age(&*store, 31 * HOUR).await;
    let duplicate = claim(&ledger, Post::new("1").strict()).await;
    assert!(matches!(duplicate, Claim::Duplicate { .. }));
    let what = keep(IdentityRetention::For(30 * HOUR));
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    age(&*store, 31 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(0, 0, 1));
}

async fn e2_only_completed_events_are_forgotten<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let dead = leased(&ledger, Post::new("dead").strict()).await;
    let quiet = Duration::ZERO;
    let failure = Failure::new("x", Next::Dead { quiet });
    assert!(ledger.fail(dead, failure).await.unwrap());
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
    age(&*store, 5000 * HOUR).await;
    for identities in [
        IdentityRetention::For(Duration::ZERO),
        IdentityRetention::WhileKeysLive(Duration::ZERO),
    ] {
        let mut what = keep(identities);
        what.completed_payloads = Duration::ZERO;
        let pruned = prune(&ledger, &what).await;
        assert_eq!((pruned.buried, pruned.forgotten), (0, 0));
    }
    for state in ["dead", "processing", "pending", "ignored"] {
        assert_eq!(in_state(&*store, state).await, 1);
    }
    assert_eq!(count(&*store, "webhook.claim").await, 4);
    // Not looked at yet: kept whole.
    let kept = "webhook.quarantine where payload is not null";
    assert_eq!(count(&*store, kept).await, 1);
}

async fn e3_a_tombstone_still_knows<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let first = Post::new("1").strict();
    let lease = leased(&ledger, first.clone()).await;
    let done = Completion::new(Reply::default(), first.canonical());
    assert!(ledger.complete(lease, done).await.unwrap());
    let what = keep(IdentityRetention::WhileKeysLive(HOUR));
    age(&*store, 9 * HOUR).await;
    assert!(prune(&ledger, &what).await.is_nothing());
    age(&*store, 11 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(0, 1, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    assert_eq!(count(&*store, "webhook.inbox").await, 0);
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

async fn e3_a_tombstone_still_knows_what_was_signed<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").loose()).await;
    age(&*store, 11 * HOUR).await;
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
    assert_eq!(count(&*store, "webhook.claim").await, 2);
}

fn registration(endpoint: &str, post: &Post) -> Registration {
    let keys = vec![post.key_fingerprint()];
    Registration::new(vec![RegisteredEndpoint::new(endpoint.into(), keys, true)])
}

/// Let every key be as if it had been live last so much earlier.
async fn age_keys<S: Store>(store: &S, endpoint: &str, age: Duration) {
    let moment = S::moment(-i64::try_from(age.as_millis()).unwrap());
    let sql = format!(
        "update webhook.signing_key set last_live_at = {moment} where endpoint = '{endpoint}'"
    );
    assert!(store.execute(&sql).await > 0);
}

async fn e3_tombstones_go_with_their_key<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let (old, new) = (
        Post::new("1"),
        Post::new("2").secret("whsec_fedcba9876543210fedcba98"),
    );
    for post in [&old, &new] {
        completed(&ledger, post.loose()).await;
    }
    age(&*store, 11 * HOUR).await;
    let what =
        keep(IdentityRetention::WhileKeysLive(5 * HOUR)).live_keys(vec![new.key_fingerprint()]);
    // A key that nobody registered may live anywhere.
    assert_eq!(prune(&ledger, &what).await, pruned(0, 2, 0));
    ledger.prepare(registration("shop", &old)).await.unwrap();
    age_keys(&*store, "shop", 4 * HOUR).await;
    assert!(prune(&ledger, &what).await.is_nothing());
    age_keys(&*store, "shop", 6 * HOUR).await;
    let one = what.batch(1);
    assert_eq!(prune(&ledger, &one).await, pruned(0, 0, 1));
    let refused = ledger.prepare(registration("shop", &old)).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused.kind(), LedgerFault::Unfit(advice) if advice.contains("`shop`")));
    assert_eq!(prune(&ledger, &one).await, pruned(0, 0, 1));
    assert!(prune(&ledger, &one).await.is_nothing());
    let spent = "webhook.signing_key where pruned_at is not null";
    assert_eq!(count(&*store, spent).await, 1);
    assert_eq!(count(&*store, "webhook.claim").await, 2);
    ledger.prepare(registration("shop", &new)).await.unwrap();
    assert_eq!(
        claim(&ledger, new.loose()).await,
        Claim::Duplicate { reply: None }
    );
}

async fn e3_a_key_that_lives_anywhere_keeps_its_tombstones<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    completed(&ledger, post.strict()).await;
    age(&*store, 11 * HOUR).await;
    for endpoint in ["other", "shop"] {
        ledger.prepare(registration(endpoint, &post)).await.unwrap();
    }
    age_keys(&*store, "shop", 6 * HOUR).await;
    let what = keep(IdentityRetention::WhileKeysLive(5 * HOUR));
    assert_eq!(prune(&ledger, &what).await, pruned(0, 1, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    age_keys(&*store, "other", 6 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(0, 0, 1));
    let spent = "webhook.signing_key where pruned_at is not null";
    assert_eq!(count(&*store, spent).await, 2);
}

async fn e3_live_keys_are_entered<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    let what = keep(IdentityRetention::Forever)
        .live_keys(vec![post.key_fingerprint(), post.key_fingerprint()]);
    prune(&ledger, &what).await;
    age_keys(&*store, "shop", 6 * HOUR).await;
    prune(&ledger, &what).await;
    let live = format!(
        "webhook.signing_key where last_live_at > {}",
        S::moment(-60_000)
    );
    assert_eq!(count(&*store, &live).await, 1);
}

async fn f15_payloads_of_settled_events_end<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("completed").strict()).await;
    let other = Post::new("completed").content("other").strict();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    assert_eq!(claim(&ledger, other).await, mismatch);
    let ignored = Post::new("ignored").strict().ignored();
    assert_eq!(claim(&ledger, ignored).await, Claim::Stored);
    let what = keep(IdentityRetention::For(100 * HOUR));
    age(&*store, 11 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    age(&*store, 21 * HOUR).await;
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    let settle = format!(
        "update webhook.quarantine set released_at = {}",
        S::moment(-72_000_000 - 60_000)
    );
    store.execute(&settle).await;
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    // Who comes again brings its payload along.
    let again = Post::new("ignored").strict();
    assert_eq!(claim(&ledger, again).await, Claim::Revived);
    assert_eq!(take(&ledger).await.event.id.as_str(), "ignored");
}

async fn f15_for_ever_is_for_identities<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    completed(&ledger, Post::new("1").strict()).await;
    age(&*store, 50_000 * HOUR).await;
    let what = keep(IdentityRetention::Forever);
    assert_eq!(prune(&ledger, &what).await, pruned(1, 0, 0));
    assert!(prune(&ledger, &what).await.is_nothing());
    let again = claim(&ledger, Post::new("1").strict()).await;
    assert!(matches!(again, Claim::Duplicate { .. }));
}

async fn f15_a_batch_is_a_bound<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    many(&*store, &ledger, 5).await;
    let what = keep(IdentityRetention::Forever).batch(2);
    for payloads in [2, 2, 1, 0] {
        assert_eq!(prune(&ledger, &what).await, pruned(payloads, 0, 0));
    }
}

async fn f8_idle_heads_go<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ordered = |id: &str| Post::new(id).ordered().strict();
    assert_eq!(claim(&ledger, ordered("1")).await, Claim::Stored);
    if S::bytes(&[]).as_str() != "x''" {
        let idle = "update webhook.order_head set last_at = last_at - interval '2 days'";
        assert_eq!(store.execute(idle).await, 1);
        prune(&ledger, &keep(IdentityRetention::Forever)).await;
        assert_eq!(count(&*store, "webhook.order_head").await, 0);
    }
    assert_eq!(claim(&ledger, ordered("2")).await, Claim::Stored);
    assert_eq!(take(&ledger).await.event.id.as_str(), "1");
}

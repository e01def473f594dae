//! Who wins, and what is one event.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::ledger::{Completion, Ledger};
use webhook_core::{Claim, NewEvent, Quarantine};

use crate::post::Post;
use crate::store::{Store, claim, in_state, leased, limits, prepared, take};

cases! {
    two_concurrent_claims_have_one_winner
    fifty_claims_on_two_ledgers_have_one_winner
    a_repeat_is_in_flight_and_then_a_duplicate
    c1_no_account_twice_is_one_event
    c1_no_account_is_not_an_account
    ids_are_compared_byte_for_byte
    parts_of_a_key_do_not_run_together
    one_event_runs_at_every_endpoint
    tenants_do_not_share_ids
    c4_equal_and_different_events_in_one_batch
    c4_an_orphaned_key_holds_nothing
    c4_an_orphan_beside_a_real_key
    c3_overlapping_batches_do_not_deadlock
    many_events_of_one_delivery
    a1_aborted_begins_hide_no_claim
    a1_an_abandoned_claim_is_whole_or_absent
    a1_the_last_handle_may_be_dropped_anywhere
}

async fn race<S: Store>(ledgers: &[S::L], claims: usize) -> (usize, usize) {
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(claims) {
        let (ledger, event) = (ledger.clone(), Post::new("evt_1").strict());
        race.spawn(async move { claim(&ledger, event).await });
    }
    let claims = race.join_all().await;
    let count = |wanted: Claim| claims.iter().filter(|claim| **claim == wanted).count();
    (count(Claim::Stored), count(Claim::InFlight))
}

async fn two_concurrent_claims_have_one_winner<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(race::<S>(&[ledger], 2).await, (1, 1));
    assert_eq!(in_state(&*store, "pending").await, 1);
}

async fn fifty_claims_on_two_ledgers_have_one_winner<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    assert_eq!(race::<S>(&ledgers, 50).await, (1, 49));
    assert_eq!(in_state(&*store, "pending").await, 1);
    assert_eq!(store.number("select count(*) from webhook.claim").await, 1);
}

async fn a_repeat_is_in_flight_and_then_a_duplicate<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("evt_1");
    assert_eq!(claim(&ledger, post.strict()).await, Claim::Stored);
    assert_eq!(claim(&ledger, post.strict()).await, Claim::InFlight);
    let lease = take(&ledger).await.lease;
    assert_eq!(claim(&ledger, post.strict()).await, Claim::InFlight);
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    let duplicate = Claim::Duplicate { reply: None };
    assert_eq!(claim(&ledger, post.strict()).await, duplicate);
    assert_eq!(claim(&ledger, post.spaced().strict()).await, duplicate);
}

async fn c1_no_account_twice_is_one_event<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(
        claim(&ledger, Post::new("evt_1").strict()).await,
        Claim::Stored
    );
    assert_eq!(
        claim(&ledger, Post::new("evt_1").strict()).await,
        Claim::InFlight
    );
    assert_eq!(store.number("select count(*) from webhook.inbox").await, 1);
}

async fn c1_no_account_is_not_an_account<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("evt_1");
    let events = [post.clone(), post.clone().account("a"), post.account("b")];
    for event in &events {
        assert_eq!(claim(&ledger, event.strict()).await, Claim::Stored);
    }
    for event in &events {
        assert_eq!(claim(&ledger, event.strict()).await, Claim::InFlight);
    }
}

async fn ids_are_compared_byte_for_byte<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let (longest, almost) = ("x".repeat(255), format!("{}y", "x".repeat(254)));
    let ids = [
        "evt_1Ab",
        "evt_1aB",
        "evt_1ab", // case
        "evt_1ab ",
        "evt_1ab  ",
        " evt_1ab", // spaces
        "caf\u{e9}",
        "cafe\u{301}", // one text to a reader, two normal forms
        "\u{212b}",
        "\u{c5}",
        "A\u{30a}", // three ways to write an angstrom
        "stra\u{df}e",
        "strasse",
        "STRASSE",
        "\u{130}",
        "i",
        "I",
        "\u{131}",
        "Ж",
        "ж",
        "أ",
        "ا",
        "א",
        "अ",
        "ก",
        "漢",
        "汉",
        "か",
        "が",
        "カ",
        "ｶ",
        "\u{d55c}",
        "\u{1112}\u{1161}\u{11ab}",
        "😀",
        "👍",
        "👍🏽",
        "\u{200b}",
        "a\u{200d}b",
        "ab",
        "%",
        "_",
        "'",
        "\\",
        "\"",
        "; drop table effect",
        &longest,
        &almost,
    ];
    let events: Vec<NewEvent> = ids.iter().map(|id| Post::new(id).strict()).collect();
    let stored = ledger.claim(events.clone()).await.unwrap();
    for (id, claim) in ids.iter().zip(stored) {
        assert_eq!(claim, Claim::Stored, "{id:?}");
    }
    for (id, event) in ids.iter().zip(events) {
        assert_eq!(claim(&ledger, event).await, Claim::InFlight, "{id:?}");
    }
    let ids_found = store
        .number("select count(distinct event_id) from webhook.inbox")
        .await;
    assert_eq!(usize::try_from(ids_found).unwrap(), ids.len());
}

async fn parts_of_a_key_do_not_run_together<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let posts = [
        Post::new("c").endpoint("ab"),
        Post::new("bc").endpoint("a"),
        Post::new("c").account("ab"),
        Post::new("bc").account("a"),
        Post::new("abc"),
        Post::new("c").tenant("ab"),
        Post::new("c").tenant("ab").account("ab"),
    ];
    for post in &posts {
        assert_eq!(
            claim(&ledger, post.strict()).await,
            Claim::Stored,
            "{post:?}"
        );
    }
}

async fn one_event_runs_at_every_endpoint<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("evt_1");
    for endpoint in ["shop", "billing", "Shop", "shop "] {
        let event = post.clone().endpoint(endpoint);
        assert_eq!(
            claim(&ledger, event.loose()).await,
            Claim::Stored,
            "{endpoint}"
        );
        assert_eq!(
            claim(&ledger, event.loose()).await,
            Claim::InFlight,
            "{endpoint}"
        );
    }
}

async fn tenants_do_not_share_ids<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for tenant in ["a", "b"] {
        let event = Post::new("evt_1").tenant(tenant);
        assert_eq!(claim(&ledger, event.strict()).await, Claim::Stored);
        assert_eq!(claim(&ledger, event.strict()).await, Claim::InFlight);
    }
}

async fn c4_equal_and_different_events_in_one_batch<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let batch = vec![
        Post::new("evt_1").strict(),
        Post::new("evt_1").strict(),
        Post::new("evt_2").strict(),
        Post::new("evt_1").content("other").strict(),
        Post::new("evt_1").spaced().strict(),
    ];
    let claims = ledger.claim(batch).await.unwrap();
    let mismatch = Claim::Quarantined(Quarantine::ContentMismatch);
    let wanted = [
        Claim::Stored,
        Claim::InFlight,
        Claim::Stored,
        mismatch,
        Claim::InFlight,
    ];
    assert_eq!(claims, wanted);
    // Half of the second one's keys are the first one's; the third shares the other half.
    let batch = vec![
        Post::new("a").content("1").loose(),
        Post::new("b").content("1").loose(),
        Post::new("b").content("2").loose(),
    ];
    let claims = ledger.claim(batch).await.unwrap();
    assert_eq!(claims, [Claim::Stored, Claim::InFlight, Claim::Stored]);
    assert!(ledger.claim(Vec::new()).await.unwrap().is_empty());
}

async fn plant<S: Store>(store: &S, key: webhook_core::ClaimKey) {
    let sql = format!(
        "insert into webhook.claim (key, inbox, kind, key_fingerprint) values ({}, {}, 1, {})",
        S::bytes(key.as_bytes()),
        S::id(&[7; 16]),
        S::bytes(&[0; 16]),
    );
    assert_eq!(store.execute(&sql).await, 1);
}

/// A process died between winning one key and deleting it again.
async fn c4_an_orphaned_key_holds_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for (position, orphans) in [[true, false], [false, true], [true, true]]
        .into_iter()
        .enumerate()
    {
        let post = Post::new(&format!("evt_{position}")).content(position.to_string());
        let event = post.loose();
        if orphans[0] {
            plant(&*store, event.id_key()).await;
        }
        if orphans[1] {
            plant(&*store, event.digest_key().unwrap()).await;
        }
        assert_eq!(claim(&ledger, event).await, Claim::Stored, "{orphans:?}");
        assert_eq!(
            claim(&ledger, post.loose()).await,
            Claim::InFlight,
            "{orphans:?}"
        );
    }
    let orphans =
        "select count(*) from webhook.claim where inbox not in (select id from webhook.inbox)";
    assert_eq!(store.number(orphans).await, 0);
    assert_eq!(store.number("select count(*) from webhook.claim").await, 6);
}

async fn c4_an_orphan_beside_a_real_key<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(claim(&ledger, Post::new("a").loose()).await, Claim::Stored);
    let relabelled = Post::new("b").event_type("other");
    plant(&*store, relabelled.loose().id_key()).await;
    let quarantined = Claim::Quarantined(Quarantine::Relabelled);
    assert_eq!(claim(&ledger, relabelled.loose()).await, quarantined);
    // What it came across is no obstacle to the event whose id that is.
    let real = Post::new("b").content("real");
    assert_eq!(claim(&ledger, real.loose()).await, Claim::Stored);
}

async fn c3_overlapping_batches_do_not_deadlock<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    for round in 0..10 {
        let mut race = JoinSet::new();
        for (way, ledger) in (0..4).zip(ledgers.iter().cycle()) {
            let mut batch: Vec<NewEvent> = (0..20)
                .map(|n| {
                    // Ids and contents pair up differently in every second batch.
                    let content = if way % 2 == 0 { n } else { 19 - n };
                    Post::new(&format!("{round}-{n}")).content(format!("{round}-{content}"))
                })
                .map(|post| post.loose())
                .collect();
            if way > 1 {
                batch.reverse();
            }
            let ledger = ledger.clone();
            race.spawn(async move { ledger.claim(batch).await.unwrap() });
        }
        let claims = race.join_all().await.concat();
        let stored = claims
            .iter()
            .filter(|claim| **claim == Claim::Stored)
            .count();
        assert!((1..=20).contains(&stored), "{stored}");
    }
    let half = "select count(*) from webhook.inbox where (select count(*) from webhook.claim where inbox = webhook.inbox.id) <> 2";
    assert_eq!(store.number(half).await, 0);
}

async fn many_events_of_one_delivery<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let batch = |from: usize| -> Vec<NewEvent> {
        (from..from + 200)
            .map(|n| {
                Post::new(&format!("evt_{n}"))
                    .content(n.to_string())
                    .loose()
            })
            .collect()
    };
    assert!(
        ledger
            .claim(batch(0))
            .await
            .unwrap()
            .iter()
            .all(|claim| *claim == Claim::Stored)
    );
    let overlap = ledger.claim(batch(100)).await.unwrap();
    assert!(overlap[..100].iter().all(|claim| *claim == Claim::InFlight));
    assert!(overlap[100..].iter().all(|claim| *claim == Claim::Stored));
    assert_eq!(in_state(&*store, "pending").await, 300);
}

/// X1: a `begin` that is cancelled in flight must leave no connection that later claims vanish in.
async fn a1_aborted_begins_hide_no_claim<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let mut stored = 0;
    for round in 0..60u64 {
        let lease = leased(&ledger, Post::new(&format!("held-{round}")).strict()).await;
        let begin = tokio::spawn({
            let ledger = ledger.clone();
            async move {
                let tx = ledger.begin(lease, limits()).await;
                std::future::pending::<()>().await;
                drop(tx);
            }
        });
        tokio::time::sleep(Duration::from_micros(round * 61)).await;
        begin.abort();
        let _ = begin.await;
        let event = Post::new(&format!("evt_{round}"))
            .event_type("other")
            .strict();
        assert_eq!(claim(&ledger, event).await, Claim::Stored);
        stored += 1;
        let seen = "select count(*) from webhook.inbox where event_type = 'other'";
        assert_eq!(store.number(seen).await, stored, "round {round}");
    }
}

async fn a1_an_abandoned_claim_is_whole_or_absent<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for round in 0..60u64 {
        let post = Post::new(&format!("evt_{round}")).content(round.to_string());
        let abandoned = tokio::spawn({
            let (ledger, event) = (ledger.clone(), post.loose());
            async move { ledger.claim(vec![event]).await }
        });
        tokio::time::sleep(Duration::from_micros(round * 41)).await;
        abandoned.abort();
        let _ = abandoned.await;
        let again = claim(&ledger, post.loose()).await;
        assert!(
            matches!(again, Claim::Stored | Claim::InFlight),
            "{again:?}"
        );
    }
    assert_eq!(in_state(&*store, "pending").await, 60);
    assert_eq!(
        store.number("select count(*) from webhook.claim").await,
        120
    );
}

async fn a1_the_last_handle_may_be_dropped_anywhere<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("evt_1").strict()).await;
    let tx = ledger.begin(lease, limits()).await.unwrap();
    drop(ledger);
    // Outside of any runtime, with a transaction open.
    std::thread::spawn(move || drop(tx)).join().unwrap();
    let ledger = prepared(&*store).await;
    assert!(ledger.begin(lease, limits()).await.unwrap().is_some());
    let closed = ledger.clone();
    drop(ledger);
    closed.close().await;
    assert!(
        closed
            .claim(vec![Post::new("evt_2").strict()])
            .await
            .is_err()
    );
}

//! Identifiers: compared byte for byte, whatever they are written in.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::collections::HashSet;
use std::sync::Arc;

use webhook_core::ledger::{Ledger, Search};
use webhook_core::{Claim, NewEvent};

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{claim, found, prepared};

pub async fn c1_no_account_is_not_an_account<S: Store>(store: Arc<S>) {
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

pub async fn ids_are_compared_byte_for_byte<S: Store>(store: Arc<S>) {
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
    let stored = found(&ledger, Search::default()).await;
    let stored: HashSet<String> = stored.into_iter().map(|event| event.event_id).collect();
    assert_eq!(stored.len(), ids.len());
    assert!(ids.iter().all(|id| stored.contains(*id)));
}

pub async fn parts_of_a_key_do_not_run_together<S: Store>(store: Arc<S>) {
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

pub async fn one_event_runs_at_every_endpoint<S: Store>(store: Arc<S>) {
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

pub async fn tenants_do_not_share_ids<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for tenant in ["a", "b"] {
        let event = Post::new("evt_1").tenant(tenant);
        assert_eq!(claim(&ledger, event.strict()).await, Claim::Stored);
        assert_eq!(claim(&ledger, event.strict()).await, Claim::InFlight);
    }
}

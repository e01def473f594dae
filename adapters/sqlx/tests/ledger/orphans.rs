//! Claim keys that a crash left behind: a key without its row holds nothing.

use std::sync::Arc;

use webhook_core::{Claim, ClaimKey, Quarantine};
use webhook_testkit::ledger::Post;
use webhook_testkit::ledger::steps::{claim, prepared};

use crate::store::Sql;

cases! {
    c4_an_orphaned_key_holds_nothing
    c4_an_orphan_beside_a_real_key
}

async fn plant<S: Sql>(store: &S, key: ClaimKey) {
    let sql = format!(
        "insert into webhook.claim (key, inbox, kind, key_fingerprint) values ({}, {}, 1, {})",
        S::bytes(key.as_bytes()),
        S::id(&[7; 16]),
        S::bytes(&[0; 16]),
    );
    assert_eq!(store.execute(&sql).await, 1);
}

/// A process died between winning one key and deleting it again.
async fn c4_an_orphaned_key_holds_nothing<S: Sql>(store: Arc<S>) {
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

async fn c4_an_orphan_beside_a_real_key<S: Sql>(store: Arc<S>) {
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

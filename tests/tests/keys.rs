//! Keys over HTTP: rotation without a restart, mounts that change while serving, tenants and their floods.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::collections::HashSet;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use webhook_actix::{
    BoxFuture, Endpoint, EventId, KeyConfig, KeyFault, KeyQuery, KeySource, Keyring, Keys, Lookups,
    Provider as _, Webhooks, webhook,
};
use webhook_stripe::Stripe;
use webhook_tests::app::{NOW, block_on, eventually};
use webhook_tests::on_both;
use webhook_tests::stores::{Effects, Sqlite, Store};
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

#[path = "keys/support.rs"]
mod support;

use support::{App, Mount, ring, secret_of, signed};

on_both!(
    rotation_before_the_new_key_is_there_it_is_refused,
    rotation_overlap_both_keys_verify_each_under_its_own_id,
    rotation_cutover_the_old_key_verifies_until_its_end,
    rotation_retired_the_old_key_is_refused_however_fresh,
    rotation_rollback_the_old_key_is_back_and_no_event_runs_twice,
    e8_a_swapped_mount_is_seen_and_a_bad_one_changes_nothing,
    no_delivery_is_refused_while_keys_are_swapped,
    d6_a_reload_cannot_give_two_endpoints_one_secret,
    e3_a_reload_cannot_bring_a_spent_key_back,
    an_unknown_tenant_costs_one_look_up_however_often_it_is_named,
    a_flood_of_unknown_tenants_is_bounded_and_known_ones_are_served,
    d4_a_body_that_names_another_account_is_refused,
    d4_a_header_chooses_the_key_and_no_more,
);

#[webhook(provider = Timestamped, event = "note.created")]
async fn on_note<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(id.as_str()).await
}

#[webhook(provider = Stripe, event = "invoice.paid")]
async fn on_paid<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(id.as_str()).await
}

/// `/custom` on a mounted directory that holds the key `old`.
fn rotating<S: Store>() -> (App<S>, Mount) {
    let mount = Mount::new();
    mount.write("old", &secret_of("old"));
    let keys = Keys::directory(mount.path(""));
    let app = App::start(|builder| {
        builder.endpoint(Endpoint::at("/custom", Timestamped, keys).on(on_note))
    });
    (app, mount)
}

/// A note, signed by these keys in one header, sent to `path` at the application's present.
fn note<S: Store>(app: &App<S>, path: &str, id: &str, by: &[Keyring]) -> u16 {
    let body = format!(r#"{{"id":"{id}","type":"note.created"}}"#).into_bytes();
    let mut headers: Vec<(String, String)> = Vec::new();
    for key in by {
        for (name, value) in signed(&Timestamped, key, &body, app.clock.now()) {
            match headers.iter_mut().find(|(known, _)| *known == name) {
                Some((_, others)) if name.ends_with("signature") => {
                    *others = format!("{others},{value}");
                }
                Some(_) => {}
                None => headers.push((name, value)),
            }
        }
    }
    post(app.address, path, &headers, &body).status
}

/// The same to `/custom`, by keys that go by their ids.
fn send<S: Store>(app: &App<S>, id: &str, by: &[&str]) -> u16 {
    let keys: Vec<Keyring> = by.iter().map(|key| ring(key, &secret_of(key))).collect();
    note(app, "/custom", id, &keys)
}

fn add_new<S: Store>(app: &App<S>, mount: &Mount) {
    mount.write("new", &secret_of("new"));
    app.reload().unwrap();
}

fn rotation_before_the_new_key_is_there_it_is_refused<S: Store>() {
    let (app, _mount) = rotating::<S>();
    assert_eq!(send(&app, "1", &["old"]), 200);
    assert_eq!(send(&app, "2", &["new"]), 401);
    // A sender that signs with both is understood before, while and after.
    assert_eq!(send(&app, "3", &["old", "new"]), 200);
}

fn rotation_overlap_both_keys_verify_each_under_its_own_id<S: Store>() {
    let (app, mount) = rotating::<S>();
    add_new(&app, &mount);
    assert_eq!(send(&app, "1", &["old"]), 200);
    assert_eq!(send(&app, "2", &["new"]), 200);
    assert_eq!(send(&app, "3", &["old", "new"]), 200);
    // The new key under the old one's name.
    let mislabelled = ring("old", &secret_of("new"));
    assert_eq!(note(&app, "/custom", "4", &[mislabelled]), 401);
    eventually("three took effect", || app.effects() == 3);
}

fn rotation_cutover_the_old_key_verifies_until_its_end<S: Store>() {
    let (app, mount) = rotating::<S>();
    add_new(&app, &mount);
    mount.write("old.retire_at", &format!("{}\n", NOW + 3600));
    app.reload().unwrap();
    assert_eq!(send(&app, "1", &["new"]), 200);
    app.clock.set(NOW + 3599);
    assert_eq!(send(&app, "2", &["old"]), 200);
}

fn rotation_retired_the_old_key_is_refused_however_fresh<S: Store>() {
    let (app, mount) = rotating::<S>();
    add_new(&app, &mount);
    mount.write("old.retire_at", &format!("{}", NOW + 3600));
    app.reload().unwrap();
    assert_eq!(send(&app, "1", &["old"]), 200);
    // Nothing is reloaded: the end is the clock's.
    app.clock.set(NOW + 3600);
    assert_eq!(send(&app, "2", &["old"]), 401);
    assert_eq!(send(&app, "2", &["old", "new"]), 200);
    // And gone.
    mount.remove("old.retire_at");
    mount.remove("old");
    app.reload().unwrap();
    assert_eq!(send(&app, "3", &["old"]), 401);
    assert_eq!(send(&app, "3", &["new"]), 200);
}

fn rotation_rollback_the_old_key_is_back_and_no_event_runs_twice<S: Store>() {
    let (app, mount) = rotating::<S>();
    add_new(&app, &mount);
    mount.remove("old");
    app.reload().unwrap();
    assert_eq!(send(&app, "1", &["new"]), 200);
    assert_eq!(send(&app, "2", &["old"]), 401);
    mount.write("old", &secret_of("old"));
    mount.remove("new");
    app.reload().unwrap();
    assert_eq!(send(&app, "1", &["new"]), 401);
    assert_eq!(send(&app, "1", &["old"]), 200);
    assert_eq!(send(&app, "2", &["old"]), 200);
    eventually("two took effect", || app.effects() == 2);
    assert_eq!(app.number("select count(*) from webhook.inbox"), 2);
}

/// Replace what `..data` points to in one step, as Kubernetes does.
fn swap(mount: &Mount, version: &str, secret: &str) {
    std::fs::create_dir(mount.path(version)).unwrap();
    mount.write(&format!("{version}/k1"), secret);
    symlink(version, mount.path("..data_tmp")).unwrap();
    std::fs::rename(mount.path("..data_tmp"), mount.path("..data")).unwrap();
}

fn e8_a_swapped_mount_is_seen_and_a_bad_one_changes_nothing<S: Store>() {
    let mount = Mount::new();
    swap(&mount, "..1", &secret_of("one"));
    symlink("..data/k1", mount.path("k1")).unwrap();
    let keys = Keys::directory(mount.path(""));
    let app = App::<S>::start(|builder| {
        builder.endpoint(Endpoint::at("/custom", Timestamped, keys).on(on_note))
    });
    let next = AtomicUsize::new(0);
    let sent = |secret: &str| {
        let id = next.fetch_add(1, Ordering::SeqCst).to_string();
        note(&app, "/custom", &id, &[ring("k1", &secret_of(secret))])
    };
    assert_eq!(sent("one"), 200);
    // Seen without a word to the process.
    swap(&mount, "..2", &secret_of("two"));
    eventually("the swap is seen", || sent("two") == 200);
    assert_eq!(sent("one"), 401);
    // A bad secret, then none at all.
    swap(&mount, "..3", "canary");
    let told = app.reload().unwrap_err();
    assert!(told.contains("shorter than 8 bytes"), "{told}");
    assert!(!told.contains("canary"), "{told}");
    std::fs::remove_file(mount.path("..data")).unwrap();
    let told = app.reload().unwrap_err();
    assert!(told.contains("k1: cannot be read"), "{told}");
    assert_eq!(sent("two"), 200);
    std::fs::remove_file(mount.path("k1")).unwrap();
    let told = app.reload().unwrap_err();
    assert!(told.contains("no key is given"), "{told}");
    assert_eq!(sent("two"), 200);
}

fn no_delivery_is_refused_while_keys_are_swapped<S: Store>() {
    let (app, mount) = rotating::<S>();
    let mut swaps = 0;
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            for number in 0..200 {
                assert_eq!(send(&app, &format!("{number}"), &["old", "new"]), 200);
            }
        });
        while !sender.is_finished() {
            add_new(&app, &mount);
            mount.remove("old");
            app.reload().unwrap();
            mount.write("old", &secret_of("old"));
            app.reload().unwrap();
            mount.remove("new");
            app.reload().unwrap();
            swaps += 1;
        }
    });
    assert!(swaps > 0);
    eventually("each took effect once", || app.effects() == 200);
}

fn d6_a_reload_cannot_give_two_endpoints_one_secret<S: Store>() {
    let mount = Mount::new();
    mount.write("a", &secret_of("a"));
    mount.write("b", &secret_of("b"));
    let of = |name: &str| Keys::file_named(name, mount.path(name));
    let (a, b) = (of("a"), of("b"));
    let app = App::<S>::start(|builder| {
        builder
            .endpoint(Endpoint::at("/a", Timestamped, a).named("a").on(on_note))
            .endpoint(Endpoint::at("/b", Timestamped, b).named("b").on(on_note))
    });
    let sent = |id: &str, secret: &str| note(&app, "/b", id, &[ring("b", &secret_of(secret))]);
    mount.write("b", &secret_of("a"));
    let told = app.reload().unwrap_err();
    assert!(told.contains("endpoint `a` has the same secret"), "{told}");
    assert_eq!(sent("1", "a"), 401);
    assert_eq!(sent("2", "b"), 200);
    // Another one is welcome.
    mount.write("b", &secret_of("c"));
    app.reload().unwrap();
    assert_eq!(sent("3", "c"), 200);
}

fn e3_a_reload_cannot_bring_a_spent_key_back<S: Store>() {
    let (app, mount) = rotating::<S>();
    // What the pruner does when the tombstones of a key are gone.
    let spend = "update webhook.signing_key set pruned_at = last_live_at";
    block_on(app.store.execute(spend));
    mount.remove("old");
    add_new(&app, &mount);
    mount.write("old", &secret_of("old"));
    let told = app.reload().unwrap_err();
    assert!(told.contains("cannot be registered"), "{told}");
    assert_eq!(send(&app, "1", &["old"]), 401);
    assert_eq!(send(&app, "2", &["new"]), 200);
}

/// `acct_1` and `acct_2`. Counts what it is asked.
#[derive(Debug, Clone, Default)]
struct Tenants(Arc<Asked>);

#[derive(Debug, Default)]
struct Asked {
    times: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
    names: Mutex<HashSet<String>>,
}

impl KeySource for Tenants {
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>> {
        Box::pin(async move {
            let name = query.tenant.ok_or(KeyFault::Unknown)?;
            let asked = &self.0;
            asked.times.fetch_add(1, Ordering::SeqCst);
            asked.names.lock().unwrap().insert(name.to_owned());
            let now = asked.now.fetch_add(1, Ordering::SeqCst) + 1;
            asked.most.fetch_max(now, Ordering::SeqCst);
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
            asked.now.fetch_sub(1, Ordering::SeqCst);
            match name {
                // Whose keys they are is left out: the tenant's.
                "acct_1" | "acct_2" => Ok(Arc::new(of_tenant(name))),
                _ => Err(KeyFault::Unknown),
            }
        })
    }
}

fn of_tenant(name: &str) -> Keyring {
    let key = KeyConfig::new(secret_of(name));
    Keyring::build(Stripe::any_mode().spec().secret(), [key]).unwrap()
}

/// Bounds for a machine that is busy.
fn patient() -> Lookups {
    Lookups::default().timeout(Duration::from_secs(30))
}

fn with_tenants<S: Store>(tenants: &Tenants, lookups: Lookups) -> App<S> {
    let keys = |source: Tenants| Keys::source(source).lookups(lookups);
    let (by_path, by_header) = (
        keys(tenants.clone()),
        keys(tenants.clone()).tenant_header("X-Tenant"),
    );
    App::start(|builder| {
        let stripe = || Stripe::any_mode().any_account();
        builder
            .endpoint(Endpoint::at("/t/{tenant}", stripe(), by_path).on(on_paid))
            .endpoint(
                Endpoint::at("/h", stripe(), by_header)
                    .named("by-header")
                    .on(on_paid),
            )
    })
}

fn paid(id: &str, account: &str) -> Vec<u8> {
    format!(
        r#"{{"id":"{id}","object":"event","type":"invoice.paid","account":"{account}","livemode":true}}"#
    )
    .into_bytes()
}

fn of<S: Store>(app: &App<S>, path: &str, signed_by: &str, body: &[u8]) -> u16 {
    let headers = signed(
        &Stripe::any_mode(),
        &of_tenant(signed_by),
        body,
        app.clock.now(),
    );
    post(app.address, path, &headers, body).status
}

#[test]
fn the_path_or_a_header_names_the_tenant_and_not_both() {
    let build = |path: &str, keys: Keys| {
        let store = block_on(Sqlite::fresh());
        let endpoint = Endpoint::at(path, Timestamped, keys).on(on_note);
        let built = Webhooks::builder(block_on(store.ledger()))
            .endpoint(endpoint)
            .build();
        built.map(drop).map_err(|fault| fault.to_string())
    };
    let source = || Keys::source(Tenants::default());
    build("/t/{tenant}", source()).unwrap();
    build("/t", source().tenant_header("X-Tenant")).unwrap();
    let told = build("/t/{tenant}", source().tenant_header("X-Tenant")).unwrap_err();
    assert!(told.contains("both name the tenant"), "{told}");
    let told = build("/t", source().lookups(Lookups::default().at_once(0))).unwrap_err();
    assert!(told.contains("a bound of look-ups is zero"), "{told}");
}

/// Run `one` for every number, on many threads at once.
fn flood(requests: usize, one: impl Fn(SocketAddr, usize) + Sync, to: SocketAddr) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= requests {
                        return;
                    }
                    one(to, number);
                }
            });
        }
    });
}

fn an_unknown_tenant_costs_one_look_up_however_often_it_is_named<S: Store>() {
    let tenants = Tenants::default();
    // Long enough that none ends while the test runs.
    let lookups = patient().unknown_for(Duration::from_hours(1));
    let app = with_tenants::<S>(&tenants, lookups);
    let body = paid("1", "acct_1");
    let headers = signed(&Stripe::any_mode(), &of_tenant("acct_1"), &body, NOW);
    let one = |to, _| assert_eq!(post(to, "/t/nobody", &headers, &body).status, 401);
    flood(200, one, app.address);
    assert_eq!(tenants.0.times.load(Ordering::SeqCst), 1);
    assert_eq!(app.number("select count(*) from webhook.inbox"), 0);
}

fn a_flood_of_unknown_tenants_is_bounded_and_known_ones_are_served<S: Store>() {
    let tenants = Tenants::default();
    let lookups = patient()
        .at_once(2)
        .remember_for(Duration::from_hours(1))
        .unknown_for(Duration::from_hours(1));
    let app = with_tenants::<S>(&tenants, lookups);
    assert_eq!(of(&app, "/t/acct_1", "acct_1", &paid("0", "acct_1")), 200);
    let body = paid("1", "acct_1");
    let headers = signed(&Stripe::any_mode(), &of_tenant("acct_1"), &body, NOW);
    let one = |to, number: usize| {
        if number.is_multiple_of(4) {
            let body = paid(&format!("good-{number}"), "acct_1");
            assert_eq!(of(&app, "/t/acct_1", "acct_1", &body), 200);
        } else {
            let path = format!("/t/stranger-{number}");
            assert_eq!(post(to, &path, &headers, &body).status, 401);
        }
    };
    flood(400, one, app.address);
    assert_eq!(tenants.0.most.load(Ordering::SeqCst), 2);
    // Every stranger once, the tenant once.
    assert_eq!(tenants.0.times.load(Ordering::SeqCst), 301);
    assert_eq!(tenants.0.names.lock().unwrap().len(), 301);
    assert_eq!(app.number("select count(*) from webhook.inbox"), 101);
}

fn d4_a_body_that_names_another_account_is_refused<S: Store>() {
    let app = with_tenants::<S>(&Tenants::default(), patient());
    assert_eq!(of(&app, "/t/acct_1", "acct_1", &paid("1", "acct_2")), 400);
    assert_eq!(of(&app, "/t/acct_2", "acct_1", &paid("1", "acct_2")), 401);
    assert_eq!(app.number("select count(*) from webhook.inbox"), 0);
    // The id is free: who it belongs to can still use it.
    assert_eq!(of(&app, "/t/acct_2", "acct_2", &paid("1", "acct_2")), 200);
    assert_eq!(of(&app, "/t/acct_1", "acct_1", &paid("1", "acct_1")), 200);
    eventually("two took effect", || app.effects() == 2);
}

fn d4_a_header_chooses_the_key_and_no_more<S: Store>() {
    let app = with_tenants::<S>(&Tenants::default(), patient());
    let sent = |tenants: &[&str], signed_by: &str, body: &[u8]| {
        let mut headers = signed(&Stripe::any_mode(), &of_tenant(signed_by), body, NOW);
        let named = tenants.iter();
        headers.extend(named.map(|name| ("X-Tenant".to_owned(), (*name).to_owned())));
        post(app.address, "/h", &headers, body).status
    };
    let body = paid("1", "acct_1");
    assert_eq!(sent(&["acct_1"], "acct_1", &body), 200);
    assert_eq!(sent(&["acct_2"], "acct_1", &body), 401);
    assert_eq!(sent(&["acct_1"], "acct_1", &paid("2", "acct_2")), 400);
    assert_eq!(sent(&[], "acct_1", &body), 401);
    assert_eq!(sent(&["acct_1", "acct_1"], "acct_1", &body), 401);
    assert_eq!(sent(&["acct_1", "acct_2"], "acct_1", &body), 401);
    assert_eq!(app.number("select count(*) from webhook.inbox"), 1);
}

//! Something goes wrong at each boundary, in each way, on each store, in both modes. One oracle.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::sync::Mutex;
use std::thread;

use webhook_tests::app::{block_on, eventually};
use webhook_tests::faults::Action;
use webhook_tests::on_both;
use webhook_tests::proxy::{Cut, Moment, Proxy};
use webhook_tests::stores::{Postgres, Sqlite, Store};
use webhook_tests::victim::Victim;

on_both!(
    an_abort_in_inbox_mode,
    an_abort_in_inline_mode,
    an_error_in_inbox_mode,
    an_error_in_inline_mode,
    a_panic_in_inbox_mode,
    a_panic_in_inline_mode,
    a_stall_in_inbox_mode,
    a_stall_in_inline_mode,
);

/// A boundary, and the ways of an event that lead over it.
struct Point {
    name: &'static str,
    modes: &'static [Mode],
    /// Not on PostgreSQL, where a claim is one statement and commits by itself.
    only_sqlite: bool,
    /// What the handler does first.
    first: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Inbox,
    Inline,
}

/// Every point of the sources: [`every_point_is_in_the_list`].
const POINTS: [Point; 11] = [
    point("claim.begin", &[Mode::Inbox]),
    Point {
        only_sqlite: true,
        ..point("claim.written", &[Mode::Inbox])
    },
    point("claim.done", &[Mode::Inbox]),
    point("inline.claimed", &[Mode::Inline]),
    point("answer", &[Mode::Inbox, Mode::Inline]),
    point("take.done", &[Mode::Inbox]),
    point("begin.done", &[Mode::Inbox]),
    point("handler.done", &[Mode::Inbox, Mode::Inline]),
    point("complete.written", &[Mode::Inbox, Mode::Inline]),
    point("commit.done", &[Mode::Inbox, Mode::Inline]),
    Point {
        first: Some("fail"),
        ..point("fail.begin", &[Mode::Inbox])
    },
];

const fn point(name: &'static str, modes: &'static [Mode]) -> Point {
    Point {
        name,
        modes,
        only_sqlite: false,
        first: None,
    }
}

impl Mode {
    fn event_type(self) -> &'static str {
        match self {
            Self::Inbox => "note.created",
            Self::Inline => "credit.approved",
        }
    }
}

fn an_abort_in_inbox_mode<S: Store>() {
    at_each_point::<S>(Action::Abort, Mode::Inbox);
}

fn an_abort_in_inline_mode<S: Store>() {
    at_each_point::<S>(Action::Abort, Mode::Inline);
}

fn an_error_in_inbox_mode<S: Store>() {
    at_each_point::<S>(Action::Error, Mode::Inbox);
}

fn an_error_in_inline_mode<S: Store>() {
    at_each_point::<S>(Action::Error, Mode::Inline);
}

fn a_panic_in_inbox_mode<S: Store>() {
    at_each_point::<S>(Action::Panic, Mode::Inbox);
}

fn a_panic_in_inline_mode<S: Store>() {
    at_each_point::<S>(Action::Panic, Mode::Inline);
}

fn a_stall_in_inbox_mode<S: Store>() {
    at_each_point::<S>(Action::Stall, Mode::Inbox);
}

fn a_stall_in_inline_mode<S: Store>() {
    at_each_point::<S>(Action::Stall, Mode::Inline);
}

/// All points at once, each with a store and a process of its own.
fn at_each_point<S: Store>(action: Action, mode: Mode) {
    let points: Vec<&Point> = POINTS
        .iter()
        .filter(|point| point.modes.contains(&mode))
        .filter(|point| !point.only_sqlite || S::NAME == "sqlite")
        .collect();
    assert!(points.len() > 3, "the list is empty");
    thread::scope(|scope| {
        let cases: Vec<_> = points
            .iter()
            .map(|point| (point.name, scope.spawn(|| at::<S>(point, action, mode))))
            .collect();
        let failed: Vec<_> = cases
            .into_iter()
            .filter_map(|(name, case)| case.join().is_err().then_some(name))
            .collect();
        assert!(failed.is_empty(), "{action:?} at {failed:?}");
    });
}

fn at<S: Store>(point: &Point, action: Action, mode: Mode) {
    let store = block_on(S::fresh());
    let fault = format!("fault={}:{}", point.name, action.name());
    let plan = point.first.map(|act| format!("{ID}={act}"));
    let arguments: Vec<&str> = std::iter::once(&*fault).chain(plan.as_deref()).collect();
    let victim = Victim::start(VICTIM, &store.url(), &arguments);
    let first = victim.try_post(ID, mode.event_type());
    eventually("the point is reached", || {
        victim.said().contains(&format!(":{}\n", point.name))
    });
    let victim = if action == Action::Abort {
        assert!(!victim.end().success());
        Victim::start(VICTIM, &store.url(), &[])
    } else {
        victim
    };
    let is_acknowledged = first.is_some_and(|answer| answer.status == 200);
    recovers(&store, &victim, mode, is_acknowledged, || {
        action != Action::Stall || victim.said().contains("fault over")
    });
}

/// The oracle: exactly one effect, nothing acknowledged is lost, nothing is stuck.
fn recovers<S: Store>(
    store: &S,
    victim: &Victim,
    mode: Mode,
    is_acknowledged: bool,
    is_over: impl Fn() -> bool,
) {
    let effects = |id: &str| {
        let count = format!("select count(*) from effect where event_id = '{id}'");
        block_on(store.number(&count))
    };
    if !is_acknowledged {
        victim.deliver(ID, mode.event_type());
    }
    // Whoever was told 200 does not come again.
    eventually("it took effect", || effects(ID) > 0);
    eventually("the fault is over", is_over);
    // It may come again all the same; and strangers go on.
    victim.deliver(ID, mode.event_type());
    victim.deliver("stranger", mode.event_type());
    eventually("the stranger took effect", || effects("stranger") > 0);
    eventually("nothing is stuck", || {
        block_on(store.number("select count(*) from webhook.inbox where state <> 'completed'")) == 0
    });
    assert_eq!(effects(ID), 1);
    assert_eq!(effects("stranger"), 1);
    for (table, rows) in [("inbox", 2), ("claim", 2), ("quarantine", 0)] {
        let count = format!("select count(*) from webhook.{table}");
        assert_eq!(block_on(store.number(&count)), rows, "{table}");
    }
}

#[test]
fn a_connection_cut_in_inbox_mode() {
    at_each_cut(Mode::Inbox);
}

#[test]
fn a_connection_cut_in_inline_mode() {
    at_each_cut(Mode::Inline);
}

/// The programs of one mode hold more than a hundred connections together.
static ONE_MODE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Between us and PostgreSQL: before a statement arrives, while it runs, before its answer is back.
fn at_each_cut(mode: Mode) {
    // Poisoned or not: the other mode's failure is its own.
    let _turn = ONE_MODE_AT_A_TIME.lock();
    let statements = [
        // The values of the claim's statement, then those of the handler's: both bear the id.
        ("the claim", ID, 1),
        ("the effect", ID, 2),
        ("the transaction's begin", "BEGIN ISOLATION", 1),
        ("the completion", "state = 'completed', settled_at", 1),
        ("the commit", "COMMIT\0", 1),
    ];
    let moments = [Moment::Asked, Moment::Running, Moment::Answered];
    thread::scope(|scope| {
        let mut cases = Vec::new();
        for (name, words, occurrence) in statements {
            for moment in moments {
                let cut = Cut {
                    words: words.to_owned(),
                    occurrence,
                    moment,
                };
                cases.push(((name, moment), scope.spawn(move || cut_at(cut, mode))));
            }
        }
        let failed: Vec<_> = cases
            .into_iter()
            .filter_map(|(name, case)| case.join().is_err().then_some(name))
            .collect();
        assert!(failed.is_empty(), "cut at {failed:?}");
    });
}

fn cut_at(cut: Cut, mode: Mode) {
    let store = block_on(Postgres::fresh());
    let proxy = Proxy::to(&store.url());
    let victim = Victim::start(VICTIM, &proxy.url, &[]);
    proxy.cut(cut);
    let mut is_acknowledged = false;
    eventually("the connection is cut", || {
        // Where the store was too busy for it, the provider comes again.
        if !is_acknowledged && !proxy.has_cut() {
            let answer = victim.try_post(ID, mode.event_type());
            is_acknowledged = answer.is_some_and(|answer| answer.status == 200);
        }
        proxy.has_cut()
    });
    recovers(&store, &victim, mode, is_acknowledged, || true);
}

#[test]
fn every_point_is_in_the_list() {
    let mut found = Vec::new();
    for folder in ["webhook-core", "webhook-engine", "adapters"] {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        webhook_tests::sources::each(&root.join(folder), &mut |_, text| {
            let calls = text.split("fault_point!(\"").skip(1);
            found.extend(calls.filter_map(|call| Some(call.split_once('"')?.0.to_owned())));
        });
    }
    found.sort();
    found.dedup();
    // The example in the module's documentation is one of them.
    let mut listed: Vec<_> = POINTS.iter().map(|point| point.name.to_owned()).collect();
    listed.sort();
    assert_eq!(found, listed);
}

/// What is built for anybody but these tests has no points and does not react. The feature alone
/// decides that, so it is the same in every profile.
#[test]
fn a_program_built_without_the_feature_has_no_points() {
    let bystander = without_points();
    let (ours, theirs) = (read(VICTIM), read(&bystander));
    for point in POINTS {
        let name = format!("fault-point:{}", point.name);
        assert!(contains(&ours, &name), "{name} is not found where it is");
        assert!(!contains(&theirs, &name), "{name}");
    }
    assert!(!contains(&theirs, "fault-point:"));
    let store = block_on(Sqlite::fresh());
    let victim = Victim::start(&bystander, &store.url(), &["fault=claim.done:abort"]);
    assert!(victim.said().contains("there are no fault points\n"));
    assert_eq!(victim.post(ID, "note.created").status, 200);
    recovers(&store, &victim, Mode::Inbox, true, || true);
}

/// The victim as `cargo build` makes it for anybody: the tests' own dependencies, and with them the
/// feature, are left out.
fn without_points() -> String {
    let built = std::process::Command::new(env!("CARGO"))
        .args(["build", "--workspace", "--bin", "bystander"])
        .args(["--features", "webhook-tests/__bystander"])
        .args(["--message-format", "json", "--quiet"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let said = String::from_utf8(built.stdout).unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let mut messages = said.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(message["executable"].as_str()?.to_owned())
    });
    messages.next_back().expect("cargo says what it built")
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

fn contains(bytes: &[u8], words: &str) -> bool {
    bytes
        .windows(words.len())
        .any(|window| window == words.as_bytes())
}

/// Long enough not to be in anything else that is sent.
const ID: &str = "the-event-at-fault";
const VICTIM: &str = env!("CARGO_BIN_EXE_victim");

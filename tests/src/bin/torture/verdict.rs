//! What became of it all, by SQL.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use webhook_tests::torture::Fate;

use crate::database::Database;
use crate::load::Load;

/// Rows of one event in the inbox: state, and the rest for the reader.
type Rows = HashMap<String, Vec<(String, String)>>;

/// Wait until the inbox has nothing left to do, or for so long that it never will.
pub(crate) fn wait_until_quiet(database: &Database) {
    let began = Instant::now();
    let open = "select event_id from webhook.inbox where state in ('pending', 'processing')";
    while !database.texts(open).unwrap().is_empty() && began.elapsed() < QUIET_WITHIN {
        thread::sleep(Duration::from_millis(200));
    }
}

/// All that is not as promised, and the number of effects.
pub(crate) fn judge(database: &Database, seed: u64, load: &Load) -> (Vec<String>, usize) {
    let mut findings = Vec::new();
    let mut effects: HashMap<String, usize> = HashMap::new();
    for key in database.texts("select event_id from effect").unwrap() {
        *effects.entry(key).or_default() += 1;
    }
    let total = effects.values().sum();
    let mut rows = rows(database);
    for event in load.events() {
        let key = &event.key;
        let has = effects.remove(key).unwrap_or_default();
        let held = rows.remove(key).unwrap_or_default();
        let (wants, state) = match Fate::of(seed, key) {
            Fate::Healthy => (1, "completed"),
            Fate::Hopeless => (0, "dead"),
            Fate::Idle => (0, "completed"),
        };
        let what = match &held[..] {
            _ if has > wants => "has too many effects",
            _ if !event.is_acknowledged => "was never acknowledged",
            _ if has < wants => "is lost",
            [(is, _)] if is == state => continue,
            [_] => "is not what it should be",
            [] => "is not in the inbox",
            _ => "is in the inbox more than once",
        };
        findings.push(format!(
            "{key} {what}: {has} of {wants} effects, should be {state}, is {held:?}"
        ));
    }
    let strangers = effects.keys().chain(rows.keys());
    findings.extend(strangers.map(|key| format!("nobody sent {key}")));
    (findings, total)
}

fn rows(database: &Database) -> Rows {
    let mut rows = Rows::new();
    for row in database.texts(ROWS).unwrap() {
        let (id, row) = row.split_once(' ').unwrap();
        let (state, rest) = row.split_once(' ').unwrap();
        let key = id.split('-').next().unwrap();
        rows.entry(key.to_owned())
            .or_default()
            .push((state.to_owned(), rest.to_owned()));
    }
    rows
}

const ROWS: &str = "
select event_id || ' ' || state || ' failures ' || failures || ', crashes ' || crashes
    || ', hand-backs ' || hand_backs || ', token ' || coalesce(token, 0)
    || ', ' || coalesce(last_error, 'no error')
from webhook.inbox";

const QUIET_WITHIN: Duration = Duration::from_mins(1);

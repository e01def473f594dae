//! `cargo xtask differential`: official libraries as oracles over random requests, valid and changed.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test asserts by panicking"
)]

mod case;
mod document;
mod oracle;
mod random;
mod rules;
mod scheme;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use case::Case;
use oracle::{LIBRARIES, Language, Library, Oracle};
use random::Random;
use rules::{Dispute, RULES, Rule};

/// How many cases are asked at once.
const BATCH: usize = 1000;
/// Disputes without a rule that are shown of each library.
const SHOWN: usize = 8;

/// `FOLDER CASES SEED`: where the interpreters are, how many cases a library; a seed, or 0 for a new one.
fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, cases, seed] = &arguments[..] else {
        return Err("usage: differential FOLDER CASES SEED".to_owned());
    };
    let cases: usize = cases.parse().map_err(|_| "CASES is a number")?;
    let seed: u64 = match seed.parse().map_err(|_| "SEED is a number")? {
        0 => fresh_seed(),
        seed => seed,
    };
    let folder = PathBuf::from(folder);
    let mut python = Oracle::start(
        &folder.join("python/venv/bin/python"),
        &folder.join("python/oracle.py"),
    )?;
    let mut node = Oracle::start("node".as_ref(), &folder.join("node/oracle.mjs"))?;
    println!("seed {seed}, {cases} requests a library");
    let mut is_good = true;
    for library in LIBRARIES {
        let oracle = match library.language {
            Language::Node => &mut node,
            Language::Python => &mut python,
        };
        is_good &= compare(library, oracle, cases, seed)?;
    }
    Ok(is_good)
}

fn fresh_seed() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "nothing is judged by this clock")]
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    1 + u64::from(now.subsec_nanos()) + now.as_secs() % 1_000_000 * 1_000_000_000
}

/// Whether every dispute has a rule, and every rule that is documented of this library its dispute.
fn compare(
    library: &Library,
    oracle: &mut Oracle,
    cases: usize,
    seed: u64,
) -> Result<bool, String> {
    let provider = library.scheme.provider();
    let mut random = Random::new(seed);
    let (mut taken, mut refused, mut unexplained) = (0_usize, 0_usize, 0_usize);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let mut left = cases;
    while left > 0 {
        let batch: Vec<Case> = (0..left.min(BATCH))
            .map(|_| Case::new(library.scheme, &mut random))
            .collect();
        left -= batch.len();
        let answers = oracle.ask(library, &batch)?;
        for (case, theirs) in batch.iter().zip(&answers) {
            let ours = case.judge(&*provider);
            match (ours.is_ok(), theirs.ok) {
                (true, true) => taken += 1,
                (false, false) => refused += 1,
                _ => {
                    let dispute = Dispute {
                        case,
                        provider: &*provider,
                        peer: library,
                        ours: &ours,
                        theirs,
                    };
                    if let Some(rule) = Rule::of(&dispute) {
                        *found.entry(rule.name).or_default() += 1;
                        continue;
                    }
                    unexplained += 1;
                    if unexplained <= SHOWN {
                        show(&dispute);
                    }
                }
            }
        }
    }
    println!(
        "{}: both take {taken}, both refuse {refused}, no rule for {unexplained}",
        library.name
    );
    let mut is_good = unexplained == 0 && taken > 0 && refused > 0;
    for rule in RULES {
        let times = found.get(rule.name).copied().unwrap_or(0);
        let is_listed = rule.with.contains(&library.name);
        if times > 0 {
            println!("    {}: {times}", rule.name);
        }
        if is_listed != (times > 0) {
            let fault = if is_listed {
                "is listed and did not occur"
            } else {
                "occurred and is not listed"
            };
            println!("    {}: {fault}: {}", rule.name, rule.says);
            is_good = false;
        }
    }
    Ok(is_good)
}

fn show(dispute: &Dispute<'_>) {
    let case = dispute.case;
    println!(
        "--- {}, {}, now {}",
        dispute.peer.name, case.change, case.now
    );
    for (name, value) in &case.head {
        println!("    {name}: {}", value.escape_ascii());
    }
    let shown = &case.body[..case.body.len().min(100)];
    println!("    body: {}", shown.escape_ascii());
    println!("    ours: {:?}", dispute.ours);
    println!("    theirs: {} {}", dispute.theirs.ok, dispute.theirs.why);
}

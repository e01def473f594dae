//! Instructions a request costs a server, counted by valgrind: they repeat where times do not.
//!
//! The server runs twice, for few and for many requests; the difference is what the requests cost.
//! valgrind hides the processor's SHA extensions, so hashing is counted apart and left out.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::load;
use crate::server::Server;

/// Instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Count {
    /// In SHA-2.
    pub(crate) hashing: f64,
    /// Elsewhere.
    pub(crate) other: f64,
}

/// Instructions a request, or why they cannot be counted.
pub(crate) fn per_request(
    server: Server,
    request: &[u8],
    (few, many): (u64, u64),
) -> Result<Count, String> {
    let fewer = run(server, request, few)?;
    let more = run(server, request, many)?;
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    let requests = many.saturating_sub(few) as f64;
    Ok(Count {
        hashing: (more.hashing - fewer.hashing) / requests,
        other: (more.other - fewer.other) / requests,
    })
}

fn run(server: Server, request: &[u8], times: u64) -> Result<Count, String> {
    let name = format!("webhook-bench-{}.callgrind", std::process::id());
    let output = std::env::temp_dir().join(name);
    let counted = count(server, request, times, &output).map_err(|fault| fault.to_string());
    let _ = std::fs::remove_file(&output);
    counted
}

fn count(server: Server, request: &[u8], times: u64, output: &Path) -> std::io::Result<Count> {
    let mut out_file = std::ffi::OsString::from("--callgrind-out-file=");
    out_file.push(output);
    let mut valgrind = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(out_file)
        .arg(std::env::current_exe()?)
        .args([SERVE, server.name()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|_| std::io::Error::other("valgrind is not installed"))?;
    // Open for as long as it is to serve.
    let hold = valgrind.stdin.take();
    let mut address = String::new();
    if let Some(stdout) = valgrind.stdout.take() {
        BufReader::new(stdout).read_line(&mut address)?;
    }
    let address = address.trim().parse().map_err(std::io::Error::other)?;
    load::send(address, request, times)?;
    drop(hold);
    valgrind.wait()?;
    Ok(sum(&std::fs::read_to_string(output)?))
}

// Input: callgrind's profile: `fn=(7) name` at first and `fn=(7)` later begins a function's lines, which
//   are `line cost` each; the line after `calls=` is what the callee cost, and counted there.
// Output: the sums over all functions
fn sum(profile: &str) -> Count {
    let mut is_hash = HashMap::new();
    let mut count = Count::default();
    let mut hashing = false;
    let mut of_callee = false;
    for line in profile.lines() {
        if let Some(function) = line.strip_prefix("fn=").or(line.strip_prefix("cfn=")) {
            let (id, name) = function.split_once(' ').unwrap_or((function, ""));
            if !name.is_empty() {
                is_hash.insert(id, name.contains("sha2::"));
            }
            if line.starts_with("fn=") {
                hashing = is_hash.get(id).copied().unwrap_or_default();
            }
        } else if line.starts_with("calls=") {
            of_callee = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse().ok());
            if std::mem::take(&mut of_callee) {
                continue;
            }
            if hashing {
                count.hashing += cost.unwrap_or(0.0);
            } else {
                count.other += cost.unwrap_or(0.0);
            }
        }
    }
    count
}

/// How this program is told to be a server: until its standard input ends.
pub(crate) const SERVE: &str = "--serve";

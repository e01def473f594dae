//! `cargo xtask provider-pages`: docs/providers.md from what the crates declare, and from deliveries that they sign and read.

mod page;

use std::process::ExitCode;

/// `FILE`: where the page goes.
fn main() -> ExitCode {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("usage: provider-pages FILE");
        return ExitCode::FAILURE;
    };
    match std::fs::write(&file, page::all()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("error: {}: {fault}", file.display());
            ExitCode::FAILURE
        }
    }
}

//! `cargo xtask provider-pages`: docs/providers.md from the crates. `tools/` writes it, and its test finds drift.

use crate::command::{cargo, run as run_step, workspace};
use crate::failure::Failure;

/// # Errors
///
/// Fails if the tool does not build, or the page cannot be written.
pub(crate) fn run() -> Result<(), Failure> {
    let page = workspace().join("docs").join("providers.md");
    let mut tool = cargo(["run", "--quiet", "--locked", "--package", "webhook-tools"]);
    run_step(tool.args(["--bin", "provider-pages", "--"]).arg(page))
}

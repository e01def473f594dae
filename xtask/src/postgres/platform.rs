//! What the standard library offers on Unix only.
//!
//! Elsewhere the framework builds and its tests run, with `TEST_DATABASE_URL` set by hand.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;
use std::process::Command;

/// Keep the terminal's signals from `command`.
pub(crate) fn own_process_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Create a directory that nobody else can enter.
///
/// # Errors
///
/// Fails if there is something of that name already.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

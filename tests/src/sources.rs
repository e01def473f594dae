//! The project's own sources, for tests about them.

use std::path::Path;

/// Give every Rust file under `folder` to `see`: where it is, and its text.
///
/// # Panics
///
/// If one cannot be read.
pub fn each(folder: &Path, see: &mut impl FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") && !path.ends_with(".git") {
                each(&path, see);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            see(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}

//! Finding the server's programs.

use std::cmp::Reverse;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::install;
use crate::command::{first_line, say};
use crate::failure::Failure;

/// A directory with `initdb`, `pg_ctl` and `postgres` in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Binaries(PathBuf);

impl Binaries {
    /// Look where packages put them; failing that, install the package.
    ///
    /// # Errors
    ///
    /// Fails if they are missing and cannot be installed without asking; says what to install.
    pub(crate) fn find_or_install() -> Result<Self, Failure> {
        let path = env::var_os("PATH").unwrap_or_default();
        let find = || Self::find(&path, Path::new("/"));
        let found = if let Some(found) = find() {
            found
        } else {
            install::install()?;
            find().ok_or_else(|| Failure::Message(NOT_FOUND_YET.to_owned()))?
        };
        let version = first_line(Command::new(found.postgres()).arg("--version"));
        say(&format!(
            "using {} in {}",
            version.as_deref().unwrap_or("PostgreSQL"),
            found.directory().display()
        ));
        Ok(found)
    }

    /// Trust that `directory` has them.
    pub(crate) fn in_directory(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// `path` in its order, then each family of packages under `root`, newest version first.
    fn find(path: &OsStr, root: &Path) -> Option<Self> {
        env::split_paths(path)
            .filter(|directory| directory.is_absolute())
            .chain(FAMILIES.iter().flat_map(|family| family.directories(root)))
            .find(|directory| {
                PROGRAMS
                    .iter()
                    .all(|program| directory.join(program).is_file())
            })
            .map(Self)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.0
    }

    pub(crate) fn initdb(&self) -> PathBuf {
        self.0.join("initdb")
    }

    pub(crate) fn pg_ctl(&self) -> PathBuf {
        self.0.join("pg_ctl")
    }

    pub(crate) fn postgres(&self) -> PathBuf {
        self.0.join("postgres")
    }
}

/// Where one kind of package puts its versions: `parent/PREFIXversion/below`.
#[derive(Debug)]
struct Family {
    parent: &'static str,
    prefix: &'static str,
    below: &'static str,
}

impl Family {
    const fn new(parent: &'static str, prefix: &'static str, below: &'static str) -> Self {
        Self {
            parent,
            prefix,
            below,
        }
    }

    fn directories(&self, root: &Path) -> impl Iterator<Item = PathBuf> + use<> {
        let parent = root.join(self.parent);
        let mut found: Vec<(Vec<u32>, PathBuf)> = fs::read_dir(&parent)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let rest = name.to_str()?.strip_prefix(self.prefix)?;
                Some((version(rest), entry.path().join(self.below)))
            })
            .collect();
        found.sort_by_key(|(version, _)| Reverse(version.clone()));
        found.into_iter().map(|(_, directory)| directory)
    }
}

// Input: `9.6`, `15`, `@17`, `-18`, or a name without a number such as `latest`
// Output: [9, 6], [15], [17], [18], or nothing, which sorts as the oldest
fn version(text: &str) -> Vec<u32> {
    text.trim_start_matches(['@', '-'])
        .split('.')
        .map_while(|number| number.parse().ok())
        .collect()
}

const NOT_FOUND_YET: &str = "PostgreSQL was installed, but initdb, pg_ctl and postgres are still \
    not found: add their directory to PATH";

const PROGRAMS: [&str; 3] = ["initdb", "pg_ctl", "postgres"];

const FAMILIES: [Family; 8] = [
    Family::new("usr/lib/postgresql", "", "bin"), // Debian, Ubuntu
    Family::new("usr", "pgsql-", "bin"),          // PostgreSQL's own RPMs
    Family::new("usr/libexec", "postgresql", ""), // Alpine
    Family::new("opt/homebrew/opt", "postgresql", "bin"),
    Family::new("usr/local/opt", "postgresql", "bin"),
    Family::new("home/linuxbrew/.linuxbrew/opt", "postgresql", "bin"),
    Family::new("Applications/Postgres.app/Contents/Versions", "", "bin"),
    Family::new("usr/local", "pgsql", "bin"), // built from source
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory tree of its own per test, deleted at the end.
    struct Root(PathBuf);

    impl Root {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn with(self, directory: &str) -> Self {
            self.with_only(directory, &PROGRAMS)
        }

        fn with_only(self, directory: &str, programs: &[&str]) -> Self {
            let directory = self.0.join(directory);
            fs::create_dir_all(&directory).unwrap();
            for program in programs {
                fs::write(directory.join(program), "").unwrap();
            }
            self
        }

        fn find(&self, path: &[&str]) -> Option<PathBuf> {
            let path = env::join_paths(path.iter().map(|part| self.0.join(part))).unwrap();
            let found = Binaries::find(&path, &self.0)?;
            Some(found.0.strip_prefix(&self.0).unwrap().to_owned())
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        let root = Root::new("nothing");
        assert_eq!(root.find(&["bin", "usr/bin"]), None);
    }

    #[test]
    fn path_comes_first_and_in_order() {
        let root = Root::new("path")
            .with("usr/lib/postgresql/18/bin")
            .with("opt/b")
            .with("opt/a");
        assert_eq!(root.find(&["opt/b", "opt/a"]), Some("opt/b".into()));
    }

    #[test]
    fn a_directory_must_have_all_programs() {
        let root = Root::new("all")
            .with_only("bin", &["pg_ctl", "postgres"])
            .with_only("usr/lib/postgresql/17/bin", &["initdb"])
            .with("usr/lib/postgresql/16/bin");
        assert_eq!(
            root.find(&["bin"]),
            Some("usr/lib/postgresql/16/bin".into())
        );
    }

    #[test]
    fn the_highest_version_wins_as_a_number() {
        let root = Root::new("highest")
            .with("usr/lib/postgresql/9.6/bin")
            .with("usr/lib/postgresql/15/bin")
            .with("usr/lib/postgresql/100/bin")
            .with("usr/lib/postgresql/current/bin");
        assert_eq!(root.find(&[]), Some("usr/lib/postgresql/100/bin".into()));
    }

    #[test]
    fn families_are_tried_in_order() {
        let root = Root::new("families")
            .with("opt/homebrew/opt/postgresql@18/bin")
            .with("usr/libexec/postgresql18")
            .with("usr/pgsql-14/bin");
        assert_eq!(root.find(&[]), Some("usr/pgsql-14/bin".into()));

        fs::remove_dir_all(root.0.join("usr/pgsql-14")).unwrap();
        assert_eq!(root.find(&[]), Some("usr/libexec/postgresql18".into()));

        fs::remove_dir_all(root.0.join("usr")).unwrap();
        assert_eq!(
            root.find(&[]),
            Some("opt/homebrew/opt/postgresql@18/bin".into())
        );
    }

    #[test]
    fn versions_are_read_from_directory_names() {
        for (name, numbers) in [
            ("15", &[15][..]),
            ("9.6", &[9, 6]),
            ("@17", &[17]),
            ("-13", &[13]),
            ("", &[]),
            ("latest", &[]),
        ] {
            assert_eq!(version(name), numbers, "{name}");
        }
    }
}

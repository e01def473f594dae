//! One setting, read into key configurations.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use webhook_core::bounds::MAX_TIMESTAMP_DIGITS;
use webhook_core::{KeyConfig, Secret};
use zeroize::Zeroizing;

use super::{Cause, KeysError};

/// Where some keys of a keyring come from.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Directory {
        path: PathBuf,
        retiring: bool,
    },
    Env {
        var: String,
        form: Form,
    },
    File {
        path: PathBuf,
        id: Option<String>,
        retiring: bool,
    },
    Literal(KeyConfig),
}

/// One key as read, and the setting to name if it cannot be used.
pub(super) struct Found {
    pub(super) key: KeyConfig,
    pub(super) setting: String,
}

/// What a variable holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// One secret.
    One { retiring: bool },
    /// Secrets, comma separated.
    List,
    /// `kid=secret`, comma separated.
    Named,
}

/// Longest file read.
pub(super) const MAX_FILE_BYTES: usize = 16 * 1024;
/// Most entries of a directory, hidden ones included.
pub(super) const MAX_ENTRIES: usize = 64;
/// Ends the name of a file that says when its key ends.
const END: &str = ".retire_at";

impl Part {
    /// The same, for keys that only verify.
    pub(super) fn retiring(self) -> Self {
        match self {
            Self::Directory { path, .. } => Self::Directory {
                path,
                retiring: true,
            },
            Self::Env {
                var,
                form: Form::One { .. },
            } => Self::Env {
                var,
                form: Form::One { retiring: true },
            },
            Self::File { path, id, .. } => Self::File {
                path,
                id,
                retiring: true,
            },
            Self::Literal(key) => Self::Literal(key.retiring()),
            // What does not come first is retiring anyway.
            listed @ Self::Env { .. } => listed,
        }
    }

    /// Whether it may read differently later.
    pub(super) fn may_change(&self) -> bool {
        matches!(self, Self::Directory { .. } | Self::File { .. })
    }

    /// Read it. Only what comes `first` may be active in a list.
    pub(super) fn read(&self, first: bool) -> Result<Vec<Found>, KeysError> {
        let keys = match self {
            Self::Literal(key) => vec![key.clone()],
            Self::File { path, id, retiring } => {
                let secret = read(path).map_err(|cause| cause.at(self.to_string()))?;
                let key = KeyConfig::new(Secret::new(trimmed(&secret)));
                let key = match id {
                    Some(id) => key.id(id.clone()),
                    None => key,
                };
                vec![role(key, !retiring)]
            }
            // Each of its files is a setting of its own.
            Self::Directory { path, retiring } => return directory(path, first && !retiring),
            Self::Env { var, form } => {
                env(var, *form, first).map_err(|cause| cause.at(self.to_string()))?
            }
        };
        let found = |key| Found {
            key,
            setting: self.to_string(),
        };
        Ok(keys.into_iter().map(found).collect())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, .. } => write!(f, "directory {}", path.display()),
            Self::Env { var, .. } => write!(f, "environment variable {var}"),
            Self::File { path, .. } => write!(f, "file {}", path.display()),
            Self::Literal(_) => f.write_str("keys given in code"),
        }
    }
}

fn env(var: &str, form: Form, first: bool) -> Result<Vec<KeyConfig>, Cause> {
    let text = Zeroizing::new(std::env::var(var).map_err(|error| match error {
        std::env::VarError::NotPresent => Cause::Unset,
        std::env::VarError::NotUnicode(_) => Cause::NotText,
    })?);
    let mut keys = Vec::new();
    match form {
        Form::One { retiring } => keys.push(role(KeyConfig::new(&**text), !retiring)),
        Form::List => {
            for (index, secret) in text.split(',').enumerate() {
                keys.push(role(KeyConfig::new(secret), first && index == 0));
            }
        }
        Form::Named => {
            for (index, element) in text.split(',').enumerate() {
                let position = index.saturating_add(1);
                let (id, secret) = element.split_once('=').ok_or(Cause::Unnamed(position))?;
                keys.push(role(KeyConfig::new(secret).id(id), first && index == 0));
            }
        }
    }
    Ok(keys)
}

// Input: a directory with `2025-06`, `2025-06.retire_at`, `2025-07`, `..data`
// Output: `2025-07`, then `2025-06`, retiring
fn directory(path: &Path, first: bool) -> Result<Vec<Found>, KeysError> {
    let setting = |at: &Path| format!("file {}", at.display());
    let fault = |at: &Path, cause: Cause| cause.at(setting(at));
    let (mut secrets, mut ends) = (BTreeMap::new(), BTreeMap::new());
    for name in names(path).map_err(|cause| cause.at(format!("directory {}", path.display())))? {
        let file = path.join(&name);
        let name = name
            .into_string()
            .map_err(|_| fault(&file, Cause::NotAName))?;
        let content = match read(&file) {
            // A directory of a mount's own.
            Err(Cause::NotAFile) if file.is_dir() => continue,
            content => content.map_err(|cause| fault(&file, cause))?,
        };
        if let Some(id) = name.strip_suffix(END) {
            let end = unix_secs(trimmed(&content)).ok_or_else(|| fault(&file, Cause::NotATime))?;
            ends.insert(id.to_owned(), (end, file));
        } else {
            secrets.insert(name, content);
        }
    }
    let active = secrets.keys().rev().find(|id| !ends.contains_key(*id));
    let active = active.filter(|_| first).cloned();
    let mut keys = Vec::new();
    for (id, secret) in secrets {
        let key = KeyConfig::new(Secret::new(trimmed(&secret))).id(id.clone());
        let found = |key| Found {
            key,
            setting: setting(&path.join(&id)),
        };
        match ends.remove(&id) {
            Some((end, _)) => keys.push(found(key.retire_at(end))),
            // A keyring begins with the active one.
            None if active.as_ref() == Some(&id) => keys.insert(0, found(key)),
            None => keys.push(found(key.retiring())),
        }
    }
    if let Some((_, file)) = ends.into_values().next() {
        return Err(fault(&file, Cause::NoSuchKey));
    }
    Ok(keys)
}

/// What a directory shows, in no order.
fn names(path: &Path) -> Result<Vec<std::ffi::OsString>, Cause> {
    let unreadable = |error: io::Error| Cause::Unreadable(error.kind());
    let mut names = Vec::new();
    for (count, entry) in fs::read_dir(path).map_err(unreadable)?.enumerate() {
        if count == MAX_ENTRIES {
            return Err(Cause::TooMany);
        }
        let name = entry.map_err(unreadable)?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    Ok(names)
}

/// A regular file, whole. Looked at before it is opened: opening a pipe would wait for its writer.
fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Cause> {
    const LIMIT: usize = MAX_FILE_BYTES + 1;
    let unreadable = |error: io::Error| Cause::Unreadable(error.kind());
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Cause::NotAFile);
    }
    // All at once: a vector that grows would leave copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(LIMIT));
    let file = File::open(path).map_err(unreadable)?;
    file.take(LIMIT as u64)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(Cause::TooLong);
    }
    Ok(bytes)
}

/// Without one newline at its end.
fn trimmed(content: &[u8]) -> &[u8] {
    let line = content.strip_suffix(b"\n").unwrap_or(content);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn unix_secs(text: &[u8]) -> Option<i64> {
    let digits = (1..=MAX_TIMESTAMP_DIGITS).contains(&text.len());
    if !digits || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn role(key: KeyConfig, active: bool) -> KeyConfig {
    if active { key } else { key.retiring() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use webhook_core::{Keyring, SecretFormat};

    use super::super::{Keys, tests::Dir};
    use super::*;

    const TEXT: SecretFormat = SecretFormat::Text { prefix: "" };

    /// Id, end and whether it is retiring, of every key.
    fn keys(keys: Keys) -> Result<Vec<(String, Option<i64>, bool)>, String> {
        let ring = keys.keyring(TEXT).map_err(|error| error.to_string())?;
        let ring: &Keyring = &ring;
        let told = |key: webhook_core::KeyInfo| (key.name(), key.retire_at, key.is_retiring);
        Ok(ring.infos().map(told).collect())
    }

    #[test]
    fn one_trailing_newline_of_a_file_is_trimmed_and_no_more() {
        let dir = Dir::new("newline");
        for (text, good) in [
            ("0123456789abcdef", true),
            ("0123456789abcdef\n", true),
            ("0123456789abcdef\r\n", true),
            ("0123456789abcdef\n\n", false),
            ("\n", false),
            ("", false),
        ] {
            dir.write("key", text);
            assert_eq!(keys(Keys::file(dir.path("key"))).is_ok(), good, "{text:?}");
        }
    }

    #[test]
    fn files_that_are_none_or_too_long_are_refused_unread() {
        let dir = Dir::new("long");
        dir.write("key", &"a".repeat(MAX_FILE_BYTES + 1));
        let told = keys(Keys::file(dir.path("key"))).unwrap_err();
        assert!(told.ends_with("longer than 16384 bytes"), "{told}");
        let told = keys(Keys::file(dir.path(""))).unwrap_err();
        assert!(told.ends_with("it is no regular file"), "{told}");
        // Opened, it would wait for its writer for ever.
        let mut mkfifo = std::process::Command::new("mkfifo");
        assert!(mkfifo.arg(dir.path("pipe")).status().unwrap().success());
        let told = keys(Keys::file(dir.path("pipe"))).unwrap_err();
        assert!(told.ends_with("it is no regular file"), "{told}");
    }

    #[test]
    fn a_named_file_bears_its_id() {
        let dir = Dir::new("named");
        dir.write("key", "0123456789abcdef");
        let named = keys(Keys::file_named("k1", dir.path("key"))).unwrap();
        assert_eq!(named, [("k1".to_owned(), None, false)]);
    }

    #[test]
    fn in_a_directory_the_last_without_an_end_is_active() {
        let dir = Dir::new("directory");
        dir.write("2025-05", "secret-of-may-2025\n");
        dir.write("2025-06", "secret-of-june-2025\n");
        dir.write("2025-07", "secret-of-july-2025\n");
        dir.write("2025-07.retire_at", "1750000000\n");
        let read = || keys(Keys::directory(dir.path("")));
        assert_eq!(
            read().unwrap(),
            [
                ("2025-06".to_owned(), None, false),
                ("2025-05".to_owned(), None, true),
                ("2025-07".to_owned(), Some(1_750_000_000), true),
            ]
        );
        for end in ["", "soon", "-1", "+1", " 1", "1.5", "1234567890123456"] {
            dir.write("2025-07.retire_at", end);
            let told = read().unwrap_err();
            assert!(
                told.contains("2025-07.retire_at: it is not"),
                "{end}: {told}"
            );
        }
        dir.remove("2025-07.retire_at");
        dir.write("2025-08.retire_at", "1750000000");
        assert!(
            read()
                .unwrap_err()
                .ends_with("no key of that name beside it")
        );
    }

    #[test]
    fn a_directory_without_an_active_key_or_with_strange_names_is_refused() {
        let dir = Dir::new("strange");
        let read = || keys(Keys::directory(dir.path("")));
        assert!(read().unwrap_err().ends_with("no key is given"));
        dir.write("a", "0123456789abcdef");
        dir.write("a.retire_at", "1750000000");
        assert!(read().unwrap_err().contains("no key is active"));
        dir.remove("a.retire_at");
        dir.write("a~", "fedcba9876543210");
        let told = read().unwrap_err();
        let file = format!("file {}: id of key", dir.path("a~").display());
        assert!(told.starts_with(&file), "{told}");
        dir.remove("a~");
        dir.write("b", "short");
        let told = read().unwrap_err();
        let file = format!("file {}: key 1 is shorter", dir.path("b").display());
        assert!(told.starts_with(&file), "{told}");
        for more in ["b", "c", "d", "e"] {
            dir.write(more, &format!("0123456789abcde{more}-2"));
        }
        assert!(read().unwrap_err().contains("more than 4 keys"));
    }

    #[test]
    fn a_mount_of_kubernetes_is_read_through_its_links() {
        let dir = Dir::new("mount");
        std::fs::create_dir(dir.path("..2025_06")).unwrap();
        dir.write("..2025_06/k1", "0123456789abcdef");
        symlink("..2025_06", dir.path("..data")).unwrap();
        symlink("..data/k1", dir.path("k1")).unwrap();
        let read = keys(Keys::directory(dir.path(""))).unwrap();
        assert_eq!(read, [("k1".to_owned(), None, false)]);
    }

    #[test]
    fn a_directory_behind_others_is_retiring() {
        let dir = Dir::new("behind");
        dir.write("old", "0123456789abcdef");
        let first = || Keys::new([KeyConfig::new("fedcba9876543210").id("new")]);
        let read = keys(first().retiring(Keys::directory(dir.path("")))).unwrap();
        assert!(!read[0].2 && read[1].2, "{read:?}");
    }
}

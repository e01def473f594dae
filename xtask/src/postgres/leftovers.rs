//! Files of clusters, and who still needs them.
//!
//! Each keeper has a *record*, a file beside this program which holds the path of its files and
//! which it keeps locked. The system lets go of the lock when the keeper dies, so that an
//! unlocked record belongs to nobody, and what it names may be deleted.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::account::Account;
use super::binaries::Binaries;
use super::platform::create_private_dir;
use super::server;
use crate::command::{first_line, say};
use crate::failure::Failure;

/// The directory of one cluster. Dropping it deletes the directory and the record.
#[derive(Debug)]
pub(crate) struct Home {
    path: PathBuf,
    record: PathBuf,
    /// Locked until the end.
    _lock: File,
}

impl Home {
    /// Make a directory that `account` can work in, known to nobody else.
    ///
    /// # Errors
    ///
    /// Fails if no directory for temporary files will do.
    pub(crate) fn create(account: &Account) -> Result<Self, Failure> {
        let name = format!("{PREFIX}{}", random_hex()?);
        let records = records()?;
        fs::create_dir_all(&records).map_err(cannot_create(&records))?;
        let record = records.join(&name);
        let mut lock = File::create_new(&record).map_err(cannot_create(&record))?;
        // Not every file system has locks. Without them, leftovers stay.
        let _ = lock.lock();

        let mut home = Self {
            path: PathBuf::new(),
            record,
            _lock: lock.try_clone().map_err(cannot_create(&records))?,
        };
        // The second and the third for a root whose own one is closed to others.
        for parent in [&env::temp_dir(), Path::new("/tmp"), Path::new("/var/tmp")] {
            home.path = parent.join(&name);
            if create_private_dir(&home.path).is_err() {
                continue;
            }
            if account.take_over(&home.path) {
                lock.write_all(home.path.as_os_str().as_encoded_bytes())
                    .map_err(cannot_create(&home.record))?;
                return Ok(home);
            }
            let _ = fs::remove_dir(&home.path);
        }
        Err(Failure::Message(format!(
            "no directory for temporary files that the server can use: tried {}, /tmp and /var/tmp",
            env::temp_dir().display()
        )))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        delete(&self.path, &self.record);
    }
}

/// Stop and delete what dead keepers have left.
///
/// # Errors
///
/// Fails if the records cannot be found. What cannot be deleted is reported and stays.
pub(crate) fn sweep(binaries: &Binaries, account: &Account) -> Result<(), Failure> {
    for entry in fs::read_dir(records()?).into_iter().flatten().flatten() {
        let Some((_lock, path)) = abandoned(&entry.path()) else {
            continue;
        };
        say(&format!(
            "cleaning up after an earlier run: {}",
            path.display()
        ));
        let data = path.join(server::DATA);
        if server::postmaster(&data).is_some_and(|pid| is_server_of(&pid, &data)) {
            server::stop(binaries, account, &data);
        }
        delete(&path, &entry.path());
    }
    Ok(())
}

/// The directory that a record names, if its keeper is dead. The file is the lock on it.
fn abandoned(record: &Path) -> Option<(File, PathBuf)> {
    let mut file = File::open(record).ok()?;
    file.try_lock().ok()?;
    let mut path = String::new();
    file.read_to_string(&mut path).ok()?;
    let path = PathBuf::from(path);
    // A record still empty is that of a keeper about to lock it.
    let ours = path.file_name()?.to_str()?.starts_with(PREFIX);
    (ours && path.is_absolute()).then_some((file, path))
}

/// A process id may have gone to another program since, after a restart of the machine.
fn is_server_of(pid: &str, data: &Path) -> bool {
    let data = data.to_string_lossy();
    let line = fs::read_to_string(format!("/proc/{pid}/cmdline"))
        .ok()
        .or_else(|| first_line(Command::new("ps").args(["-ww", "-o", "args=", "-p", pid])));
    line.is_some_and(|line| line.contains(data.as_ref()))
}

fn delete(path: &Path, record: &Path) {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            say(&format!("cannot delete {}: {error}", path.display()));
        }
        _ => drop(fs::remove_file(record)),
    }
}

fn records() -> Result<PathBuf, Failure> {
    let this = env::current_exe().map_err(Failure::cannot("find this program's own file"))?;
    Ok(this.with_file_name("xtask-clusters"))
}

fn cannot_create(path: &Path) -> impl FnOnce(io::Error) -> Failure + use<> {
    Failure::cannot(format!("create {}", path.display()))
}

/// 128 bits that cannot be guessed.
///
/// # Errors
///
/// Fails where there is no `/dev/urandom`.
pub(crate) fn random_hex() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(Failure::cannot("read /dev/urandom"))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

const PREFIX: &str = "webhook-postgres-";

//! Running the command.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// The variable that tests put secrets into.
pub(crate) const VAR: &str = "TEST_SECRET";

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

/// A call of the command.
pub(crate) struct Call(Command, Vec<u8>);

pub(crate) fn webhook<const N: usize>(arguments: [&str; N]) -> Call {
    let mut command = Command::new(env!("CARGO_BIN_EXE_webhook"));
    command.args(arguments);
    command.env_remove("WEBHOOK_LEDGER").env_remove("NO_COLOR");
    Call(command, Vec::new())
}

impl Call {
    pub(crate) fn arg(mut self, argument: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    /// With this secret, by its variable.
    pub(crate) fn secret(mut self, secret: &str) -> Self {
        self.0.args(["--secret-env", VAR]).env(VAR, secret);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn stdin(mut self, bytes: &[u8]) -> Self {
        self.1 = bytes.to_vec();
        self
    }

    /// The process, for what does not end by itself.
    pub(crate) fn command(self) -> Command {
        self.0
    }

    pub(crate) fn run(mut self) -> Ended {
        let mut child = self
            .0
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Whoever reads no input closes it.
        let _ = child.stdin.take().unwrap().write_all(&self.1);
        let ended = child.wait_with_output().unwrap();
        Ended {
            code: ended.status.code().unwrap(),
            out: ended.stdout,
            err: String::from_utf8(ended.stderr).unwrap(),
        }
    }
}

impl Ended {
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, expected, "{}\n{}", self.text(), self.err);
        self
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A folder of its own, removed with the value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("cli-{}-{nth}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

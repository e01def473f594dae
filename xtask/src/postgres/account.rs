//! The user that the server runs as. PostgreSQL refuses to run as root.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::command::{first_line, succeeds};
use crate::failure::Failure;

/// Ourselves, or as root another user and the tool that lets us run programs as that one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Account {
    Other { user: String, tool: Tool },
    Own,
}

impl Account {
    /// As root, `postgres` if that user exists, otherwise `nobody`.
    ///
    /// # Errors
    ///
    /// Fails for a root that cannot become anybody else.
    pub(crate) fn for_server() -> Result<Self, Failure> {
        let uid = id(&["-u"]).ok_or_else(|| Failure::Message("`id -u` fails".to_owned()))?;
        if uid != "0" {
            return Ok(Self::Own);
        }
        ["postgres", "nobody"]
            .iter()
            .find_map(|user| Self::other(user))
            .ok_or_else(|| {
                Failure::Message(
                    "PostgreSQL does not run as root, and neither setpriv nor su can run \
                     programs as `postgres` or `nobody`: run this task as an ordinary user"
                        .to_owned(),
                )
            })
    }

    fn other(user: &str) -> Option<Self> {
        let (uid, gid) = (id(&["-u", user])?, id(&["-g", user])?);
        // Busybox has a `setpriv` that cannot change users, hence a trial of each.
        [Tool::Setpriv { uid, gid }, Tool::Su]
            .into_iter()
            .map(|tool| Self::Other {
                user: user.to_owned(),
                tool,
            })
            .find(|account| succeeds(&mut account.command("true", NONE)))
    }

    /// `program`, to be run as this user, in a directory that every user can enter.
    pub(crate) fn command<I>(&self, program: impl AsRef<OsStr>, arguments: I) -> Command
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let program = program.as_ref();
        let mut command = match self {
            Self::Other {
                tool: Tool::Setpriv { uid, gid },
                ..
            } => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", uid, "--regid", gid, "--clear-groups", "--"]);
                command.arg(program).args(arguments);
                command
            }
            Self::Other {
                user,
                tool: Tool::Su,
            } => {
                // The shell is named, as that of `nobody` usually refuses.
                let mut command = Command::new("su");
                command.args(["-s", "/bin/sh", "-c"]);
                command.arg(shell_line(program, arguments)).arg(user);
                command
            }
            Self::Own => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        command.current_dir("/");
        command
    }

    /// Hand `directory` and all in it over to this user, and say whether that makes it usable:
    /// the way to it may be closed, as it is below `/root`.
    pub(crate) fn take_over(&self, directory: &Path) -> bool {
        if let Self::Other { user, .. } = self {
            let mut chown = Command::new("chown");
            if !succeeds(chown.args(["-R", user]).arg(directory)) {
                return false;
            }
        }
        succeeds(&mut self.command("ls", [directory]))
    }
}

/// How root runs a program as somebody else.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Setpriv { uid: String, gid: String },
    Su,
}

// Input: `/opt/it's/initdb`, [`-D`, `/tmp/x`]
// Output: `exec '/opt/it'\''s/initdb' '-D' '/tmp/x'`
fn shell_line<I>(program: &OsStr, arguments: I) -> String
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut line = "exec".to_owned();
    let mut push = |word: &OsStr| {
        line.push_str(" '");
        line.push_str(&word.to_string_lossy().replace('\'', r"'\''"));
        line.push('\'');
    };
    push(program);
    for argument in arguments {
        push(argument.as_ref());
    }
    line
}

fn id(arguments: &[&str]) -> Option<String> {
    first_line(Command::new("id").args(arguments))
}

const NONE: [&str; 0] = [];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<&str> {
        let program = command.get_program();
        std::iter::once(program)
            .chain(command.get_args())
            .map(|word| word.to_str().unwrap())
            .collect()
    }

    #[test]
    fn ones_own_programs_are_run_as_they_are() {
        let command = Account::Own.command("initdb", ["-D", "a b"]);
        assert_eq!(words(&command), ["initdb", "-D", "a b"]);
        assert_eq!(command.get_current_dir(), Some(Path::new("/")));
    }

    #[test]
    fn setpriv_gives_up_all_groups() {
        let account = Account::Other {
            user: "postgres".to_owned(),
            tool: Tool::Setpriv {
                uid: "101".to_owned(),
                gid: "104".to_owned(),
            },
        };
        let line = "setpriv --reuid 101 --regid 104 --clear-groups -- initdb -D /d";
        let command = account.command("initdb", ["-D", "/d"]);
        assert_eq!(words(&command).join(" "), line);
    }

    #[test]
    fn su_gets_one_line_that_a_shell_takes_apart_again() {
        let account = Account::Other {
            user: "nobody".to_owned(),
            tool: Tool::Su,
        };
        let command = account.command("/it's/initdb", ["$HOME", "a b", ""]);
        assert_eq!(
            words(&command),
            [
                "su",
                "-s",
                "/bin/sh",
                "-c",
                r"exec '/it'\''s/initdb' '$HOME' 'a b' ''",
                "nobody"
            ]
        );
    }
}

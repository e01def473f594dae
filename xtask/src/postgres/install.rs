//! Installing the server where that needs no question: as root, or with a `sudo` that asks nothing.

use std::process::{Command, Stdio};

use crate::command::{first_line, say, succeeds};
use crate::failure::Failure;

/// # Errors
///
/// Fails if there is no known package manager, no right to use it, or it fails. Says what to
/// install by hand.
pub(crate) fn install() -> Result<(), Failure> {
    let installed = |program: &str| succeeds(Command::new(program).arg("--version"));
    let Some((manager, mut command)) = plan(Rights::detect(), installed) else {
        return Err(by_hand("is not installed"));
    };
    say(&format!(
        "PostgreSQL is not installed; installing it with {}:",
        manager.program
    ));
    eprintln!("{}", manager.script.trim_end());
    let status = command.stdin(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(by_hand("could not be installed"))
    }
}

/// What this process may do without asking anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    Ordinary,
    Root,
    Sudo,
}

impl Rights {
    pub(crate) fn detect() -> Self {
        if first_line(Command::new("id").arg("-u")).is_some_and(|uid| uid == "0") {
            Self::Root
        } else if succeeds(Command::new("sudo").args(["-n", "true"])) {
            Self::Sudo
        } else {
            Self::Ordinary
        }
    }
}

/// The first manager that is there and may be used, and the command that uses it.
fn plan(rights: Rights, installed: impl Fn(&str) -> bool) -> Option<(&'static Manager, Command)> {
    let manager = MANAGERS
        .iter()
        .find(|manager| manager.allows(rights) && installed(manager.program))?;
    let mut command = if manager.wants_root && rights == Rights::Sudo {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "sh"]);
        sudo
    } else {
        Command::new("sh")
    };
    command.args(["-c", manager.script]);
    Some((manager, command))
}

fn by_hand(what: &str) -> Failure {
    let mut message = format!(
        "PostgreSQL {what}. Install the server (initdb, pg_ctl and postgres), with one of\n"
    );
    for manager in &MANAGERS {
        message.push_str("    ");
        message.push_str(manager.by_hand);
        message.push('\n');
    }
    message.push_str("or set TEST_DATABASE_URL to a database that tests may write to");
    Failure::Message(message)
}

#[derive(Debug)]
struct Manager {
    program: &'static str,
    by_hand: &'static str,
    script: &'static str,
    /// Homebrew refuses root; the others are of no use without.
    wants_root: bool,
}

impl Manager {
    fn allows(&self, rights: Rights) -> bool {
        match rights {
            Rights::Ordinary => !self.wants_root,
            Rights::Root => self.wants_root,
            Rights::Sudo => true,
        }
    }
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        by_hand: "apt-get install postgresql",
        script: APT,
        wants_root: true,
    },
    Manager {
        program: "dnf",
        by_hand: "dnf install postgresql-server",
        script: "dnf install -y postgresql-server",
        wants_root: true,
    },
    Manager {
        program: "apk",
        by_hand: "apk add postgresql",
        script: "apk add postgresql",
        wants_root: true,
    },
    Manager {
        program: "brew",
        by_hand: "brew install postgresql@17",
        script: "brew install postgresql@17",
        wants_root: false,
    },
];

/// Debian's package creates a cluster and starts it on port 5432, unless a file says no. The
/// file is there for the installation only: what its owner installs later is not our business.
const APT: &str = "\
set -e
conf=/etc/postgresql-common/createcluster.d/webhook-xtask.conf
mkdir -p \"${conf%/*}\"
trap 'rm -f \"$conf\"' EXIT
trap 'exit 130' INT TERM
echo 'create_main_cluster = off' >\"$conf\"
export DEBIAN_FRONTEND=noninteractive
apt-get -q update || echo 'going on with the package lists at hand' >&2
apt-get -q install -y --no-install-recommends postgresql
";

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(rights: Rights, installed: &[&str]) -> Option<String> {
        let (_, command) = plan(rights, |program| installed.contains(&program))?;
        let mut words = vec![command.get_program()];
        words.extend(command.get_args());
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        Some(words.join(" "))
    }

    #[test]
    fn root_uses_the_systems_manager() {
        assert_eq!(
            planned(Rights::Root, &["brew", "apk"]),
            Some("sh -c apk add postgresql".to_owned())
        );
        assert_eq!(planned(Rights::Root, &["brew"]), None);
    }

    #[test]
    fn sudo_is_used_for_managers_that_want_root() {
        assert_eq!(
            planned(Rights::Sudo, &["dnf"]),
            Some("sudo -n sh -c dnf install -y postgresql-server".to_owned())
        );
        assert_eq!(
            planned(Rights::Sudo, &["brew"]),
            Some("sh -c brew install postgresql@17".to_owned())
        );
    }

    #[test]
    fn without_rights_only_homebrew_is_left() {
        assert_eq!(planned(Rights::Ordinary, &["apt-get", "dnf"]), None);
        assert!(planned(Rights::Ordinary, &["apt-get", "brew"]).is_some());
    }

    #[test]
    fn nothing_is_planned_where_no_manager_is() {
        assert!(plan(Rights::Root, |_| false).is_none());
    }

    #[test]
    fn the_message_says_what_to_install() {
        let Failure::Message(message) = by_hand("is not installed") else {
            panic!("a message was expected");
        };
        assert!(message.contains("apt-get install postgresql\n"));
        assert!(message.contains("TEST_DATABASE_URL"));
    }
}

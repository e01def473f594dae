//! The `webhook` command: sign, send, verify and receive the webhooks of every provider, offline, and look after an inbox.
//!
//! Secrets come from the environment, from files or from standard input, and are never printed. Everything that is
//! known of providers stands in their crates and in `webhook-fixtures`; this crate only asks.

mod client;
mod event;
mod events;
mod fault;

mod inbox;
mod keys;
mod ledger;
mod listen;
mod moment;
mod output;
mod probe;
mod secret;
mod send;
mod sign;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::fault::{EXIT_CODES, Fault};
use crate::output::{Output, say_raw};

/// Sign, send, verify and receive the webhooks of every provider, offline; look after an inbox.
#[derive(Debug, Parser)]
#[command(name = "webhook", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    output: Output,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    Events(events::Events),
    Inbox(inbox::Inbox),
    Keys(keys::Keys),
    Listen(listen::Listen),
    Probe(Box<probe::Probe>),
    Send(send::Send),
    Sign(sign::Sign),
    Verify(verify::Verify),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime.block_on(run(&cli)),
        Err(error) => Err(Fault::unreachable(error.to_string())),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            cli.output.fault(&fault);
            fault.into()
        }
    }
}

async fn run(cli: &Cli) -> Result<(), Fault> {
    let output = &cli.output;
    match &cli.command {
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "webhook", &mut script);
            say_raw(&script);
            Ok(())
        }
        Command::Events(command) => command.run(output),
        Command::Inbox(command) => command.run(output).await,
        Command::Keys(command) => command.run(output),
        Command::Listen(command) => command.run(output).await,
        Command::Probe(command) => command.run(output).await,
        Command::Send(command) => command.run(output).await,
        Command::Sign(command) => command.run(output),
        Command::Verify(command) => command.run(output),
    }
}

//! Project tasks: `cargo xtask test`, `check`, `ci`, `bench`, `differential`, `field-test`, `new-provider`, `provider-pages`, `sdk`,
//! `postgres` and `torture`.
//!
//! What needs a database gets a throw-away PostgreSQL cluster of its own, see
//! [`postgres`]. Nothing has to be installed or started by hand.

use std::env;
use std::process::ExitCode;

mod args;
mod bench;
mod browser;
mod check;
mod command;
mod differential;
mod failure;
mod field_test;
mod new_provider;
mod pages;
mod postgres;
mod sdk;
mod summary;
mod test;
mod torture;

use crate::args::Task;
use crate::failure::Failure;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            match &failure {
                // The command has said why itself.
                Failure::Command(_) => {}
                Failure::Message(message) => eprintln!("error: {message}"),
                Failure::Usage(fault) => eprint!("error: {fault}\n\n{}", args::USAGE),
            }
            failure.exit_code()
        }
    }
}

fn run() -> Result<(), Failure> {
    match Task::parse(env::args_os().skip(1)).map_err(Failure::Usage)? {
        Task::Bench { arguments } => bench::run(&arguments),
        Task::Check => check::check(),
        Task::Ci => {
            check::check()?;
            differential::run(&differential::Options::quick())?;
            test::run(&[])
        }
        Task::Differential(options) => differential::run(&options),
        Task::FieldTest { names } => field_test::run(&names),
        Task::Help => {
            print!("{}", args::USAGE);
            Ok(())
        }
        Task::KeepPostgres { binaries } => postgres::keep(binaries),
        Task::NewProvider(options) => new_provider::run(&options),
        Task::Postgres { command } => postgres::run(&command),
        Task::ProviderPages => pages::run(),
        Task::Sdk => sdk::run(),
        Task::Test { arguments } => test::run(&arguments),
        Task::Torture(options) => torture::run(&options),
    }
}

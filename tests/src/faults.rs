//! What goes wrong at a fault point of a victim.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use webhook_core::fault_point;

/// What happens at the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The process is gone.
    Abort,
    /// An error, as of a broken connection.
    Error,
    /// A panic of ours.
    Panic,
    /// Nothing for longer than a lease and any deadline, then on as if nothing had been.
    Stall,
}

impl Action {
    const ALL: [(&str, Self); 4] = [
        ("abort", Self::Abort),
        ("error", Self::Error),
        ("panic", Self::Panic),
        ("stall", Self::Stall),
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, action)| *action == self);
        named.expect("every action has a name").0
    }

    async fn perform(self, point: &str) -> io::Result<()> {
        println!("fault at {point}");
        match self {
            Self::Abort => std::process::abort(),
            Self::Error => return Err(io::ErrorKind::ConnectionReset.into()),
            Self::Panic => panic!("injected at {point}"),
            Self::Stall => actix_web::rt::time::sleep(STALL).await,
        }
        println!("fault over");
        Ok(())
    }
}

/// Let the first to come to the point named in `POINT:ACTION` meet the action. `false` if this
/// program has no points.
///
/// # Panics
///
/// If the words are no point and action.
pub fn arm(words: &str) -> bool {
    let (point, action) = words.split_once(':').expect("POINT:ACTION");
    let action = Action::ALL.iter().find(|(name, _)| *name == action);
    let (_, action) = *action.expect("an action's name");
    let point: &'static str = format!(":{point}").leak();
    let is_done = AtomicBool::new(false);
    fault_point::install(Box::new(move |reached| {
        let is_hit = reached.ends_with(point) && !is_done.swap(true, Ordering::SeqCst);
        Box::pin(async move {
            if is_hit {
                action.perform(reached).await
            } else {
                Ok(())
            }
        })
    }))
}

/// Longer than a victim's lease and every deadline of its.
const STALL: Duration = Duration::from_secs(4);

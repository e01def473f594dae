//! Named places at which tests let something go wrong: `fault_point!("claim.done")`.
//!
//! Without the feature `__fault-points`, which only this project's tests turn on, a point is no code
//! and its name is in no program. With it, a point does nothing until a test says what happens there:
//! nothing here reads an environment or a clock.

use std::io;

use crate::BoxFuture;

/// What happens at a point: nothing, a wait, a panic, the end of the process, or an error.
pub type Hook = Box<dyn Fn(&'static str) -> BoxFuture<'static, io::Result<()>> + Send + Sync>;

/// Call `hook` at every point of this process from now on. `false` if there are no points, or it was
/// said before.
pub fn install(hook: Hook) -> bool {
    #[cfg(feature = "__fault-points")]
    return HOOK.set(hook).is_ok();
    #[cfg(not(feature = "__fault-points"))]
    {
        drop(hook);
        false
    }
}

/// The work is at the point `name`.
///
/// # Errors
///
/// As the hook says.
#[cfg(feature = "__fault-points")]
pub async fn reach(name: &'static str) -> io::Result<()> {
    match HOOK.get() {
        Some(hook) => hook(name).await,
        None => Ok(()),
    }
}

#[cfg(feature = "__fault-points")]
static HOOK: std::sync::OnceLock<Hook> = std::sync::OnceLock::new();

/// A point in an async function, and what an `error` injected there does.
#[cfg(feature = "__fault-points")]
#[doc(hidden)]
#[macro_export]
macro_rules! fault_point {
    ($name:literal, $error:pat => $fail:expr) => {
        if let Err($error) = $crate::fault_point::reach(concat!("fault-point:", $name)).await {
            $fail
        }
    };
}

/// Nothing.
#[cfg(not(feature = "__fault-points"))]
#[doc(hidden)]
#[macro_export]
macro_rules! fault_point {
    ($name:literal, $error:pat => $fail:expr) => {};
}

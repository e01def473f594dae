//! What the cross-crate tests share: real databases, a whole application, HTTP by hand.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

pub mod app;
pub mod faults;
pub mod outbound;
pub mod process;
pub mod proxy;
pub mod sources;
pub mod stores;
pub mod torture;
pub mod victim;
pub mod wire;

/// Run generic tests on both stores, each under the store's name.
#[macro_export]
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() { super::$name::<$crate::stores::Sqlite>(); })+
        }
        mod postgres {
            $(#[test] fn $name() { super::$name::<$crate::stores::Postgres>(); })+
        }
    };
}

//! Sending webhooks.
//!
//! [`guard`] is an HTTP client for addresses that strangers choose, usable alone.

pub mod guard;

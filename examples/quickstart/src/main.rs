//! Receive Stripe, GitHub, Slack and custom webhooks, once each.
fn main() {}

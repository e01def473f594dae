//! The Stripe provider: `Stripe-Signature` as data.

//! The timestamped provider: `X-Webhook-Signature` as data.

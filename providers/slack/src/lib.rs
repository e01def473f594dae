//! The Slack provider: `X-Slack-Signature` as data.

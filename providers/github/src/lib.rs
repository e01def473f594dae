//! The GitHub provider: `X-Hub-Signature-256` as data.

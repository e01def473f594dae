//! Hard bounds of the core. Work before authentication is limited by these alone.

/// Most header fields a request head may carry.
pub const MAX_HEADER_FIELDS: usize = 64;
/// Most bytes of header names and values together.
pub const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Most bytes of a target, path and query, that is read.
pub const MAX_TARGET_BYTES: usize = 8 * 1024;
/// Most parameters of a form that is read.
pub const MAX_FORM_PARAMETERS: usize = 1024;
/// Most parameters of a query that is read.
pub const MAX_QUERY_PARAMETERS: usize = 32;
/// Most candidate signatures an envelope may offer, of which at most [`MAX_KEYS`] by public keys: each of these costs a
/// verification for each key it may be tried with, and by Ed25519 a hash of the whole body; nobody who offers several has
/// to be authentic.
pub const MAX_CANDIDATES: usize = 16;
/// Most contents of which one may be what was signed. Each costs a MAC for each key.
pub const MAX_CONTENTS: usize = 2;
/// Most keys of one keyring. Every key a request may try costs one MAC over its body.
pub const MAX_KEYS: usize = 4;
/// Shortest secret accepted, in bytes. Below it a secret is a typing error.
pub const MIN_SECRET_BYTES: usize = 8;
/// Secrets shorter than this are accepted with a warning, in bytes.
pub const ADVISED_SECRET_BYTES: usize = 24;
/// Longest event id, event type and account, in bytes. Key ids are at most 64.
pub const MAX_ID_BYTES: usize = 255;
/// Most digits of a timestamp.
pub const MAX_TIMESTAMP_DIGITS: usize = 15;
/// Most events one delivery may carry.
pub const MAX_EVENTS_PER_DELIVERY: usize = 1000;
/// Payloads that an endpoint's quarantine keeps unless it is told otherwise, in bytes.
pub const QUARANTINE_BYTES: u64 = 64 * 1024 * 1024;
/// Longest challenge that a key is proven with, in bytes.
pub const MAX_PROOF_BYTES: usize = 256;
/// Longest unsigned text a handshake may echo, in bytes.
pub const MAX_ECHO_BYTES: usize = 256;
/// Longest signed text a handshake may echo, in bytes.
pub const MAX_CHALLENGE_BYTES: usize = 4 * 1024;

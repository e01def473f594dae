//! The WorkOS provider: `WorkOS-Signature` as data.
//!
//! ```text
//! WorkOS-Signature: t=1750000000000, v1=9e121b53ce6d39810e185b23c2f21834a0a60529fe72ea09a5a318e48149607e
//!
//! {"object":"event","id":"event_07FKJ843CVE8F7BXQSPFH0M53V","event":"dsync.user.updated","data":{…}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `t`, `.`, body; HMAC-SHA256 in lower-case hex under the secret text |
//! | window | three minutes on both sides, as WorkOS's libraries have it; `t` is in **milliseconds** |
//! | id, type | `id`, `event` of the body, both signed |
//! | account | `data.organization_id` of the body, where it is there |
//! | handlers decode | `data` |
//! | redelivers | **unverified**: identities are kept until an operator says otherwise |
//!
//! - Elements are parted by a comma **and a space**. WorkOS's Python library splits at both, its Node library at the comma and
//!   leaves the space in a name. After another separator no signature is found.
//! - The Node library signs the parsed body written again, so that it refuses authentic bodies of another spelling.
//!   Here the bytes are verified as they came.
//! - WorkOS signs with one secret. Several `v1` are read all the same, and any match is enough.
//! - Whether a retry is signed anew is **unverified**.
//!
//! # What it will not do
//!
//! Read the signature of an Action: it has the same header and a body of another kind.
//!
//! Sources: workos-python 10.8.0 `webhooks`, @workos-inc/node 8.13.0; workos.com/docs, *Sync data with webhooks*, *Data syncing*.

mod envelope;
mod event;

pub use envelope::WorkOs;

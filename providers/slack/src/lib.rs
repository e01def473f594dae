//! The Slack provider: `X-Slack-Signature` as data.
//!
//! ```text
//! X-Slack-Request-Timestamp: 1531420618
//! X-Slack-Signature: v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503
//!
//! {"type":"event_callback","event_id":"Ev0…","team_id":"T0…","event":{"type":"app_mention", …}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `v0:`, timestamp, `:`, body as sent; HMAC-SHA256 under the signing secret's text |
//! | window | five minutes on both sides; whether a retry is signed anew is not documented |
//! | id, type, account | of the body, all signed; see below |
//! | handlers decode | `event`; common ones are in [`payloads`] |
//! | redelivers | three times within six minutes, hourly for a day with Delayed Events; never at somebody's request |
//!
//! # Three kinds of body
//!
//! Each becomes one JSON shape with the matter under `event`, so that `Event<T>` works for all. What is stored and what
//! `RawEvent` returns is that JSON.
//!
//! | body | type | id | account | `event` |
//! |---|---|---|---|---|
//! | JSON, `event_callback` | `event.type` | `event_id` | `team_id` | `event`; the stored JSON is the body as sent |
//! | JSON, `app_rate_limited` | `app_rate_limited` | app and minute | `team_id` | the body |
//! | form, slash command | `slash_command` | `trigger_id` | `team_id` | the fields, as strings |
//! | form with the field `payload` | `type` in it | `trigger_id` in it | `team.id` | the field's JSON |
//!
//! Where there is no team, as in organisation-wide installations, the account is the enterprise. Slack gives slash
//! commands and interactions no id; `trigger_id` is one of each user action. `view_closed` has none and
//! takes its view's id: a view closes once. Anything else without an id is refused as no event
//! (`block_suggestion` for one, which asks a question and reports nothing).
//!
//! Handshakes, once verified: `url_verification` is answered with its challenge in plain text, `ssl_check` with nothing.
//!
//! # Which events are inside
//!
//! An app that anybody may install gets events of whoever did. An endpoint that is for some workspaces says so, and the
//! rest is acknowledged, counted and not run:
//!
//! ```
//! use webhook_slack::Slack;
//!
//! let all = Slack;
//! let ours = Slack.workspaces(["T070ULYC5VE", "E0ACMEGRID"]); // a workspace, and all of an organisation
//! # let _ = (all, ours);
//! ```
//!
//! # What it will not do
//!
//! Look at the deprecated `token`, or answer a challenge that is not signed, over 4 KiB or holds control characters.
//!
//! Sources: <https://docs.slack.dev/apis/events-api>, <https://docs.slack.dev/authentication/verifying-requests-from-slack>,
//! <https://docs.slack.dev/interactivity/implementing-slash-commands>,
//! <https://docs.slack.dev/reference/interaction-payloads>, <https://docs.slack.dev/reference/events/app_rate_limited>;
//! slackapi/python-slack-sdk 3.48.0 `signature`.

pub mod payloads;

mod envelope;
mod event;

pub use envelope::Slack;

//! An HTTP client for URLs that strangers choose. Usable alone.
//!
//! Whoever sends webhooks makes requests to addresses that customers type, from inside a network whose
//! services trust each other. This client sends them so that the customer learns, and reaches, nothing else
//! (server-side request forgery), and so that no receiver can hold or feed the sender longer than it likes.
//!
//! ```no_run
//! use http::{HeaderMap, HeaderValue};
//! use webhook_dispatch::guard::{CustomerView, GuardedClient, GuardedRequest, Target};
//!
//! # async fn send() -> Result<(), Box<dyn std::error::Error>> {
//! // One per process.
//! let client = GuardedClient::builder().build()?;
//!
//! // When a customer saves an endpoint: parse, and check all that can be checked.
//! let target = Target::parse("https://hooks.example.com/orders")?;
//! client.preflight(&target).await?;
//!
//! // Whenever something is sent to it. The URL was parsed once; the policy is applied each time.
//! let request = GuardedRequest::post(target, r#"{"type":"order.paid"}"#);
//! let outcome = client
//!     .send(&request, || {
//!         // Called when the connection is held, so that the timestamp is fresh.
//!         let mut headers = HeaderMap::new();
//!         headers.insert("webhook-signature", HeaderValue::from_static("v1,.."));
//!         headers
//!     })
//!     .await;
//! match &outcome {
//!     Ok(answer) => println!("{} from {}", answer.status, answer.address),
//!     Err(error) => eprintln!("operators see why: {error:?}"),
//! }
//! println!("customers see {:?}", CustomerView::of(&outcome));
//! # Ok(())
//! # }
//! ```
//!
//! # What holds
//!
//! - **Only checked addresses are dialled.** Names are resolved once per connection, every answer is
//!   judged, one bad answer refuses the name, and the connection is made to what was judged. There is no
//!   second lookup to rebind. Literals are judged as the parsed URL has them, so `0x7f.1`, `2130706433`
//!   and `[::ffff:127.0.0.1]` are what they are. Kept connections are judged again before each request.
//! - **Public means public**: what IANA's special-purpose registries list is denied, and IPv6 outside of
//!   `2000::/3`; see [`AddressPolicy`]. Metadata services are denied under any policy.
//! - **https on ports 443 and 8443** unless the [`Policy`] says otherwise. No user names in URLs.
//! - **Nothing is followed**: no redirect, no `Refresh`, no proxy of the environment. No cookie is kept, no
//!   body decompressed.
//! - **5 s for all of it**: DNS, connection, TLS, head and body. A receiver that drips a byte a second is cut
//!   off like one that is silent.
//! - **Few bytes**: 16 KiB of head including all interim answers, 64 headers, 4 KiB of body, and framing in
//!   proportion. What is left unread is dropped with the connection, not drained. Dropping the future
//!   drops the connection.
//! - **Certificates** are checked against Mozilla's roots, and those given to
//!   [`GuardedClientBuilder::trust`]; what the host's own store trusts does not count.
//! - **Signed late**: signatures are made when the connection is held, and again if the request must be
//!   sent again.
//!
//! # Private networks
//!
//! An [`Allow`] entry opens addresses that are not public. It should be narrow, best to one host:
//!
//! ```
//! use webhook_dispatch::guard::{AddressPolicy, Allow, GuardedClient, Policy, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let inner = Allow::net("10.20.0.0/16".parse()?)?.only_host("10.20.0.7");
//! let policy = Policy::strict().addresses(AddressPolicy::public().allow(inner));
//!
//! assert!(policy.admit(&Target::parse("https://10.20.0.7/hook")?).is_ok());
//! assert!(policy.admit(&Target::parse("https://10.20.0.8/hook")?).is_err());
//! assert!(policy.admit(&Target::parse("https://169.254.169.254/hook")?).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! Answers from such addresses are marked ([`Passage::AllowListed`]), and [`CustomerView`] does not show
//! them.
//!
//! A proxy that all traffic must leave through is set by [`GuardedClientBuilder::egress_proxy`].
//!
//! # What it will not do
//!
//! Speak HTTP/2, or retry what a receiver may have acted on, but for the one case that
//! [`GuardedClient::send`] describes. Bound how many requests run at once: that is the caller's. Protect
//! public addresses that trust this host by its own address: use a separate egress address, or a firewall,
//! which is a good second line behind any such client.

mod address;
mod answer;
mod client;
mod connection;
mod dial;
mod embedded;
mod error;
mod meter;
mod policy;
mod pool;
mod proxy;
mod registry;
mod request;
mod resolve;
mod target;
mod tls;

pub use address::{AddressPolicy, Allow, AllowFault, DeniedAddress, Passage};
pub use answer::{Answer, BodyEnd, Times};
pub use client::{GuardedClient, GuardedClientBuilder, SetupError};
pub use error::{CustomerView, Phase, SendError};
pub use policy::{Policy, Refused};
pub use pool::IdleLimits;
pub use proxy::EgressProxy;
pub use registry::AddressClass;
pub use request::{GuardedRequest, ReservedHeader};
pub use resolve::{Dns, DnsSetupError, Resolve, ResolveFault, Resolving};
pub use target::{Target, TargetFault};
pub use tls::{NotAnAuthority, TlsFault};

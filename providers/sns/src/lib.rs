//! The Amazon SNS provider: an RSA signature inside the body as data.
//!
//! ```text
//! {"Type":"Notification","MessageId":"22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324","TopicArn":"arn:aws:sns:eu-west-1:123456789012:orders",
//!  "Message":"{\"order\":7}","Timestamp":"2025-06-15T15:06:40.000Z","SignatureVersion":"2","Signature":"…", …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `Message`, `MessageId`, `Subject`, `SubscribeURL`, `Timestamp`, `Token`, `TopicArn`, `Type`, those that there are: each name and value, a line break after each; RSA PKCS#1 v1.5 with SHA-256 in base64 |
//! | window | five minutes in the future, an hour in the past: a retry repeats the time of the message |
//! | id, type, account | `MessageId`, `Type`, `TopicArn`, all signed; the id is the same on retries (**unverified**) |
//! | handlers decode | the signed members as a JSON object; `Message` is a text |
//! | redelivers | by the subscription's policy, for an hour at most (second-hand); at somebody's request: not documented |
//!
//! # Only what is signed
//!
//! The signature stands in the body, which nobody has vouched for: members are read from it once, each of a strict grammar, and
//! the text that AWS signs is made of them. Events are read from that text and from nothing else: `MessageAttributes`, `UnsubscribeURL` and
//! whatever else a body holds are unsigned, and left out. `Message` alone may hold line breaks; as it comes first, no
//! border between members can be moved.
//!
//! # Any topic's messages verify
//!
//! One certificate signs for everybody in a region. So the topics are named when the endpoint is made; messages of others are
//! acknowledged, counted and not run:
//!
//! ```
//! use webhook_sns::Sns;
//!
//! let sns = Sns::of(["arn:aws:sns:eu-west-1:123456789012:orders"]);
//! # let _ = sns;
//! ```
//!
//! `SignatureVersion` must be 2; set it on the topic. Version 1 is SHA-1.
//!
//! # Keys
//!
//! A message says in `SigningCertURL` at which URL its certificate stands. That is the word of whoever sent it, so only a URL of SNS is
//! asked for ([`Sns::is_certificate_url`]), through a client that goes nowhere else, and what it gives is remembered:
//!
//! ```text
//! Keys::source(webhook_certificates::Certificates::allowed(Sns::is_certificate_url)?)
//! ```
//!
//! Or the certificate is configured, in base64, without the lines that frame it; then the URL is not looked at. When AWS changes it,
//! deliveries no longer verify until the new one stands beside the old one. SNS sends again after a 5xx or 429 alone, for about an
//! hour. So what may pass later, a signature that no key makes among it, is answered 503 here, where other providers get a 401.
//!
//! ```text
//! curl -sS https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-….pem | grep -v CERTIFICATE | tr -d '\n'
//! ```
//!
//! # Confirming a subscription
//!
//! A `SubscriptionConfirmation` is an event like others, with the signed `SubscribeURL` in it. Whoever handles it decides, and asks for that
//! URL only if [`Sns::is_subscribe_url`] says that it leads to SNS, through a client that follows no redirects
//! (`webhook_dispatch::guard`). `UnsubscribeConfirmation` likewise, to come back.
//!
//! # What it will not do
//!
//! Confirm anything by itself.
//!
//! Sources: aws/aws-js-sns-message-validator 0.3.5; docs.aws.amazon.com, *Verifying the signatures of Amazon SNS messages*, *Message
//! delivery retries* (second-hand).

mod envelope;
mod event;
mod text;

pub use envelope::Sns;

//! Forgeries: nothing but the provider's own signature over these very bytes may open the door.

use webhook_core::{Algorithm, Grammar, Part, Signing, Wire};
use webhook_fixtures::Delivery;

use super::splice::with_digits;
use crate::case::{Case, Forged, Group};
use crate::stage::Stage;

const GROUP: Group = Group::Authenticity;

const CHECKED: &str = "a signature that is not checked whole is not checked";

pub(super) const CASES: &[Case] = &[
    Case::mutation(
        GROUP,
        "signature-missing",
        "without a signature anybody can be the sender",
    ),
    Case::mutation(
        GROUP,
        "signature-empty",
        "an empty field is no signature; frameworks tell it from a missing one",
    ),
    Case::mutation(
        GROUP,
        "signature-empty-tag",
        "an empty signature equals an empty prefix",
    ),
    Case::mutation(
        GROUP,
        "signature-repeated",
        "two fields are read by two parsers in two ways: one checks the first, one uses the last",
    ),
    Case::refused(
        GROUP,
        "signature-repeated-before",
        "the signature header stands twice, the first time by another key",
        "two fields are read by two parsers in two ways: one checks the last, one uses the first",
        |stage| {
            let event = stage.event();
            let mut delivery = stage.mutated("signature-repeated", &event)?;
            // The stranger's field was appended: let it come first.
            let strangers = delivery.headers.pop()?;
            delivery.headers.insert(0, strangers);
            Some(Forged::new(event.event_id(), delivery))
        },
    ),
    Case::mutation(GROUP, "signature-changed", CHECKED),
    Case::mutation(GROUP, "signature-last-digit-changed", CHECKED),
    Case::mutation(
        GROUP,
        "signature-shortened",
        "whoever takes half a signature takes one byte of it, which is guessed in 256 attempts",
    ),
    Case::mutation(
        GROUP,
        "signature-odd-length",
        "decoders drop or pad half a byte",
    ),
    Case::refused(
        GROUP,
        "signature-oversized",
        "the signature stands there twice without a space, as one",
        "what is behind a right beginning must not be overlooked: then only the beginning was compared",
        |stage| {
            let event = stage.event();
            let doubled = with_digits(stage, &event, |digits| Some(digits.repeat(2)));
            Forged::of(event.event_id(), doubled)
        },
    ),
    Case::refused(
        GROUP,
        "signature-upper-case",
        "the signature's letters are in upper case",
        "one signature has one spelling: a second one passes whoever remembers signatures to find replays, and in base64 it is another one",
        |stage| {
            let event = stage.event();
            let shouted = with_digits(stage, &event, |digits| {
                let upper = digits.to_ascii_uppercase();
                (upper != digits).then_some(upper)
            });
            Forged::of(event.event_id(), shouted)
        },
    ),
    Case::mutation(
        GROUP,
        "signature-not-digits",
        "a decoder that fails must not fail open",
    ),
    Case::mutation(GROUP, "signature-of-zeros", CHECKED),
    Case::mutation(
        GROUP,
        "signature-scheme-changed",
        "a scheme that is unknown is none, `none` above all",
    ),
    Case::refused(
        GROUP,
        "algorithm-downgraded",
        "the same secret signs by the provider's older or weaker scheme alone",
        "who still takes the old scheme has its weakness for all time",
        |stage| {
            let event = stage.event();
            let delivery = downgraded(stage, &stage.signed(&event))?;
            Some(Forged::new(event.event_id(), delivery))
        },
    ),
    Case::mutation(
        GROUP,
        "signed-by-another-secret",
        "a signature is somebody's: anybody can make one",
    ),
    Case::mutation(
        GROUP,
        "signature-of-another-delivery",
        "a signature belongs to its own bytes, not to their sender",
    ),
    Case::mutation(
        GROUP,
        "body-changed",
        "what is not covered by the signature can be rewritten on the way",
    ),
    Case::mutation(
        GROUP,
        "body-cut",
        "what is not covered by the signature can be rewritten on the way",
    ),
    Case::mutation(
        GROUP,
        "body-empty",
        "some frameworks hand over no body, and some verifiers skip what is empty",
    ),
    Case::accepted(
        GROUP,
        "header-names-in-lower-case",
        "a genuine delivery whose field names are in lower case, as by HTTP/2",
        "names of fields have no case (RFC 9110, section 5.1); proxies rewrite them",
        |stage| Some(renamed(stage, str::to_ascii_lowercase)),
    ),
    Case::accepted(
        GROUP,
        "header-names-in-upper-case",
        "a genuine delivery whose field names are in upper case",
        "names of fields have no case (RFC 9110, section 5.1); proxies rewrite them",
        |stage| Some(renamed(stage, str::to_ascii_uppercase)),
    ),
];

fn renamed(stage: &Stage<'_>, rename: fn(&str) -> String) -> Forged {
    let event = stage.event();
    let mut delivery = stage.signed(&event);
    let fields = delivery.headers.iter_mut();
    fields.for_each(|(name, _)| *name = rename(name));
    Forged::new(event.event_id(), delivery)
}

/// What older receivers of a provider took, in place of what new ones take.
fn downgraded(stage: &Stage<'_>, signed: &Delivery) -> Option<Delivery> {
    const GITHUB_SHA1: Wire = Wire::new(
        Algorithm::HmacSha1,
        "x-hub-signature",
        Grammar::Prefixed("sha1="),
        &[Part::Body],
    );
    let rewritten = |name: &str, from: &str, to: &str| {
        let value = String::from_utf8(signed.value(name)?.to_vec()).ok()?;
        Some(signed.clone().with(name, value.replacen(from, to, 1)))
    };
    match stage.scenery.sender.name() {
        "github" => {
            let with = Signing::new(&stage.keys().active, &signed.body, stage.now());
            let without = signed.clone().without("x-hub-signature-256");
            let fields = GITHUB_SHA1.write(&with).into_iter();
            Some(fields.fold(without, |delivery, (name, value)| {
                delivery.header(name, value)
            }))
        }
        "standard" => rewritten("webhook-signature", "v1,", "v0,"),
        "stripe" => rewritten("stripe-signature", "v1=", "v0="),
        _ => None,
    }
}

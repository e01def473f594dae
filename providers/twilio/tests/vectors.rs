//! The scheme: vectors, tampering, the URL, no window, the round trip.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::Value;
use webhook_core::{
    ContentDigest, KeyConfig, Keyring, Malformed, Rejection, SecretFormat, Signing,
};
use webhook_twilio::{PublicUrl, Twilio};
use webhook_vectors::{
    Receiver, Request, keeps_its_window, reads_what_it_signs, resist_random_headers,
    resist_tampering, run_each,
};

const TOKEN: &str = "a5908bb42dbc88d9d266b27f0a1a956b";
const FORM: &str = "MessageSid=SM1&From=%2B4915112345678&Body=Hello+there";

fn twilio() -> Twilio {
    Twilio::at(PublicUrl::new("https://hooks.acme.example").unwrap())
}

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    let count = run_each(vectors, |url| Box::leak(Box::new(at(url))));
    assert_eq!(count, 44);
}

/// The examples of Twilio's pages and SDKs. Their token is too short for a keyring, so it is padded with zeros here, as HMAC
/// pads every key (RFC 2104, section 2): it is the same key.
#[test]
fn published_examples_verify() {
    let published: Vec<Value> =
        serde_json::from_str(include_str!("../testdata/published.json")).unwrap();
    assert_eq!(published.len(), 5);
    let format = SecretFormat::Base64 { prefix: "" };
    let keys = Keyring::build(format, [KeyConfig::new("MTIzNDUAAAA=")]).unwrap();
    for case in published {
        let text = |name: &str| case[name].as_str().unwrap();
        let (_, target) = split(text("url"));
        let twilio = at(text("url"));
        let receiver = Receiver::with_keys(&twilio, keys.clone(), 1_750_000_000);
        let headers = case["headers"].as_array().unwrap().iter();
        let headers = headers.map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap()));
        let request = Request::new(headers, text("body_utf8")).to("POST", target);
        assert!(receiver.receive(&request).is_ok(), "{}", text("name"));
    }
}

/// What takes a request to `url`: forms, or what has its digest there.
fn at(url: &str) -> Twilio {
    let twilio = Twilio::at(split(url).0);
    if url.contains("bodySHA256=") {
        twilio.json()
    } else {
        twilio
    }
}

/// A form's parameters may read like the end of a URL with a digest in it: its signature is then that of another body too,
/// which an endpoint for forms must not take, nor one for JSON a form.
#[test]
fn a_signature_of_a_form_signs_no_other_body() {
    let forms = twilio();
    let json = twilio().json();
    let forged = r#"[{"id":"evt_forged","type":"com.twilio.forged"}]"#;
    let digest = ContentDigest::of(forged.as_bytes());
    let receiver = Receiver::new(&forms, &[TOKEN], 1_750_000_000);
    let form = format!("Body=x%26bodySHA256%3D{digest}%26y&MessageSid=SM1");
    let captured = signed_to(&receiver, "/sms?tenant=42", &form);
    assert_eq!(receiver.receive(&captured).map(drop), Ok(()));

    let target = format!("/sms?tenant=42Bodyx&bodySHA256={digest}&yMessageSidSM1");
    let mut moved = captured.clone().to("POST", &target);
    moved.body = forged.as_bytes().to_vec();
    let malformed = Err(Rejection::Malformed(Malformed::Query));
    assert_eq!(receiver.receive(&moved).map(drop), malformed);
    // They are the same bytes under the MAC: nothing else keeps them apart.
    let other = Receiver::new(&json, &[TOKEN], 1_750_000_000);
    assert_eq!(other.receive(&moved).map(drop), Ok(()));
    assert_eq!(other.receive(&captured).map(drop), malformed);
}

/// Origin and target of a URL.
fn split(url: &str) -> (PublicUrl, &str) {
    let (path, _) = url.match_indices('/').nth(2).unwrap();
    let (origin, target) = url.split_at(path);
    (PublicUrl::new(origin).unwrap(), target)
}

#[test]
fn only_signed_bytes_verify() {
    let twilio = twilio();
    let receiver = Receiver::new(&twilio, &[TOKEN], 1_750_000_000);
    let good = receiver
        .sign(FORM)
        .header("Host", "elsewhere.example")
        .header("X-Forwarded-Proto", "http")
        .header("I-Twilio-Idempotency-Token", "1e5f4f1a");
    resist_random_headers(
        &receiver,
        &good,
        &[("x-twilio-signature", "[0-9a-zA-Z+/]{26,27}=")],
    );
    let json = r#"{"a":1}"#;
    let digest = ContentDigest::of(json.as_bytes());
    let target = format!("/webhooks?bodySHA256={digest}");
    let twilio = twilio.clone().json();
    let receiver = Receiver::new(&twilio, &[TOKEN], 1_750_000_000);
    let signed = signed_to(&receiver, &target, json);
    resist_tampering(&receiver, &signed, &["x-twilio-signature"]);
}

/// `body` to `target`, signed.
fn signed_to(receiver: &Receiver<'_>, target: &str, body: &str) -> Request {
    let signing = Signing::new(&receiver.keys, body.as_bytes(), receiver.now);
    let headers = receiver.provider.sign(&signing.to(target));
    Request::new(headers, body).to("POST", target)
}

#[test]
fn parameters_verify_in_any_order_and_spelling_and_no_others() {
    let twilio = twilio();
    let receiver = Receiver::new(&twilio, &[TOKEN], 1_750_000_000);
    let signed = receiver.sign(FORM);
    let with = |body: &str| {
        let mut request = signed.clone();
        request.body = body.as_bytes().to_vec();
        receiver.receive(&request).map(drop)
    };
    for same in [
        "Body=Hello+there&From=%2B4915112345678&MessageSid=SM1",
        "Body=Hello%20there&From=%2b4915112345678&MessageSid=SM1&MessageSid=SM1",
        // The weakness of the scheme: a border moved.
        "BodyHello+there=&From=%2B4915112345678&MessageSid=SM1",
    ] {
        assert_eq!(with(same), Ok(()), "{same}");
    }
    for other in [
        "",
        "Body=Hello+There&From=%2B4915112345678&MessageSid=SM1",
        "Body=Hello+there&From=%2B4915112345678&MessageSid=SM1&x=",
        "Body=Hello+there&From=%2B4915112345678&MessageSid=SM1&MessageSid=SM2",
        "From=%2B4915112345678&MessageSid=SM1",
    ] {
        assert_eq!(with(other), Err(Rejection::SignatureMismatch), "{other}");
    }
    for broken in ["Body", "Body=Hello%", "=a", "&"] {
        let malformed = Err(Rejection::Malformed(Malformed::Body));
        assert_eq!(with(broken), malformed, "{broken}");
    }
}

#[test]
fn there_is_no_window() {
    keeps_its_window(&twilio(), FORM.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&twilio(), FORM.as_bytes(), false);
}

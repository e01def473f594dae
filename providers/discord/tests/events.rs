//! Identity, and what handlers get.

use serde_json::Value;
use webhook_core::{Handshake, InvalidEvent};
use webhook_discord::Discord;
use webhook_vectors::{Received, Receiver, Seen};

const COMMAND: &str = include_str!("../testdata/payloads/command.json");
const AUTHORIZED: &str = include_str!("../testdata/payloads/APPLICATION_AUTHORIZED.json");
const PRIVATE: &str = "MC4CAQAwBQYDK2VwBCIEID6fjO1i8uwdCON29gUSUylMMwLn8qFqX7tM3HztPoec";

fn received(discord: &Discord, body: &str) -> Received {
    let receiver = Receiver::new(discord, &[PRIVATE], 1_750_000_000);
    receiver.accept(&receiver.sign(body))
}

fn event(discord: &Discord, body: &str) -> Result<Seen, InvalidEvent> {
    received(discord, body).event()
}

#[test]
fn interactions_are_named() {
    let discord = Discord::interactions();
    let seen = event(&discord, COMMAND).unwrap();
    let named = (seen.id.as_str(), seen.event_type.as_str());
    assert_eq!(named, ("1287041234567890123", "2"));
    assert_eq!(seen.account.as_deref(), Some("1112223334445556667"));
    let whole: Value = serde_json::from_str(COMMAND).unwrap();
    assert_eq!(seen.handled(&discord), Some(whole));
}

/// Events have no id: what they say names them, however it is spelled.
#[test]
fn events_are_named_by_what_they_say() {
    let discord = Discord::events();
    let seen = event(&discord, AUTHORIZED).unwrap();
    assert_eq!(seen.event_type, "APPLICATION_AUTHORIZED");
    assert_eq!(seen.account.as_deref(), Some("1112223334445556667"));
    let whole: Value = serde_json::from_str(AUTHORIZED).unwrap();
    assert_eq!(
        seen.handled(&discord).as_ref(),
        whole.pointer("/event/data")
    );
    let respelled = serde_json::to_string_pretty(&whole).unwrap();
    assert_eq!(event(&discord, &respelled).unwrap().id, seen.id);
    let other = AUTHORIZED.replace("2025-06-15", "2025-06-16");
    assert_ne!(event(&discord, &other).unwrap().id, seen.id);
}

#[test]
fn pings_are_answered_each_in_its_way() {
    let ping = r#"{"id":"1","application_id":"2","type":1,"version":1}"#;
    let event_ping = r#"{"version":1,"application_id":"2","type":0}"#;
    let answer = |discord, body| received(discord, body).handshake.unwrap();
    let (interactions, events) = (&Discord::interactions(), &Discord::events());
    let json = Handshake::json(r#"{"type":1}"#);
    assert_eq!(answer(interactions, ping), Some(json));
    assert_eq!(answer(events, event_ping), Some(Handshake::no_content()));
    for (discord, body) in [
        (interactions, event_ping),
        (interactions, COMMAND),
        (interactions, AUTHORIZED),
        (events, ping),
        (events, AUTHORIZED),
    ] {
        assert_eq!(answer(discord, body), None, "{body}");
    }
}

#[test]
fn what_belongs_to_the_other_url_is_refused() {
    let crossed = [
        (Discord::interactions(), AUTHORIZED),
        (Discord::events(), COMMAND),
    ];
    for (discord, body) in crossed {
        assert_eq!(event(&discord, body).unwrap_err(), InvalidEvent::Type);
    }
}

#[test]
fn what_names_no_event_is_refused() {
    use InvalidEvent::{Account, Body, Id, Type};
    let (interactions, events) = (&Discord::interactions(), &Discord::events());
    for (discord, body, why) in [
        (interactions, "", Body),
        (interactions, "[]", Body),
        (interactions, r#"{"id":"1","type":2}{}"#, Body),
        (interactions, r#"{"id":"1","id":"1","type":2}"#, Body),
        (interactions, r#"{"id":1,"type":2}"#, Body),
        (interactions, r#"{"id":"1","type":"2"}"#, Body),
        (interactions, r#"{"id":"1","type":-2}"#, Body),
        (interactions, r#"{"id":"1","type":2.0}"#, Body),
        (interactions, r#"{"id":"1","type":4294967296}"#, Body),
        (interactions, r#"{"type":2}"#, Id),
        (interactions, r#"{"id":"","type":2}"#, Id),
        (interactions, r#"{"id":"1"}"#, Type),
        (interactions, r#"{"id":"1","type":0}"#, Type),
        (interactions, r#"{"id":"1","type":1}"#, Type),
        (interactions, r#"{"id":"1","type":2,"event":{}}"#, Type),
        (
            interactions,
            r#"{"id":"1","type":2,"application_id":""}"#,
            Account,
        ),
        (events, r#"{"type":1}"#, Type),
        (events, r#"{"type":1,"event":{}}"#, Type),
        (events, r#"{"type":1,"event":{"type":""}}"#, Type),
        (events, r#"{"type":1,"event":"A"}"#, Body),
        (events, r#"{"type":2,"event":{"type":"A"}}"#, Type),
    ] {
        assert_eq!(event(discord, body).unwrap_err(), why, "{body}");
    }
}

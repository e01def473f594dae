//! The rule table of claims, cell by cell, and the keys that events claim.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use support::{Badge, NOW, Ticket, ring, signed, verify};
use webhook_core::{
    ClaimScope, DynProvider, HeldEvent, Holder, InboxId, InvalidEvent, Keyring, NewEvent,
    Quarantine, State, Verdict,
};

const STATES: [State; 5] = [
    State::Completed,
    State::Dead,
    State::Ignored,
    State::Pending,
    State::Processing,
];

struct Sent<'s> {
    provider: &'s dyn DynProvider,
    scope: ClaimScope,
    keys: Keyring,
}

impl<'s> Sent<'s> {
    fn by(provider: &'s dyn DynProvider) -> Self {
        Self {
            provider,
            scope: ClaimScope::new("here"),
            keys: ring(&["0123456789abcdef"]),
        }
    }

    fn event(&self, body: &str, unsigned: &[(&str, &str)]) -> Result<NewEvent, InvalidEvent> {
        let mut headers = signed(self.provider, &self.keys, body.as_bytes(), NOW);
        headers.extend(
            unsigned
                .iter()
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned())),
        );
        verify(
            self.provider,
            &self.keys,
            &headers,
            body.as_bytes(),
            NOW,
            |verified| {
                let identity = self.provider.identities(&verified)?.remove(0);
                NewEvent::new(&verified, identity, self.provider, &self.scope)
            },
        )
        .unwrap()
    }

    fn ticket(&self, body: &str) -> NewEvent {
        self.event(body, &[]).unwrap()
    }

    fn badge(&self, id: &str, kind: &str, body: &str) -> NewEvent {
        self.event(body, &[("x-id", id), ("x-type", kind)]).unwrap()
    }
}

fn held(event: &NewEvent, state: State) -> HeldEvent {
    HeldEvent {
        inbox: InboxId::from_bytes([7; 16]),
        state,
        event_type: event.event_type().as_str().to_owned(),
        digest: event.digest(),
        canonical: None,
        payload: Some(event.payload().clone()),
        reply: None,
        has_escaped: false,
    }
}

fn again(state: State) -> Verdict {
    match state {
        State::Completed => Verdict::Duplicate { reply: None },
        State::Pending | State::Processing => Verdict::InFlight,
        _ => Verdict::Revive(InboxId::from_bytes([7; 16])),
    }
}

fn quarantined(reason: Quarantine, same_content: bool) -> Verdict {
    Verdict::Quarantine {
        reason,
        first: Some(InboxId::from_bytes([7; 16])),
        same_content,
    }
}

#[test]
fn same_id_and_same_content_in_every_state() {
    let sent = Sent::by(&Ticket);
    let event = sent.ticket(r#"{"id":"1","type":"a","n":1}"#);
    for state in STATES {
        let first = Holder::Event(held(&event, state));
        assert_eq!(event.judge(Some(&first), None), again(state), "{state:?}");
    }
}

#[test]
fn d9_volatile_members_spelling_and_order_are_not_content() {
    let sent = Sent::by(&Ticket);
    let first = sent.ticket(r#"{"id":"1","type":"a","n":1.0,"s":"A","attempt":1}"#);
    let retry =
        sent.ticket("{ \"type\":\"a\", \"s\":\"\\u0041\", \"id\":\"1\", \"attempt\":2, \"n\":1 }");
    let stored = Holder::Event(held(&first, State::Completed));
    assert_eq!(retry.judge(Some(&stored), None), again(State::Completed));
    // The payload may be gone while the canonical digest stays.
    let pruned = HeldEvent {
        canonical: first.canonical(),
        payload: None,
        ..held(&first, State::Completed)
    };
    assert_eq!(
        retry.judge(Some(&Holder::Event(pruned)), None),
        again(State::Completed)
    );
}

#[test]
fn same_id_and_other_content_is_quarantined_in_every_state() {
    let sent = Sent::by(&Ticket);
    let first = sent.ticket(r#"{"id":"1","type":"a","n":9007199254740992}"#);
    let other = sent.ticket(r#"{"id":"1","type":"a","n":9007199254740993}"#);
    for state in STATES {
        let first = Holder::Event(held(&first, state));
        let verdict = other.judge(Some(&first), None);
        assert_eq!(
            verdict,
            quarantined(Quarantine::ContentMismatch, false),
            "{state:?}"
        );
    }
}

#[test]
fn d2_known_content_under_a_new_unsigned_id() {
    let sent = Sent::by(&Badge);
    let first = sent.badge("A", "push", "{}");
    let replay = sent.badge("B", "push", "{}");
    assert_ne!(first.id_key(), replay.id_key());
    assert_eq!(first.digest_key(), replay.digest_key());
    for state in STATES {
        let holder = Holder::Event(held(&first, state));
        let expected = match state {
            State::Completed => quarantined(Quarantine::Replayed, true),
            state => again(state), // D15: the first one did not finish, so this is its retry
        };
        assert_eq!(replay.judge(None, Some(&holder)), expected, "{state:?}");
    }
}

#[test]
fn d14_known_content_under_another_type_never_runs() {
    let sent = Sent::by(&Badge);
    let first = sent.badge("A", "push", "{}");
    for relabelled in [
        sent.badge("A", "issues", "{}"),
        sent.badge("B", "issues", "{}"),
    ] {
        for state in STATES {
            let holder = Holder::Event(held(&first, state));
            let same_id = relabelled.id_key() == first.id_key();
            let (by_id, by_digest) = if same_id {
                (Some(&holder), None)
            } else {
                (None, Some(&holder))
            };
            let verdict = relabelled.judge(by_id, by_digest);
            assert_eq!(
                verdict,
                quarantined(Quarantine::Relabelled, true),
                "{state:?}"
            );
        }
    }
}

#[test]
fn d1_known_id_with_another_known_content_is_a_mismatch() {
    let sent = Sent::by(&Badge);
    let (a, b) = (sent.badge("A", "push", "{}"), sent.badge("B", "push", "[]"));
    let forged = sent.badge("A", "push", "[]");
    let by_id = Holder::Event(held(&a, State::Completed));
    let by_digest = Holder::Event(held(&b, State::Completed));
    let verdict = forged.judge(Some(&by_id), Some(&by_digest));
    assert_eq!(verdict, quarantined(Quarantine::ContentMismatch, false));
}

#[test]
fn tombstones_still_know_their_content() {
    let sent = Sent::by(&Badge);
    let event = sent.badge("A", "push", "{}");
    let tombstone = |digest| Holder::Tombstone { digest };
    let same = tombstone(Some(event.digest()));
    let other = tombstone(Some(sent.badge("A", "push", "[]").digest()));
    assert_eq!(
        event.judge(Some(&same), None),
        Verdict::Duplicate { reply: None }
    );
    for holder in [other, tombstone(None)] {
        assert!(matches!(
            event.judge(Some(&holder), None),
            Verdict::Quarantine {
                reason: Quarantine::ContentMismatch,
                first: None,
                ..
            }
        ));
    }
    assert!(matches!(
        event.judge(None, Some(&same)),
        Verdict::Quarantine {
            reason: Quarantine::Replayed,
            first: None,
            ..
        }
    ));
}

#[test]
fn nobody_holding_anything_is_a_reason_to_claim_again() {
    let event = Sent::by(&Ticket).ticket(r#"{"id":"1","type":"a"}"#);
    assert_eq!(event.judge(None, None), Verdict::Vanished);
}

#[test]
fn keys_of_different_events_differ() {
    let sent = Sent::by(&Ticket);
    let key = |account: &str, id: &str| {
        let account = if account == "-" {
            "null".to_owned()
        } else {
            format!("{account:?}")
        };
        let body = format!(r#"{{"id":"{id}","type":"a","account":{account}}}"#);
        sent.ticket(&body).id_key()
    };
    let keys = [
        key("ab", "c"),
        key("a", "bc"),
        key("-", "abc"),
        key("abc", "abc"),
        key("-", "evt_1Ab"),
        key("-", "evt_1aB"),
        key("-", "evt_1aB "),
        key("-", "\u{e9}"),
        key("-", "e\u{301}"),
    ];
    let distinct: std::collections::BTreeSet<_> = keys.into_iter().collect();
    assert_eq!(distinct.len(), keys.len());
    let elsewhere = Sent {
        scope: ClaimScope::new("there"),
        ..Sent::by(&Ticket)
    };
    let body = r#"{"id":"abc","type":"a"}"#;
    assert_ne!(elsewhere.ticket(body).id_key(), sent.ticket(body).id_key());
}

#[test]
fn d2_the_digest_is_scoped_to_endpoint_and_key_unless_the_secret_is_shared() {
    let digest = |endpoint: &str, secret: &str, shared: bool| {
        let sent = Sent {
            scope: ClaimScope::new(endpoint).secret_is_shared(shared),
            keys: ring(&[secret]),
            ..Sent::by(&Badge)
        };
        sent.badge("A", "push", "{}").digest_key().unwrap()
    };
    let (one, two) = ("0123456789abcdef", "fedcba9876543210");
    assert_ne!(digest("here", one, false), digest("there", one, false));
    assert_ne!(digest("here", one, false), digest("here", two, false));
    assert_eq!(digest("here", one, true), digest("there", one, true)); // D6
}

#[test]
fn types_that_may_repeat_claim_their_content_unless_told_otherwise() {
    let quarantine = Sent::by(&Badge);
    let run = Sent {
        scope: ClaimScope::new("here").repeats_run(true),
        ..Sent::by(&Badge)
    };
    assert!(quarantine.badge("A", "ping", "{}").digest_key().is_some());
    assert!(run.badge("A", "ping", "{}").digest_key().is_none());
    assert!(run.badge("A", "push", "{}").digest_key().is_some());
}

#[test]
fn d4_an_account_that_is_not_the_keys_tenant_is_refused() {
    let sent = Sent {
        keys: ring(&["0123456789abcdef"]).principal("acme"),
        ..Sent::by(&Ticket)
    };
    let event = |account: &str| sent.event(&format!(r#"{{"id":"1","type":"a"{account}}}"#), &[]);
    assert!(event("").is_ok());
    assert!(event(r#","account":"acme""#).is_ok());
    assert_eq!(
        event(r#","account":"rival""#).unwrap_err(),
        InvalidEvent::Account
    );
}

#[test]
fn a3_an_event_whose_effect_may_stand_is_not_revived() {
    let event = Sent::by(&Ticket).ticket(r#"{"id":"1","type":"a"}"#);
    let first = HeldEvent {
        has_escaped: true,
        ..held(&event, State::Dead)
    };
    let verdict = event.judge(Some(&Holder::Event(first)), None);
    assert_eq!(verdict, Verdict::Duplicate { reply: None });
}

#[test]
fn an_ignored_event_is_revived_only_by_a_delivery_that_somebody_takes() {
    let event = Sent::by(&Ticket).ticket(r#"{"id":"1","type":"a"}"#);
    let first = Holder::Event(held(&event, State::Ignored));
    assert_eq!(event.judge(Some(&first), None), again(State::Ignored));
    let unlisted = event.ignored();
    assert_eq!(unlisted.first_state(), State::Ignored);
    assert_eq!(
        unlisted.judge(Some(&first), None),
        Verdict::Duplicate { reply: None }
    );
}

#[test]
fn f8_events_with_an_equal_value_share_an_order_key() {
    let path = |path: &[&str]| Some(path.iter().map(|name| (*name).to_owned()).collect());
    let key = |endpoint: &str, order: &[&str], body: &str| {
        let sent = Sent {
            scope: ClaimScope::new(endpoint).ordered_by(path(order)),
            ..Sent::by(&Ticket)
        };
        sent.ticket(body).order_key()
    };
    let (one, two) = (
        r#"{"id":"1","type":"a","o":{"n":7}}"#,
        r#"{"o":{"n":7.0},"id":"2","type":"b"}"#,
    );
    assert!(key("here", &["o", "n"], one).is_some());
    assert_eq!(key("here", &["o", "n"], one), key("here", &["o", "n"], two));
    assert_ne!(
        key("here", &["o", "n"], one),
        key("there", &["o", "n"], one)
    );
    assert_ne!(key("here", &["o", "n"], one), key("here", &["id"], one));
    assert_eq!(key("here", &["missing"], one), None);
}

#[test]
fn keys_are_claimed_in_ascending_order() {
    for id in 0..20 {
        let keys = Sent::by(&Badge).badge(&id.to_string(), "push", "{}").keys();
        assert!(keys.is_sorted() && keys.len() == 2);
    }
}

//! What becomes of a delivery, by what its endpoint does.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use webhook_core::outbox::Outbox as _;
use webhook_core::outbox::{
    AttemptClass, DeliveryState, EndpointState, Event, Filter, HealthPolicy, Resend,
};
use webhook_dispatch::guard::Policy;
use webhook_dispatch::{CustomerAttempt, CustomerOutcome, NewEndpoint, Schedule};

use crate::sender::{Sender, client, loopback};
use crate::sink::{Reply, Sink};

/// A breaker that stays out of the way.
fn calm() -> HealthPolicy {
    let mut policy = HealthPolicy::default();
    policy.open_after = 1000;
    policy
}

#[tokio::test]
async fn what_fails_is_tried_again_until_it_is_dead() {
    let sink = Sink::start(|_, _| Reply {
        status: 500,
        body: "so sorry".to_owned(),
        ..Reply::default()
    })
    .await;
    let sender = Sender::start_with(|builder| {
        let schedule = Schedule::new([Duration::from_millis(1); 2]).unwrap();
        builder.schedule(schedule).health(calm())
    })
    .await;
    sender.endpoint(sink.url("/")).await;
    sender.send("a", "{}").await;
    let dead = sender.wait(DeliveryState::Dead, 1).await;
    let attempts = sender.attempts(&dead[0]).await;
    let numbers: Vec<_> = attempts.iter().map(|attempt| attempt.attempt).collect();
    assert_eq!(numbers, [1, 2, 3]);
    for attempt in &attempts {
        assert_eq!(
            (attempt.class, attempt.status),
            (AttemptClass::Answer, Some(500))
        );
        assert_eq!(&attempt.answer[..], b"so sorry");
        assert_eq!(attempt.address, Some("127.0.0.1".parse().unwrap()));
        // Loopback is open by the allow-list alone: its owner sees nothing of it.
        let seen = CustomerAttempt::from(attempt);
        assert_eq!(seen.outcome, CustomerOutcome::NotDelivered);
    }
    assert_eq!(sink.got().len(), 3);
}

#[tokio::test]
async fn a_dead_delivery_is_sent_again_when_an_operator_says_so() {
    let sink = Sink::start(|_, before| Reply::status(if before == 0 { 500 } else { 200 })).await;
    let sender = Sender::start_with(|builder| builder.schedule(Schedule::new([]).unwrap())).await;
    sender.endpoint(sink.url("/")).await;
    let id = sender.send("a", "{}").await;
    let dead = sender.wait(DeliveryState::Dead, 1).await;
    assert_eq!(
        sender.outbox.resend(Resend::One(dead[0].id)).await.unwrap(),
        1
    );
    sender.wait(DeliveryState::Delivered, 1).await;
    let got = sink.got();
    assert_eq!(got[1].headers["webhook-id"], id.as_str());
}

#[tokio::test]
async fn redirects_are_answers_and_are_not_followed() {
    let other = Sink::start(|_, _| Reply::status(200)).await;
    let location = other.url("/stolen");
    for status in [301, 302, 303, 307, 308] {
        let headers = format!("location: {location}\r\n");
        let sink = Sink::start(move |_, _| Reply {
            status,
            headers: headers.clone(),
            ..Reply::default()
        })
        .await;
        let sender =
            Sender::start_with(|builder| builder.schedule(Schedule::new([]).unwrap())).await;
        sender.endpoint(sink.url("/")).await;
        sender.send("a", "{}").await;
        let dead = sender.wait(DeliveryState::Dead, 1).await;
        assert_eq!(dead[0].last_status, Some(status));
    }
    assert_eq!(other.got().len(), 0);
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_not_tried_again() {
    let sink = Sink::start(|_, _| Reply::status(410)).await;
    let owner = Sink::start(|_, _| Reply::status(200)).await;
    let sender = Sender::start().await;
    let (id, _) = sender.endpoint(sink.url("/")).await;
    let notices = Filter::new(["webhook.endpoint.*"]).unwrap();
    sender
        .register(NewEndpoint::new("acme", owner.url("/"), notices))
        .await;
    sender.send("a", "{}").await;
    let told = owner.wait(1).await.remove(0);
    let body = String::from_utf8(told.body).unwrap();
    assert!(body.contains("webhook.endpoint.disabled") && body.contains(&id.to_string()));
    let (endpoint, _) = sender.dispatcher.endpoints().get(id).await.unwrap();
    assert_eq!(endpoint.state, EndpointState::Disabled("gone".to_owned()));
    sender.send("b", "{}").await;
    assert_eq!(sink.got().len(), 1);
}

#[tokio::test]
async fn retry_after_is_waited_for() {
    let sink = Sink::start(|_, before| Reply {
        status: if before == 0 { 503 } else { 200 },
        headers: "retry-after: 2\r\n".to_owned(),
        ..Reply::default()
    })
    .await;
    let sender = Sender::start().await;
    sender.endpoint(sink.url("/")).await;
    sender.send("a", "{}").await;
    let got = sink.wait(2).await;
    let waited = got[1].at.duration_since(got[0].at);
    assert!(waited >= Duration::from_secs(2), "{waited:?}");
}

#[tokio::test]
async fn each_way_to_fail_has_its_name() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let slow = Sink::start(|_, _| Reply {
        after: Duration::from_mins(1),
        status: 200,
        ..Reply::default()
    })
    .await;
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let no_tls = format!("https://{}/", plain.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = plain.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Because\r\n\r\n").await;
        }
    });
    let cases = [
        (format!("http://{closed}/"), AttemptClass::Connect),
        (slow.url("/"), AttemptClass::TimedOut),
        (
            format!("https://{}/", silent.local_addr().unwrap()),
            AttemptClass::TimedOut,
        ),
        (no_tls, AttemptClass::Tls),
    ];
    for (url, class) in cases {
        let sender =
            Sender::start_with(|builder| builder.schedule(Schedule::new([]).unwrap())).await;
        sender.endpoint(url.clone()).await;
        sender.send("a", "{}").await;
        let dead = sender.wait(DeliveryState::Dead, 1).await;
        let attempts = sender.attempts(&dead[0]).await;
        assert_eq!((attempts.len(), attempts[0].class), (1, class), "{url}");
        assert_eq!(attempts[0].status, None);
    }
}

#[tokio::test]
async fn a_url_that_the_policy_refuses_by_now_is_not_dialled() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let client = client();
    let sender = Sender::start_over(client.clone(), |builder| {
        builder.schedule(Schedule::new([]).unwrap())
    })
    .await;
    sender.endpoint(sink.url("/")).await;
    client.set_policy(Policy::strict());
    sender.send("a", "{}").await;
    let dead = sender.wait(DeliveryState::Dead, 1).await;
    assert_eq!(dead[0].last_class, Some(AttemptClass::Refused));
    assert_eq!(sink.got().len(), 0);
    client.set_policy(loopback());
    sender.outbox.resend(Resend::One(dead[0].id)).await.unwrap();
    sink.wait(1).await;
}

#[tokio::test]
async fn events_of_one_key_arrive_in_order_though_one_fails() {
    let sink = Sink::start(|request, _| {
        let is_first = request.body == b"0" && rand::random_bool(0.8);
        Reply::status(if is_first { 500 } else { 200 })
    })
    .await;
    let sender = Sender::start_with(|builder| {
        let schedule = Schedule::new([Duration::from_millis(5); 50]).unwrap();
        builder.schedule(schedule).health(calm())
    })
    .await;
    let new = NewEndpoint::new("acme", sink.url("/"), Filter::all()).ordered();
    sender.register(new).await;
    for n in 0..8 {
        let event = Event::new("acme", "a", n.to_string()).unwrap();
        sender.enqueue(event.order_key("one").unwrap()).await;
    }
    sender.wait(DeliveryState::Delivered, 8).await;
    let mut bodies: Vec<_> = sink.got().into_iter().map(|request| request.body).collect();
    bodies.dedup();
    let expected: Vec<_> = (0..8).map(|n| n.to_string().into_bytes()).collect();
    assert_eq!(bodies, expected);
}

#[tokio::test]
async fn shutdown_waits_for_what_is_under_way_and_puts_it_on_record() {
    let sink = Sink::start(|_, _| Reply {
        status: 200,
        after: Duration::from_millis(500),
        ..Reply::default()
    })
    .await;
    let sender = Sender::start().await;
    sender.endpoint(sink.url("/")).await;
    sender.send("a", "{}").await;
    sink.wait(1).await;
    sender.dispatcher.shutdown().await;
    assert_eq!(sender.wait(DeliveryState::Delivered, 1).await.len(), 1);
    // What comes later waits for the next start.
    sender.send("b", "{}").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(sink.got().len(), 1);
    sender.dispatcher.start().await.unwrap();
    sender.wait(DeliveryState::Delivered, 2).await;
}

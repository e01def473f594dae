//! That one endpoint's trouble is nobody else's.

use std::time::Duration;

use webhook_core::outbox::{
    DeliveryState, Event, Filter, HealthPolicy, Limits, Outbox as _, Search,
};
use webhook_dispatch::guard::GuardedClient;
use webhook_dispatch::{NewEndpoint, Schedule};

use crate::sender::{Sender, loopback};
use crate::sink::{Reply, Sink};

#[tokio::test]
async fn endpoints_that_hang_hold_up_no_other() {
    let hanging = Sink::start(|_, _| Reply {
        after: Duration::from_mins(1),
        status: 200,
        ..Reply::default()
    })
    .await;
    let healthy = Sink::start(|_, _| Reply::status(200)).await;
    // Far fewer places than deliveries that hang.
    let sender = Sender::start_with(|builder| builder.places(16)).await;
    let new = |url| NewEndpoint::new("acme", url, Filter::all());
    for _ in 0..24 {
        sender.register(new(hanging.url("/"))).await;
    }
    sender.register(new(healthy.url("/"))).await;
    for _ in 0..20 {
        sender.send("a", "{}").await;
    }
    healthy.wait(20).await;
    // While those that hang had a few attempts of the hundreds that wait.
    assert!(hanging.got().len() < 240, "{}", hanging.got().len());
}

/// Endpoints that are known to fail hang in all the places they can have; one that nobody knows yet has
/// places of its own kind.
#[tokio::test]
async fn what_hangs_keeps_no_newcomer_waiting() {
    let hanging = Sink::start(|request, _| Reply {
        status: 500,
        after: Duration::from_mins(u64::from(request.body == b"{\"hang\":1}")),
        ..Reply::default()
    })
    .await;
    let patient = GuardedClient::builder()
        .policy(loopback())
        .deadline(Duration::from_secs(30))
        .build()
        .unwrap();
    let sender = Sender::start_over(patient, |builder| {
        let mut calm = HealthPolicy::default();
        calm.open_after = 1000;
        let late = Schedule::new([Duration::from_mins(10)]).unwrap();
        builder.places(8).health(calm).schedule(late)
    })
    .await;
    let bad = Filter::new(["bad"]).unwrap();
    for _ in 0..12 {
        let new = NewEndpoint::new("acme", hanging.url("/"), bad.clone());
        sender.register(new).await;
    }
    sender.send("bad", "{}").await;
    hanging.wait(12).await;
    sender.send("bad", "{\"hang\":1}").await;
    // A quarter of the places, and no more.
    hanging.wait(14).await;
    let newcomer = Sink::start(|_, _| Reply::status(200)).await;
    sender.endpoint(newcomer.url("/")).await;
    sender.send("good", "{}").await;
    newcomer.wait(1).await;
    assert_eq!(hanging.got().len(), 14);
}

/// Fan-out says where there is news, and an attempt that ends where there may be more: the tour of all
/// endpoints, which those that hang make slow, is not waited for.
#[tokio::test]
async fn what_is_new_is_sent_without_a_look_at_every_endpoint() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let sender = Sender::start_with(|builder| builder.poll_every(Duration::from_mins(1))).await;
    let limits = Limits::new(1, None).unwrap();
    let new = NewEndpoint::new("acme", sink.url("/"), Filter::all()).limits(limits);
    sender.register(new).await;
    for _ in 0..10 {
        sender.send("a", "{}").await;
    }
    sink.wait(10).await;
}

#[tokio::test]
async fn an_endpoint_takes_no_more_at_once_than_its_limit() {
    let sink = Sink::start(|_, _| Reply {
        status: 200,
        after: Duration::from_millis(50),
        ..Reply::default()
    })
    .await;
    let sender = Sender::start().await;
    let limits = Limits::new(2, None).unwrap();
    let new = NewEndpoint::new("acme", sink.url("/"), Filter::all()).limits(limits);
    sender.register(new).await;
    for _ in 0..20 {
        sender.send("a", "{}").await;
    }
    sender.wait(DeliveryState::Delivered, 20).await;
    let times: Vec<_> = sink.got().iter().map(|request| request.at).collect();
    for window in times.windows(3) {
        // The third begins when the first is answered.
        let third = window[2].duration_since(window[0]);
        assert!(third >= Duration::from_millis(49), "{third:?}");
    }
}

#[tokio::test]
async fn an_endpoint_gets_no_more_a_second_than_its_limit() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let sender = Sender::start().await;
    let limits = Limits::new(10, Some(4)).unwrap();
    let new = NewEndpoint::new("acme", sink.url("/"), Filter::all()).limits(limits);
    sender.register(new).await;
    for _ in 0..12 {
        sender.send("a", "{}").await;
    }
    let got = sink.wait(12).await;
    let took = got[11].at.duration_since(got[0].at);
    // Four that were saved up, and four a second.
    assert!(took >= Duration::from_millis(1700), "{took:?}");
}

/// They are asked in vain, and have not used the places that were set aside for them.
#[tokio::test]
async fn endpoints_whose_deliveries_wait_behind_a_head_take_no_places() {
    let sink = Sink::start(|request, _| {
        let fails = request.body == b"{\"fails\":1}";
        Reply::status(if fails { 500 } else { 200 })
    })
    .await;
    let sender = Sender::start_with(|builder| {
        let mut calm = HealthPolicy::default();
        calm.open_after = 1000;
        let late = Schedule::new([Duration::from_mins(10)]).unwrap();
        builder.places(2).health(calm).schedule(late)
    })
    .await;
    for _ in 0..5 {
        let ordered = Filter::new(["ordered"]).unwrap();
        let new = NewEndpoint::new("acme", sink.url("/"), ordered).ordered();
        sender.register(new).await;
    }
    let keyed = |payload: &'static str| {
        let event = Event::new("acme", "ordered", payload).unwrap();
        event.order_key("1").unwrap()
    };
    sender.enqueue(keyed("{}")).await;
    sender.wait(DeliveryState::Delivered, 5).await;
    sender.enqueue(keyed("{\"fails\":1}")).await;
    sender.enqueue(keyed("{}")).await;
    sink.wait(10).await;
    let plain = Filter::new(["plain"]).unwrap();
    sender
        .register(NewEndpoint::new("acme", sink.url("/plain"), plain))
        .await;
    for _ in 0..20 {
        sender.send("plain", "{}").await;
    }
    let got = sink.wait(30).await;
    let plain = got.iter().filter(|request| request.path == "/plain");
    assert_eq!(plain.count(), 20);
}

#[tokio::test]
async fn two_dispatchers_on_one_outbox_send_everything_once() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let sender = Sender::start().await;
    let twin = webhook_dispatch::Dispatcher::builder(
        sender.outbox.clone(),
        crate::sender::vault(),
        crate::sender::client(),
    )
    .build()
    .unwrap();
    twin.start().await.unwrap();
    sender.endpoint(sink.url("/")).await;
    for _ in 0..60 {
        sender.send("a", "{}").await;
    }
    sender.wait(DeliveryState::Delivered, 60).await;
    twin.shutdown().await;
    sender.dispatcher.shutdown().await;
    assert_eq!(sink.got().len(), 60);
    assert_eq!(
        sender.outbox.find(Search::newest(100)).await.unwrap().len(),
        60
    );
}

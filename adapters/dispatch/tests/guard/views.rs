//! What customers get to see.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::net::SocketAddr;

use webhook_dispatch::guard::{
    Answer, CustomerView, Passage, Phase, Policy, Refused, ResolveFault, SendError, TlsFault,
};

use crate::support::receiver::Receiver;
use crate::support::{any_port, client, post, target};

async fn answered(status: u16) -> Answer {
    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 6\r\n\r\ninside");
    let receiver = Receiver::answering(answer).await;
    post(&client(), &receiver.url("/")).await.unwrap()
}

#[tokio::test]
async fn a_public_receivers_answer_is_shown() {
    let mut answer = answered(500).await;
    // No test reaches a public receiver; all else is as it came.
    answer.passage = Passage::Public;
    let outcome = Ok(answer);
    let CustomerView::Answered { status, body } = CustomerView::of(&outcome) else {
        panic!("{outcome:?}");
    };
    assert_eq!((status.as_u16(), body), (500, b"inside".as_slice()));
}

#[tokio::test]
async fn an_allow_listed_receivers_words_are_not() {
    assert_eq!(
        CustomerView::of(&Ok(answered(200).await)),
        CustomerView::Accepted
    );
    for status in [301, 404, 500] {
        let outcome = Ok(answered(status).await);
        assert_eq!(CustomerView::of(&outcome), CustomerView::NotDelivered);
    }
}

/// Otherwise the delivery log is a port scanner.
#[tokio::test]
async fn all_failures_look_alike_to_customers() {
    let denied = any_port().admit(&target("http://10.0.0.1/")).unwrap_err();
    let errors = [
        SendError::Closed,
        SendError::HeadTooLarge,
        SendError::Malformed,
        SendError::Refused(denied),
        SendError::Refused(Refused::PlainHttp),
        SendError::Refused(Refused::Port(22)),
        SendError::TimedOut(Phase::Resolve),
        SendError::TimedOut(Phase::Connect),
        SendError::TimedOut(Phase::Answer),
        SendError::Tls(TlsFault::WrongName),
        SendError::Tls(TlsFault::Protocol),
        SendError::Unreachable(ErrorKind::ConnectionRefused),
        SendError::Unreachable(ErrorKind::HostUnreachable),
        SendError::Unresolved(ResolveFault::NoAddress),
    ];
    let views: HashSet<_> = errors
        .into_iter()
        .map(|error| format!("{:?}", CustomerView::of(&Err(error))))
        .collect();
    assert_eq!(Vec::from_iter(views), ["NotDelivered"]);
}

#[tokio::test]
async fn what_a_receiver_says_is_not_logged() {
    let printed = format!("{:?}", answered(200).await);
    assert!(!printed.contains("inside"), "{printed}");
}

#[test]
fn policies_say_what_they_refuse() {
    let strict = Policy::strict();
    let refused = |url: &str| strict.admit(&target(url)).unwrap_err();
    assert_eq!(refused("http://hooks.test/"), Refused::PlainHttp);
    assert_eq!(refused("https://hooks.test:22/"), Refused::Port(22));
    assert_eq!(refused("https://8.8.8.8:80/"), Refused::Port(80));
    assert_eq!(strict.admit(&target("https://hooks.test/")), Ok(()));
    assert_eq!(strict.admit(&target("https://hooks.test:8443/")), Ok(()));
    let http = Policy::strict().allow_http().ports([80, 443]);
    assert_eq!(http.admit(&target("http://hooks.test/")), Ok(()));
    assert_eq!(
        http.admit(&target("https://hooks.test:8443/")),
        Err(Refused::Port(8443))
    );
    assert_eq!(
        refused("https://[::ffff:169.254.169.254]/").to_string(),
        "::ffff:169.254.169.254 is denied: Metadata (RFC 3927; metadata services of all clouds)"
    );
}

/// The address as reported is the one that answered, not a name looked up again.
#[tokio::test]
async fn operators_see_the_address() {
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let url = format!("http://hooks.test:{}/", receiver.address.port());
    let answer = post(&client(), &url).await.unwrap();
    let expected: SocketAddr = receiver.address;
    assert_eq!(
        (answer.address, answer.passage),
        (expected, Passage::AllowListed)
    );
}

//! Both halves, as processes, and what becomes of an order when either is killed.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use webhook_tests::wire::{Answer, raw};

/// One half, or both, in a folder; killed when it is dropped.
struct Process {
    child: Child,
}

struct Folder(PathBuf);

/// Two addresses that were free a moment ago.
struct Addresses {
    shop: SocketAddr,
    customer: SocketAddr,
}

impl Folder {
    fn fresh(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("outbound-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Addresses {
    fn free() -> Self {
        let listen = || TcpListener::bind("127.0.0.1:0").unwrap();
        // Both at once, so that they differ.
        let (shop, customer) = (listen(), listen());
        Self {
            shop: shop.local_addr().unwrap(),
            customer: customer.local_addr().unwrap(),
        }
    }
}

impl Process {
    /// Start it, and wait until it listens.
    fn start(folder: &Path, addresses: &Addresses, half: Option<&str>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_outbound"))
            .args(half)
            .current_dir(folder)
            .env("SHOP_BIND", addresses.shop.to_string())
            .env("CUSTOMER_BIND", addresses.customer.to_string())
            .env("RUST_LOG", "error")
            .env_remove("CUSTOMER_SECRET")
            .env_remove("VAULT_KEY")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let last = if half == Some("customer") {
            "customer listening"
        } else {
            "Then look at"
        };
        let listens = lines.any(|line| line.unwrap().starts_with(last));
        assert!(listens, "{half:?} did not start");
        // Nobody may be blocked by an unread pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child }
    }

    /// SIGKILL.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn request(to: SocketAddr, method: &str, path: &str, body: &str) -> Option<Answer> {
    // Somebody may be dead.
    std::net::TcpStream::connect(to).ok()?;
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    std::panic::catch_unwind(|| raw(to, request.as_bytes())).ok()
}

fn pay(shop: SocketAddr, order: usize) -> bool {
    let body = format!(r#"{{"order":"{order:04}","amount":2500}}"#);
    let answer = request(shop, "POST", "/payments", &body);
    answer.is_some_and(|answer| answer.status == 200)
}

/// How often each order was received.
fn received(customer: SocketAddr) -> serde_json::Map<String, serde_json::Value> {
    let answer = request(customer, "GET", "/received", "").expect("the customer listens");
    serde_json::from_str(&answer.body).unwrap()
}

fn wait_for(customer: SocketAddr, orders: usize) -> serde_json::Map<String, serde_json::Value> {
    let from = Instant::now();
    loop {
        let received = received(customer);
        if received.len() >= orders {
            return received;
        }
        let waited = from.elapsed();
        assert!(
            waited < Duration::from_mins(2),
            "{} of {orders} orders were received",
            received.len()
        );
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn an_order_that_is_paid_is_received_and_shown() {
    let (folder, addresses) = (Folder::fresh("once"), Addresses::free());
    let _both = Process::start(&folder.0, &addresses, None);
    assert!(pay(addresses.shop, 1));
    assert!(pay(addresses.shop, 1));
    assert_eq!(wait_for(addresses.customer, 1)["0001"], 1);
    let page = request(addresses.shop, "GET", "/deliveries", "").unwrap();
    let page = page.body;
    assert!(
        page.contains("order.paid") && page.contains("1: accepted"),
        "{page}"
    );
    // Another amount for the same order is another payment.
    let other = request(
        addresses.shop,
        "POST",
        "/payments",
        r#"{"order":"0001","amount":1}"#,
    );
    assert_eq!(other.unwrap().status, 409);
}

#[test]
fn endpoints_are_managed_over_http() {
    let (folder, addresses) = (Folder::fresh("manage"), Addresses::free());
    let _shop = Process::start(&folder.0, &addresses, Some("shop"));
    let shop = |method: &str, path: &str, body: &str| {
        let answer = request(addresses.shop, method, path, body).unwrap();
        (answer.status, answer.body)
    };
    let new = r#"{"url":"http://127.0.0.1:9/","events":["order.*"]}"#;
    let (status, made) = shop("POST", "/endpoints", new);
    assert_eq!(status, 201);
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let id = made["id"].as_str().unwrap();
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let (_, list) = shop("GET", "/endpoints", "");
    assert!(list.contains(id) && !list.contains("whsec_"), "{list}");
    assert_eq!(shop("POST", &format!("/endpoints/{id}/pause"), "").0, 204);
    assert_eq!(shop("POST", &format!("/endpoints/{id}/test"), "").0, 400);
    assert_eq!(shop("POST", &format!("/endpoints/{id}/enable"), "").0, 204);
    let (status, tested) = shop("POST", &format!("/endpoints/{id}/test"), "");
    assert_eq!(status, 202);
    let tested: serde_json::Value = serde_json::from_str(&tested).unwrap();
    let (_, page) = shop("GET", "/deliveries", "");
    let event = tested["event"].as_str().unwrap();
    assert!(
        page.contains(event) && page.contains("webhook.test"),
        "{page}"
    );
    let overlap = r#"{"overlap_secs":60}"#;
    assert_eq!(
        shop("POST", &format!("/endpoints/{id}/rotate"), overlap).0,
        200
    );
    assert_eq!(shop("DELETE", &format!("/endpoints/{id}"), "").0, 204);
    assert_eq!(shop("POST", &format!("/endpoints/{id}/enable"), "").0, 404);
    // Whatever the reason, it is one answer.
    for url in [
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "ftp://a/",
        "http://no.invalid/",
    ] {
        let body = format!(r#"{{"url":"{url}","events":["*"]}}"#);
        let answer = shop("POST", "/endpoints", &body);
        assert_eq!(answer, (400, "the URL cannot be used".to_owned()), "{url}");
    }
    let (status, _) = shop(
        "POST",
        "/endpoints",
        r#"{"url":"http://127.0.0.1:9/","events":["a b"]}"#,
    );
    assert_eq!(status, 400);
}

/// Each order that was paid is received once, whoever dies when.
#[test]
fn killing_either_half_loses_and_doubles_nothing() {
    const ORDERS: usize = 150;
    let (folder, addresses) = (Folder::fresh("killed"), Addresses::free());
    let start = |half| Process::start(&folder.0, &addresses, Some(half));
    let mut customer = Some(start("customer"));
    let mut shop = Some(start("shop"));
    let mut kills = 0;
    for order in 0..ORDERS {
        // The client tries until it knows; the order's number makes that one payment.
        while !pay(addresses.shop, order) {
            sleep(Duration::from_millis(20));
        }
        if rand::random_ratio(1, 12) {
            kills += 1;
            if rand::random() {
                shop.take().unwrap().kill();
                shop = Some(start("shop"));
            } else {
                customer.take().unwrap().kill();
                sleep(Duration::from_millis(rand::random_range(0..300)));
                customer = Some(start("customer"));
            }
        }
    }
    // And once for certain.
    shop.take().unwrap().kill();
    customer.take().unwrap().kill();
    let _halves = (start("customer"), start("shop"));
    let received = wait_for(addresses.customer, ORDERS);
    assert_eq!(received.len(), ORDERS);
    let doubled: Vec<_> = received.iter().filter(|(_, count)| **count != 1).collect();
    assert!(doubled.is_empty(), "after {kills} kills: {doubled:?}");
}

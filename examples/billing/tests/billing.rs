//! The example as a process: shops kept apart, late events ignored, payments counted once.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use webhook_actix::{Clock as _, KeyConfig, Keyring, Provider as _, Signing, SystemClock};
use webhook_stripe::Stripe;
use webhook_tests::app::eventually;
use webhook_tests::wire::{post, raw};

struct Billing {
    child: Child,
    address: SocketAddr,
    curl: Vec<String>,
    folder: PathBuf,
}

impl Billing {
    fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("billing-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_billing"))
            .current_dir(&folder)
            .env("BIND", "127.0.0.1:0")
            .env_remove("DATABASE")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (mut address, mut curl) = (None, Vec::new());
        for line in lines.by_ref() {
            let line = line.unwrap();
            if let Some(found) = line.strip_prefix("listening on http://") {
                address = Some(found.parse().unwrap());
            } else if line.starts_with("curl ") {
                curl.push(line);
                if curl.len() == 4 {
                    break;
                }
            }
        }
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            address: address.unwrap(),
            curl,
            folder,
        }
    }

    /// Post an event to a shop's path, signed with a secret. The status.
    fn post(&self, shop: &str, secret: &str, event: &Value) -> u16 {
        let stripe = Stripe::test();
        let keys = Keyring::build(stripe.spec().secret(), [KeyConfig::new(secret)]).unwrap();
        let body = event.to_string();
        let now = SystemClock::default().unix_secs();
        let signed = stripe.sign(&Signing::new(&keys, body.as_bytes(), now));
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(
            signed
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        let path = format!("/webhooks/stripe/{shop}");
        post(self.address, &path, &headers, body.as_bytes()).status
    }

    fn shop(&self, shop: &str) -> Value {
        let request = format!("GET /shops/{shop} HTTP/1.1\r\nHost: test\r\n\r\n");
        serde_json::from_str(&raw(self.address, request.as_bytes()).body).unwrap()
    }
}

impl Drop for Billing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const BAKERY: &str = "whsec_made_up_for_the_bakery_in_the_example";
const FLORIST: &str = "whsec_made_up_for_the_florist_in_the_example";

fn subscription(id: &str, created: i64, status: &str) -> Value {
    json!({
        "id": id, "object": "event", "type": "customer.subscription.updated", "livemode": false,
        "created": created, "data": { "object": {
            "id": "sub_1", "object": "subscription", "livemode": false, "created": 1,
            "status": status, "customer": "cus_1", "items": { "object": "list", "data": [] },
        } },
    })
}

fn invoice(id: &str) -> Value {
    json!({
        "id": id, "object": "event", "type": "invoice.paid", "livemode": false, "created": 1,
        "data": { "object": {
            "id": format!("in_{id}"), "object": "invoice", "livemode": false, "created": 1,
            "status": "paid", "currency": "eur", "amount_due": 2500, "amount_paid": 2500,
            "amount_remaining": 0, "subtotal": 2500, "total": 2500,
        } },
    })
}

#[test]
fn the_lines_it_prints_work_and_work_once() {
    let billing = Billing::start("lines");
    for line in billing.curl.iter().chain(&billing.curl) {
        let run = Command::new("sh").arg("-c").arg(line).output().unwrap();
        let answer = String::from_utf8(run.stdout).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{line}\n{answer}");
    }
    for shop in ["bakery", "florist"] {
        eventually("the shop has its rows", || {
            let page = billing.shop(shop);
            page["revenue"][0]["payments"] == 1 && page["subscriptions"][0]["status"] == "active"
        });
    }
}

#[test]
fn a_shops_secret_opens_its_own_path_alone() {
    let billing = Billing::start("apart");
    assert_eq!(billing.post("bakery", BAKERY, &invoice("evt_1")), 200);
    assert_eq!(billing.post("florist", BAKERY, &invoice("evt_2")), 401);
    assert_eq!(billing.post("nobody", BAKERY, &invoice("evt_3")), 401);
    // One id at two shops is two events.
    assert_eq!(billing.post("florist", FLORIST, &invoice("evt_1")), 200);
    for shop in ["bakery", "florist"] {
        eventually("the payment counts", || {
            billing.shop(shop)["revenue"][0]["amount"] == 2500
        });
    }
}

#[test]
fn what_comes_late_undoes_nothing() {
    let billing = Billing::start("late");
    let status = || billing.shop("bakery")["subscriptions"][0]["status"].clone();
    assert_eq!(
        billing.post("bakery", BAKERY, &subscription("evt_1", 100, "active")),
        200
    );
    eventually("the status is there", || status() == "active");
    assert_eq!(
        billing.post("bakery", BAKERY, &subscription("evt_3", 300, "canceled")),
        200
    );
    eventually("the status is there", || status() == "canceled");
    assert_eq!(
        billing.post("bakery", BAKERY, &subscription("evt_2", 200, "past_due")),
        200
    );
    // Behind it in the inbox, and seen when it was handled.
    assert_eq!(billing.post("bakery", BAKERY, &invoice("evt_4")), 200);
    eventually("the payment counts", || {
        billing.shop("bakery")["revenue"][0]["payments"] == 1
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(status(), "canceled");
}

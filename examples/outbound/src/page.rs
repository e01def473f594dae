//! What became of deliveries, as a page: what the customer may see, and no more.

use std::fmt::Write as _;

use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, error, web};
use webhook_actix::outbox::{DeliveryRow, Outbox as _, Search};
use webhook_dispatch::{CustomerAttempt, CustomerOutcome};

use crate::orders::TENANT;
use crate::shop::Shop;

pub(crate) async fn deliveries(shop: web::Data<Shop>) -> actix_web::Result<HttpResponse> {
    let unavailable = |_| error::ErrorServiceUnavailable("the database is not there\n");
    let latest = Search::newest(50).tenant(TENANT);
    let mut rows = String::new();
    for delivery in shop.outbox.find(latest).await.map_err(unavailable)? {
        let attempts = shop
            .outbox
            .attempts(delivery.id)
            .await
            .map_err(unavailable)?;
        let attempts = attempts.iter().map(CustomerAttempt::from);
        row(&mut rows, &delivery, &attempts.collect::<Vec<_>>());
    }
    Ok(HttpResponse::Ok()
        .insert_header(ContentType::html())
        .insert_header(("content-security-policy", "default-src 'none'"))
        .body(format!(
            "<!doctype html><meta charset=utf-8><title>Deliveries</title>\
             <h1>Deliveries</h1><table><tr><th>Event<th>Type<th>Endpoint<th>State<th>Attempts{rows}</table>"
        )))
}

fn row(rows: &mut String, delivery: &DeliveryRow, attempts: &[CustomerAttempt]) {
    let DeliveryRow {
        event,
        event_type,
        endpoint,
        state,
        ..
    } = delivery;
    let state = state.as_str();
    let attempts: Vec<String> = attempts.iter().map(shown).collect();
    // Ids and types are of a grammar without markup.
    let _ = write!(
        rows,
        "<tr><td>{event}<td>{event_type}<td>{endpoint}<td>{state}<td>{}",
        attempts.join("<br>")
    );
}

fn shown(attempt: &CustomerAttempt) -> String {
    let number = attempt.attempt;
    match &attempt.outcome {
        CustomerOutcome::Accepted => format!("{number}: accepted"),
        CustomerOutcome::Answered { status, body } => {
            let body = String::from_utf8_lossy(body);
            format!("{number}: {status} {}", escape(&body))
        }
        _ => format!("{number}: not delivered"),
    }
}

/// The body is a stranger's.
fn escape(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\'' => "&#39;".to_owned(),
            other => other.to_string(),
        })
        .collect()
}

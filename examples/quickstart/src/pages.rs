//! What the example shows of itself.

use actix_web::http::header::ContentType;
use actix_web::{HttpRequest, HttpResponse, Responder, error, web};
use metrics_exporter_prometheus::PrometheusHandle;
use percent_encoding::percent_decode_str;
use serde_json::json;

use crate::effects::Database;

const ENDPOINTS: [&str; 4] = ["stripe", "github", "slack", "custom"];

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) database: Database,
    pub(crate) metrics: PrometheusHandle,
}

pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/healthz", web::get().to(|| async { "ok\n" }))
        .route("/metrics", web::get().to(metrics))
        .route("/effects", web::get().to(recent))
        .route("/effects/{endpoint}/{event_id:.*}", web::get().to(count));
}

async fn metrics(state: web::Data<State>) -> impl Responder {
    state.metrics.run_upkeep();
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4")
        .body(state.metrics.render())
}

async fn recent(state: web::Data<State>) -> actix_web::Result<impl Responder> {
    let effects = state.database.recent().await.map_err(unavailable)?;
    Ok(web::Json(effects))
}

async fn count(state: web::Data<State>, request: HttpRequest) -> actix_web::Result<HttpResponse> {
    // From the raw path: an id may hold anything, an encoded `/` included.
    let (endpoint, id) = request
        .uri()
        .path()
        .strip_prefix("/effects/")
        .and_then(|rest| rest.split_once('/'))
        .ok_or_else(|| error::ErrorNotFound("no such endpoint\n"))?;
    if !ENDPOINTS.contains(&endpoint) {
        return Err(error::ErrorNotFound("no such endpoint\n"));
    }
    let id = percent_decode_str(id)
        .decode_utf8()
        .map_err(|_| error::ErrorBadRequest("the event id is not UTF-8\n"))?;
    let count = state
        .database
        .count(endpoint, &id)
        .await
        .map_err(unavailable)?;
    Ok(HttpResponse::Ok()
        .insert_header(ContentType::json())
        .body(json!({ "count": count }).to_string()))
}

/// The database's words are not for whoever asks.
fn unavailable(_: sqlx::Error) -> actix_web::Error {
    error::ErrorServiceUnavailable("the database is not there\n")
}

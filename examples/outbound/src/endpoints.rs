//! Endpoints, as customers manage them.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError, web};
use serde::Deserialize;
use serde_json::{Value, json};
use webhook_actix::outbox::{Endpoint, EndpointId, Filter, Health};
use webhook_dispatch::{EndpointError, NewEndpoint};

use crate::orders::TENANT;
use crate::shop::Shop;

#[derive(Debug, Deserialize)]
struct Wanted {
    url: String,
    events: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Overlap {
    overlap_secs: u64,
}

pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/endpoints", web::get().to(list))
        .route("/endpoints", web::post().to(register))
        .route("/endpoints/{id}", web::delete().to(delete))
        .route("/endpoints/{id}/enable", web::post().to(enable))
        .route("/endpoints/{id}/pause", web::post().to(pause))
        .route("/endpoints/{id}/rotate", web::post().to(rotate))
        .route("/endpoints/{id}/test", web::post().to(test));
}

async fn list(shop: web::Data<Shop>) -> Result<HttpResponse, Refusal> {
    let endpoints = shop.dispatcher.endpoints();
    let page = endpoints.of_tenant(TENANT, None, 100).await?;
    let page: Vec<Value> = page.iter().map(shown).collect();
    Ok(HttpResponse::Ok().json(page))
}

async fn register(
    shop: web::Data<Shop>,
    wanted: web::Json<Wanted>,
) -> Result<HttpResponse, Refusal> {
    let Wanted { url, events } = wanted.into_inner();
    let filter =
        Filter::new(events).map_err(|error| Refusal(StatusCode::BAD_REQUEST, error.to_string()))?;
    let endpoints = shop.dispatcher.endpoints();
    let (id, secret) = endpoints
        .register(NewEndpoint::new(TENANT, url, filter))
        .await?;
    // Shown once; what is kept is sealed.
    Ok(HttpResponse::Created().json(json!({
        "id": id.to_string(), "secret": secret.reveal(), "key": secret.key_id(),
    })))
}

async fn delete(shop: web::Data<Shop>, id: web::Path<String>) -> Result<HttpResponse, Refusal> {
    shop.dispatcher.endpoints().delete(known(&id)?).await?;
    Ok(HttpResponse::NoContent().finish())
}

async fn enable(shop: web::Data<Shop>, id: web::Path<String>) -> Result<HttpResponse, Refusal> {
    shop.dispatcher.endpoints().enable(known(&id)?).await?;
    Ok(HttpResponse::NoContent().finish())
}

async fn pause(shop: web::Data<Shop>, id: web::Path<String>) -> Result<HttpResponse, Refusal> {
    shop.dispatcher.endpoints().pause(known(&id)?).await?;
    Ok(HttpResponse::NoContent().finish())
}

async fn rotate(
    shop: web::Data<Shop>,
    id: web::Path<String>,
    overlap: web::Json<Overlap>,
) -> Result<HttpResponse, Refusal> {
    let overlap = Duration::from_secs(overlap.overlap_secs);
    let endpoints = shop.dispatcher.endpoints();
    let secret = endpoints.rotate(known(&id)?, overlap).await?;
    Ok(HttpResponse::Ok().json(json!({ "secret": secret.reveal(), "key": secret.key_id() })))
}

/// The button "send a test event".
async fn test(shop: web::Data<Shop>, id: web::Path<String>) -> Result<HttpResponse, Refusal> {
    let event = shop.dispatcher.endpoints().test(known(&id)?).await?;
    Ok(HttpResponse::Accepted().json(json!({ "event": event.as_str() })))
}

fn shown((endpoint, health): &(Endpoint, Health)) -> Value {
    json!({
        "id": endpoint.id.to_string(),
        "url": endpoint.url,
        "events": endpoint.filter.patterns(),
        "state": endpoint.state.stored().0,
        "failing": health.failing_since.is_some(),
    })
}

fn known(id: &str) -> Result<EndpointId, Refusal> {
    EndpointId::parse(id).ok_or_else(|| EndpointError::Unknown.into())
}

/// An answer that is no success.
#[derive(Debug)]
struct Refusal(StatusCode, String);

impl From<EndpointError> for Refusal {
    fn from(error: EndpointError) -> Self {
        tracing::info!(
            error = &error as &dyn std::error::Error,
            "an endpoint was refused"
        );
        match error {
            EndpointError::Unknown => Self(StatusCode::NOT_FOUND, "no such endpoint".to_owned()),
            EndpointError::Contended | EndpointError::Store(_) => {
                Self(StatusCode::SERVICE_UNAVAILABLE, "try again".to_owned())
            }
            // What the policy refuses and what does not resolve look alike: no port scanner.
            EndpointError::Refused(_) | EndpointError::Unresolved(_) | EndpointError::Url(_) => {
                Self(StatusCode::BAD_REQUEST, "the URL cannot be used".to_owned())
            }
            other => Self(StatusCode::BAD_REQUEST, other.to_string()),
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.1)
    }
}

impl ResponseError for Refusal {
    fn status_code(&self) -> StatusCode {
        self.0
    }
}

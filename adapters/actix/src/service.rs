//! Routes: one POST resource an endpoint.

use std::time::Instant;

use actix_web::dev::{AppService, HttpServiceFactory};
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, Resource, web};
use tracing::Instrument as _;
use tracing::field::Empty;
use webhook_core::ledger::Ledger;
use webhook_engine::EndpointHandle;

use crate::deliver::{Delivered, deliver};
use crate::webhooks::Webhooks;

impl<L: Ledger> HttpServiceFactory for Webhooks<L> {
    fn register(self, config: &mut AppService) {
        for endpoint in self.engine().endpoints() {
            // Other methods get actix's 405.
            Resource::new(endpoint.path().to_owned())
                .route(
                    web::post()
                        .to(move |request, payload| handle(endpoint.clone(), request, payload)),
                )
                .register(config);
        }
    }
}

async fn handle<L: Ledger>(
    endpoint: EndpointHandle<L>,
    request: HttpRequest,
    payload: web::Payload,
) -> HttpResponse {
    let began = Instant::now();
    let span = tracing::info_span!(
        "webhook.delivery",
        endpoint = endpoint.name(),
        provider = endpoint.provider(),
        outcome = Empty,
        status = Empty,
        event_id = Empty,
        event_type = Empty,
        key_id = Empty,
    );
    async {
        let delivered = deliver(&endpoint, &request, payload).await;
        endpoint.observe(&delivered.reception, began);
        respond(delivered)
    }
    .instrument(span)
    .await
}

fn respond(delivered: Delivered) -> HttpResponse {
    let response = delivered.reception.response;
    let status = actix_web::http::StatusCode::from_u16(response.status)
        .unwrap_or(actix_web::http::StatusCode::INTERNAL_SERVER_ERROR);
    let mut builder = HttpResponse::build(status);
    builder.insert_header((header::CACHE_CONTROL, "no-store"));
    if let Some(content_type) = response.content_type {
        builder.insert_header((header::CONTENT_TYPE, content_type));
        builder.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    }
    if let Some(secs) = response.retry_after_secs {
        builder.insert_header((header::RETRY_AFTER, secs.to_string()));
    }
    if !delivered.body_is_read {
        builder.force_close();
    }
    builder.body(response.body)
}

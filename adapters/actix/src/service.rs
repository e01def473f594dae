//! Routes: one resource an endpoint, for POST and, where the provider sends its challenge so, GET.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::{AppService, HttpServiceFactory};
use actix_web::http::{StatusCode, header};
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse, Resource, Route, web};
use webhook_core::Head;
use webhook_core::ledger::Ledger;
use webhook_engine::{Delivered, EndpointHandle};

use crate::webhooks::Webhooks;

impl<L: Ledger> HttpServiceFactory for Webhooks<L> {
    fn register(self, config: &mut AppService) {
        for endpoint in self.engine().endpoints() {
            let serve = |route: Route| {
                let endpoint = endpoint.clone();
                route.to(move |request, payload| handle(endpoint.clone(), request, payload))
            };
            // Other methods get actix's 405.
            let mut resource = Resource::new(endpoint.path().to_owned()).route(serve(web::post()));
            if endpoint.answers_get() {
                resource = resource.route(serve(web::get()));
            }
            resource.register(config);
        }
    }
}

/// Hand the head and the wire's bytes, below any decompressor, to the engine.
async fn handle<L: Ledger>(
    endpoint: EndpointHandle<L>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_bytes()));
    let target = request.uri().path_and_query();
    let target = target.map_or("/", |target| target.as_str());
    let head = Head::new(request.method().as_str(), target, fields);
    let tenant = request.match_info().get("tenant");
    respond(endpoint.deliver(head, tenant, payload).await)
}

fn respond(delivered: Delivered<Payload>) -> HttpResponse {
    let response = delivered.response;
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut builder = HttpResponse::build(status);
    builder.insert_header((header::CACHE_CONTROL, "no-store"));
    if let Some(content_type) = response.content_type {
        builder.insert_header((header::CONTENT_TYPE, content_type));
        builder.insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"));
    }
    if let Some(secs) = response.retry_after_secs {
        builder.insert_header((header::RETRY_AFTER, secs.to_string()));
    }
    if delivered.unread.is_some() {
        builder.force_close();
    }
    builder.body(Answer {
        bytes: response.body,
        _unread: delivered.unread,
    })
}

/// A body, and the request's unread one beside it until it is sent.
///
/// actix-http closes the connection after an answer only if the request's payload is still there: one
/// that was dropped, and sent in chunks, it drains without end.
struct Answer {
    bytes: Bytes,
    _unread: Option<Payload>,
}

impl MessageBody for Answer {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.bytes.len() as u64)
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        let bytes = std::mem::take(&mut self.bytes);
        Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)))
    }
}

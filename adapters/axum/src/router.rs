//! Routes: one an endpoint, for POST and, where the provider sends its challenge so, GET.

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use webhook_core::Head;
use webhook_core::ledger::Ledger;
use webhook_engine::{EndpointHandle, Webhooks};

/// The endpoints of `webhooks` as routes, to [merge](Router::merge) into an application's.
///
/// Other methods get axum's 405. The engine keeps its own bounds on bodies; axum's default limit, which binds only
/// extractors, does not apply. A layer that decompresses requests must not stand before these routes: signatures
/// are over the bytes that were sent, and would not hold.
///
/// # Panics
///
/// As [`Router::route`] does for two routes of one path, when it is merged. `build()` refuses two such endpoints.
pub fn router<L, S>(webhooks: &Webhooks<L>) -> Router<S>
where
    L: Ledger,
    S: Clone + Send + Sync + 'static,
{
    webhooks
        .endpoints()
        .fold(Router::new(), |router, endpoint| {
            let path = endpoint.path().to_owned();
            let gets = endpoint.answers_get();
            let serve =
                move |params: RawPathParams, request: Request| handle(endpoint, params, request);
            let mut methods = post(serve.clone());
            if gets {
                methods = methods.merge(get(serve));
            }
            router.route(&path, methods)
        })
}

async fn handle<L: Ledger>(
    endpoint: EndpointHandle<L>,
    params: RawPathParams,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let fields = parts.headers.iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_bytes()));
    let target = parts.uri.path_and_query();
    let target = target.map_or("/", |target| target.as_str());
    let head = Head::new(parts.method.as_str(), target, fields);
    let tenant = params.iter().find(|(name, _)| *name == "tenant");
    let tenant = tenant.map(|(_, value)| value);
    let delivered = endpoint
        .deliver(head, tenant, body.into_data_stream())
        .await;
    respond(delivered.response, delivered.unread.is_some())
}

fn respond(answer: webhook_engine::Response, close: bool) -> Response {
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(content_type) = answer.content_type.and_then(|text| text.parse().ok()) {
        headers.insert(header::CONTENT_TYPE, content_type);
        let nosniff = HeaderValue::from_static("nosniff");
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    }
    if let Some(secs) = answer.retry_after_secs {
        headers.insert(header::RETRY_AFTER, secs.into());
    }
    if close {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

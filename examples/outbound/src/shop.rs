//! The shop: takes payments, manages endpoints, sends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::{App, HttpResponse, HttpServer, web};
use serde_json::json;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use webhook_actix::outbox::Filter;
use webhook_dispatch::guard::{AddressPolicy, Allow, GuardedClient, Policy};
use webhook_dispatch::{Dispatcher, NewEndpoint};
use webhook_sqlx::SqliteOutbox;

use crate::AnyError;
use crate::config::Config;
use crate::orders::{self, PayError, Payment, TENANT};
use crate::{endpoints, page};

/// What the shop's pages need. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) pool: SqlitePool,
    pub(crate) outbox: SqliteOutbox,
    pub(crate) dispatcher: Arc<Dispatcher<SqliteOutbox>>,
}

/// A shop that is open.
pub(crate) struct Running {
    shop: Shop,
    server: Server,
    addresses: Vec<SocketAddr>,
}

pub(crate) async fn start(config: &Config) -> Result<Running, AnyError> {
    let options = SqliteConnectOptions::new()
        .filename(&config.shop_database)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(5));
    let pool = SqlitePoolOptions::new()
        .max_connections(4)
        .connect_with(options)
        .await?;
    orders::migrate(&pool).await?;
    let outbox = SqliteOutbox::open(&config.shop_database).await?;
    // The customer of the example is on this machine. A real shop opens nothing: `Policy::strict()`.
    let policy = Policy::strict()
        .addresses(AddressPolicy::public().allow(Allow::address([127, 0, 0, 1].into())))
        .allow_http()
        .any_port();
    let client = GuardedClient::builder().policy(policy).build()?;
    let dispatcher = Dispatcher::builder(outbox.clone(), config.vault.clone(), client).build()?;
    dispatcher.start().await?;
    let shop = Shop {
        pool,
        outbox,
        dispatcher: Arc::new(dispatcher),
    };
    let app = shop.clone();
    let server = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::new(app.clone()))
            .route("/payments", web::post().to(pay))
            .route("/deliveries", web::get().to(page::deliveries))
            .configure(endpoints::routes)
    })
    .bind(&config.shop_bind)?;
    let addresses = server.addrs();
    Ok(Running {
        shop,
        server: server.run(),
        addresses,
    })
}

impl Running {
    /// Register the customer, unless somebody is registered already.
    pub(crate) async fn introduce(&self, config: &Config) -> Result<(), AnyError> {
        let endpoints = self.shop.dispatcher.endpoints();
        if endpoints.of_tenant(TENANT, None, 1).await?.is_empty() {
            let filter = Filter::new(["order.*"])?;
            let new = NewEndpoint::new(TENANT, config.customer_url(), filter)
                .secret(&config.secret.0)
                .ordered();
            endpoints.register(new).await?;
        }
        Ok(())
    }

    pub(crate) fn print(&self) {
        for address in &self.addresses {
            println!("shop listening on http://{address}");
            println!(
                "curl http://{address}/payments -d '{{\"order\":\"1\",\"amount\":2500}}' -H 'content-type: application/json'"
            );
            println!("Then look at http://{address}/deliveries");
        }
    }

    pub(crate) async fn serve(self) -> Result<(), AnyError> {
        self.server.await?;
        self.shop.dispatcher.shutdown().await;
        self.shop.pool.close().await;
        Ok(())
    }
}

async fn pay(shop: web::Data<Shop>, payment: web::Json<Payment>) -> HttpResponse {
    match orders::pay(&shop.pool, &shop.outbox, &payment).await {
        Ok((event, is_repeat)) => {
            // It is committed: no need to wait for the next poll.
            shop.dispatcher.wake();
            HttpResponse::Ok().json(json!({ "event": event, "repeat": is_repeat }))
        }
        Err(error @ PayError::Conflict) => HttpResponse::Conflict().body(error.to_string()),
        Err(error @ PayError::Number(_)) => HttpResponse::BadRequest().body(error.to_string()),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a payment was not taken"
            );
            HttpResponse::ServiceUnavailable().body(error.to_string())
        }
    }
}

//! What the schema holds of a shop.

use actix_web::{HttpResponse, error, web};
use serde_json::{Value, json};
use sqlx::SqlitePool;

pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config.route("/shops/{shop}", web::get().to(shop));
}

async fn shop(
    pool: web::Data<SqlitePool>,
    shop: web::Path<String>,
) -> actix_web::Result<HttpResponse> {
    let shop = shop.into_inner();
    let read = read(&pool, &shop).await;
    let page = read.map_err(|_| error::ErrorServiceUnavailable("the database is not there\n"))?;
    Ok(HttpResponse::Ok().json(page))
}

async fn read(pool: &SqlitePool, shop: &str) -> Result<Value, sqlx::Error> {
    let subscriptions: Vec<(String, String, Option<String>, Option<i64>)> = sqlx::query_as(
        "select id, status, price, paid_until from subscription where shop = ?1 order by id",
    )
    .bind(shop)
    .fetch_all(pool)
    .await?;
    let revenue: Vec<(String, i64, i64)> = sqlx::query_as(
        "select currency, count(*), sum(amount) from payment where shop = ?1
         group by currency order by currency",
    )
    .bind(shop)
    .fetch_all(pool)
    .await?;
    let dunning: Vec<(String, i64)> = sqlx::query_as(
        "select invoice, max(attempt) from dunning where shop = ?1 group by invoice order by invoice",
    )
    .bind(shop)
    .fetch_all(pool)
    .await?;
    let subscriptions: Vec<Value> = subscriptions
        .into_iter()
        .map(|(id, status, price, paid_until)| {
            json!({ "id": id, "status": status, "price": price, "paid_until": paid_until })
        })
        .collect();
    let revenue: Vec<Value> = revenue
        .into_iter()
        .map(|(currency, payments, amount)| {
            json!({ "currency": currency, "payments": payments, "amount": amount })
        })
        .collect();
    let dunning: Vec<Value> = dunning
        .into_iter()
        .map(|(invoice, attempts)| json!({ "invoice": invoice, "attempts": attempts }))
        .collect();
    Ok(json!({ "subscriptions": subscriptions, "revenue": revenue, "failing": dunning }))
}

//! Payload types: what they read, and what they forgive.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "tests assert by panicking"
)]

use serde_json::{Value, json};
use webhook_stripe::payloads::{
    Account, Amount, BillingReason, Charge, CheckoutPaymentStatus, CheckoutSession, CheckoutStatus,
    Customer, Dispute, DisputeStatus, Expandable, Interval, Invoice, InvoiceStatus, PaymentIntent,
    PaymentIntentStatus, Payout, PayoutStatus, Refund, RefundReason, RefundStatus, Snapshot,
    Subscription, SubscriptionStatus, Thin,
};
use webhook_vectors::must_have;

macro_rules! object {
    ($file:literal) => {
        object(include_str!(concat!("../testdata/", $file, ".json")))
    };
}

/// What a handler decodes.
fn object(event: &str) -> Value {
    let event: Value = serde_json::from_str(event).unwrap();
    event["data"]["object"].clone()
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn units(amount: Option<Amount>) -> Option<i64> {
    amount.map(Amount::minor_units)
}

#[test]
fn payment_intents_are_read() {
    let value = object!("payloads/payment_intent.succeeded");
    let payment: PaymentIntent = read(&value);
    assert_eq!(payment.id, "pi_3xkVgOJvNA5wVzJZMVAUJHWP");
    assert_eq!(payment.status, PaymentIntentStatus::Succeeded);
    assert_eq!(
        (payment.amount.minor_units(), payment.currency.as_str()),
        (4999, "eur")
    );
    assert_eq!(units(payment.amount_received), Some(4999));
    assert_eq!(
        payment.customer.as_ref().map(Expandable::id),
        Some("cus_irr3g09jfybNVy")
    );
    assert_eq!(
        payment.latest_charge.unwrap().id(),
        "ch_3MB31HwZwRIYt8njYfuit6cV"
    );
    assert_eq!(payment.metadata["cart"], "a&b=c");
    assert_eq!(
        payment.shipping.unwrap().address.unwrap().country.unwrap(),
        "DE"
    );
    let connect: PaymentIntent = read(&object!("payloads/connect.payment_intent.succeeded"));
    assert_eq!(units(connect.application_fee_amount), Some(150));
    assert_eq!(
        must_have::<PaymentIntent>(&value),
        ["amount", "created", "currency", "id", "livemode", "status"]
    );
}

#[test]
fn invoices_are_read_in_both_shapes() {
    let now = object!("payloads/invoice.paid");
    let before = object!("shapes/invoice.paid.2020-08-27");
    for value in [&now, &before] {
        let invoice: Invoice = read(value);
        assert_eq!(invoice.id.as_deref(), Some("in_1yNQKc4Ycs77GrPs5Q9VsFua"));
        assert_eq!(invoice.status, Some(InvoiceStatus::Paid));
        assert_eq!(
            invoice.billing_reason,
            Some(BillingReason::SubscriptionCycle)
        );
        assert_eq!(
            (
                invoice.total.minor_units(),
                invoice.amount_paid.minor_units()
            ),
            (2000, 2000)
        );
        assert_eq!(invoice.subscription(), Some("sub_1VGmca4t5tTgA7bv21YUCKIy"));
        assert_eq!(
            invoice.status_transitions.unwrap().paid_at.unwrap().get(),
            1_749_999_999
        );
        let line = &invoice.lines.unwrap().data[0];
        assert_eq!(line.price(), Some("price_1nCxb1SHzGQyj9i2eYdSQ2da"));
        assert_eq!(line.subscription(), Some("sub_1VGmca4t5tTgA7bv21YUCKIy"));
        assert_eq!(line.period.as_ref().unwrap().end.get(), 1_752_592_000);
        let mut needed = must_have::<Invoice>(value);
        // Only before 2025 was the price itself in the line.
        needed.retain(|path| path != "lines.data.[].price.id");
        assert_eq!(
            needed,
            [
                "amount_due",
                "amount_paid",
                "amount_remaining",
                "created",
                "currency",
                "lines.data",
                "lines.data.[].amount",
                "lines.data.[].currency",
                "lines.data.[].id",
                "lines.data.[].period.end",
                "lines.data.[].period.start",
                "livemode",
                "subtotal",
                "total"
            ]
        );
    }
    assert_eq!(
        read::<Invoice>(&now).lines.unwrap().data[0].product(),
        Some("prod_mUUOSdVGJvhwP3")
    );
    // `invoice.upcoming` announces an invoice that has no id yet.
    let mut upcoming = now.clone();
    upcoming.as_object_mut().unwrap().remove("id");
    assert_eq!(read::<Invoice>(&upcoming).id, None);
}

#[test]
fn subscriptions_are_read_in_both_shapes() {
    let now = object!("shapes/customer.subscription.updated");
    let before = object!("shapes/customer.subscription.updated.2020-08-27");
    for value in [&now, &before] {
        let subscription: Subscription = read(value);
        assert_eq!(subscription.status, SubscriptionStatus::Active);
        assert_eq!(subscription.customer.id(), "cus_irr3g09jfybNVy");
        assert!(subscription.cancel_at_period_end);
        assert_eq!(
            subscription.current_period_end().unwrap().get(),
            1_752_592_000
        );
        let item = &subscription.items.data[0];
        let price = item.price.as_ref().unwrap();
        assert_eq!(
            (item.quantity, units(price.unit_amount)),
            (Some(3), Some(2000))
        );
        assert_eq!(price.recurring.as_ref().unwrap().interval, Interval::Month);
        assert_eq!(price.product.as_ref().unwrap().id(), "prod_mUUOSdVGJvhwP3");
        assert_eq!(
            must_have::<Subscription>(value),
            [
                "created",
                "customer",
                "id",
                "items",
                "items.data",
                "items.data.[].id",
                "items.data.[].price.id",
                "items.data.[].price.recurring.interval",
                "items.data.[].price.recurring.interval_count",
                "livemode",
                "status"
            ]
        );
    }
}

#[test]
fn checkout_sessions_are_read() {
    let value = object!("payloads/checkout.session.completed");
    let session: CheckoutSession = read(&value);
    assert_eq!(session.status, Some(CheckoutStatus::Complete));
    assert_eq!(session.payment_status, CheckoutPaymentStatus::Paid);
    assert_eq!(units(session.amount_total), Some(4999));
    assert_eq!(session.client_reference_id.as_deref(), Some("user-8271"));
    assert_eq!(
        session.payment_intent.unwrap().id(),
        "pi_35R3wOeE7i4Gtom7E6fmbF4y"
    );
    assert_eq!(
        session.customer_details.unwrap().name.as_deref(),
        Some("Zoë Müller")
    );
    assert_eq!(
        must_have::<CheckoutSession>(&value),
        [
            "id",
            "livemode",
            "mode",
            "payment_status",
            "total_details.amount_discount",
            "total_details.amount_tax"
        ]
    );
}

#[test]
fn what_becomes_of_payments_is_read() {
    let value = object!("shapes/charge.refunded");
    let charge: Charge = read(&value);
    assert_eq!(
        (
            charge.amount.minor_units(),
            charge.amount_refunded.minor_units()
        ),
        (4999, 1500)
    );
    assert!(charge.paid && charge.captured && !charge.refunded);
    assert_eq!(
        charge.outcome.unwrap().risk_level.as_deref(),
        Some("normal")
    );
    assert_eq!(
        must_have::<Charge>(&value),
        [
            "amount",
            "amount_refunded",
            "captured",
            "created",
            "currency",
            "id",
            "livemode",
            "paid",
            "refunded",
            "status"
        ]
    );

    let value = object!("shapes/refund.updated");
    let refund: Refund = read(&value);
    assert_eq!(refund.status, Some(RefundStatus::Succeeded));
    assert_eq!(refund.reason, Some(RefundReason::RequestedByCustomer));
    assert_eq!(refund.charge.unwrap().id(), "ch_3QkT8Lw2eZvKYlo1");
    assert_eq!(
        must_have::<Refund>(&value),
        ["amount", "created", "currency", "id"]
    );

    let value = object!("shapes/charge.dispute.created");
    let dispute: Dispute = read(&value);
    assert_eq!(dispute.status, DisputeStatus::WarningNeedsResponse);
    assert_eq!(
        dispute.evidence_details.unwrap().due_by.unwrap().get(),
        1_750_809_599
    );
    assert_eq!(
        must_have::<Dispute>(&value),
        [
            "amount", "charge", "created", "currency", "id", "livemode", "reason", "status"
        ]
    );
}

#[test]
fn accounts_are_read() {
    let value = object!("shapes/customer.updated");
    let customer: Customer = read(&value);
    assert_eq!(
        (customer.balance.map(Amount::minor_units), customer.deleted),
        (Some(-500), false)
    );
    assert_eq!(must_have::<Customer>(&value), ["id"]);

    let value = object!("shapes/account.updated");
    let account: Account = read(&value);
    assert!(account.charges_enabled && !account.payouts_enabled);
    assert_eq!(
        account.requirements.unwrap().currently_due,
        ["company.tax_id"]
    );
    assert_eq!(must_have::<Account>(&value), ["id"]);

    let value = object!("shapes/payout.paid");
    let payout: Payout = read(&value);
    assert_eq!(
        (payout.status, payout.amount.minor_units()),
        (PayoutStatus::Paid, 128_450)
    );
    assert_eq!(
        must_have::<Payout>(&value),
        [
            "amount",
            "arrival_date",
            "created",
            "currency",
            "id",
            "livemode",
            "status"
        ]
    );
}

#[test]
fn whole_events_are_read() {
    let text = include_str!("../testdata/shapes/customer.subscription.updated.json");
    let event: Snapshot<Subscription> = serde_json::from_str(text).unwrap();
    assert_eq!(event.event_type, "customer.subscription.updated");
    assert_eq!(event.api_version.as_deref(), Some("2025-05-28.basil"));
    let before = event.data.previous_attributes.unwrap();
    assert_eq!(before["cancel_at_period_end"], json!(false));
    assert!(event.data.object.cancel_at_period_end);

    let connect = include_str!("../testdata/shapes/account.updated.json");
    let connect: Snapshot<Value> = serde_json::from_str(connect).unwrap();
    assert_eq!(connect.account.as_deref(), Some("acct_1s4eRy9wQsnHaux3"));

    let mut old: Value = serde_json::from_str(text).unwrap();
    old["request"] = json!("req_1");
    assert_eq!(
        read::<Snapshot<Value>>(&old).request.unwrap().id.as_deref(),
        Some("req_1")
    );

    let thin =
        include_str!("../testdata/payloads/thin.v1.billing.meter.error_report_triggered.json");
    let thin: Thin = serde_json::from_str(thin).unwrap();
    assert_eq!(thin.related_object.unwrap().object_type, "billing.meter");
    assert_eq!(thin.context.as_deref(), Some("acct_1s4eRy9wQsnHaux3"));
}

#[test]
fn money_is_an_integer_or_the_event_is_not_read() {
    let good = object!("shapes/charge.refunded");
    for wrong in [
        json!(49.99),
        json!(4999.0),
        json!("4999"),
        json!(null),
        json!(u64::MAX),
    ] {
        let mut charge = good.clone();
        charge["amount"] = wrong.clone();
        assert!(
            serde_json::from_str::<Charge>(&charge.to_string()).is_err(),
            "{wrong}"
        );
    }
    let mut free = good.clone();
    free["amount"] = json!(-0);
    assert_eq!(read::<Charge>(&free).amount, Amount::default());
}

#[test]
fn ids_may_come_as_objects() {
    let mut value = object!("payloads/payment_intent.succeeded");
    value["customer"] = object!("shapes/customer.updated");
    value["latest_charge"] = object!("shapes/charge.refunded");
    value["payment_method"] = json!({"id": "pm_1", "object": "payment_method", "card": {}});
    let payment: PaymentIntent = read(&value);
    let customer = payment.customer.unwrap();
    assert_eq!(customer.id(), "cus_irr3g09jfybNVy");
    assert_eq!(
        customer.object().unwrap().name.as_deref(),
        Some("Zoë Müller")
    );
    let charge = payment.latest_charge.unwrap();
    assert_eq!(charge.object().unwrap().amount_refunded.minor_units(), 1500);
    assert_eq!(payment.payment_method.unwrap().id(), "pm_1");

    value["customer"] = json!({"id": "cus_1", "object": "customer", "deleted": true});
    let customer = read::<PaymentIntent>(&value).customer.unwrap();
    assert!(customer.object().unwrap().deleted);
    for wrong in [json!(1), json!([]), json!({"object": "customer"})] {
        value["customer"] = wrong;
        assert!(serde_json::from_str::<PaymentIntent>(&value.to_string()).is_err());
    }
}

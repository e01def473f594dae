"""Flask and `stripe`, as https://docs.stripe.com/webhooks/quickstart?lang=python shows it."""

import os

import stripe
from flask import Flask, jsonify, request

from counter import effect, serve

app = Flask(__name__)
endpoint_secret = os.environ["SECRET"]


@app.route("/webhook", methods=["POST"])
def webhook():
    payload = request.data
    sig_header = request.headers.get("stripe-signature")
    try:
        event = stripe.Webhook.construct_event(payload, sig_header, endpoint_secret)
    except ValueError:
        return jsonify(success=False), 400
    except stripe.SignatureVerificationError:
        return jsonify(success=False), 400
    if event["type"] == "payment_intent.succeeded":
        effect(event["id"])
    else:
        print(f"Unhandled event type {event['type']}")
    return jsonify(success=True)


serve(app)

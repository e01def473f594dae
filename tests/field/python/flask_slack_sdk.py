"""Flask and `slack_sdk`, as https://docs.slack.dev/tools/python-slack-sdk/ shows `SignatureVerifier`."""

import os

from flask import Flask, jsonify, make_response, request
from slack_sdk.signature import SignatureVerifier

from counter import effect, serve

app = Flask(__name__)
signature_verifier = SignatureVerifier(os.environ["SECRET"])


@app.route("/webhook", methods=["POST"])
def slack_app():
    if not signature_verifier.is_valid_request(request.get_data(), request.headers):
        return make_response("invalid request", 403)
    payload = request.get_json()
    if payload.get("type") == "url_verification":
        return jsonify(challenge=payload["challenge"])
    if payload.get("event", {}).get("type") == "message":
        effect(payload["event_id"])
    return make_response("", 200)


serve(app)

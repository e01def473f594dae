"""Requests signed by the official libraries, sent to a running quickstart; and mutations of each.

Usage: run.py QUICKSTART_BINARY. Run it with `cargo xtask sdk`, which builds the one and installs the others.
Every genuine request must be accepted, every mutation refused.
"""

import hashlib
import hmac
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import stripe
from slack_sdk.signature import SignatureVerifier

STRIPE = "whsec_mpPyiJ0AnajRXL8RJOWUSOfvyB6zbnrT"
SLACK = "8f742231b10e8888abcd99yyyzzz85a5"
# GitHub's documentation, "Validating webhook deliveries": the secret, the body and the signature.
GITHUB = "It's a Secret to Everybody"
PUBLISHED = b"Hello, World!"
PUBLISHED_SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def stripe_headers(body: bytes) -> dict:
    now = int(time.time())
    tag = stripe.WebhookSignature._compute_signature(f"{now}.{body.decode()}", STRIPE)
    headers = {"Stripe-Signature": f"t={now},v1={tag}"}
    stripe.Webhook.construct_event(body, headers["Stripe-Signature"], STRIPE)
    return headers


def slack_headers(body: bytes) -> dict:
    now = str(int(time.time()))
    verifier = SignatureVerifier(SLACK)
    headers = {
        "X-Slack-Request-Timestamp": now,
        "X-Slack-Signature": verifier.generate_signature(timestamp=now, body=body),
    }
    assert verifier.is_valid_request(body, headers)
    return headers


def github_headers(body: bytes, event: str, delivery: str) -> dict:
    tag = hmac.new(GITHUB.encode(), body, hashlib.sha256).hexdigest()
    return {
        "X-Hub-Signature-256": f"sha256={tag}",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery,
    }


def send(base: str, path: str, headers: dict, body: bytes) -> int:
    request = urllib.request.Request(base + path, data=body, method="POST")
    request.add_header("Content-Type", "application/json")
    for name, value in headers.items():
        request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def mutations(headers: dict, body: bytes, signed: list):
    """One thing changed at a time."""
    yield "one bit of the body", headers, body[:-3] + bytes([body[-3] ^ 1]) + body[-2:]
    yield "a byte appended", headers, body + b"\n"
    yield "a byte dropped", headers, body[:-1]
    for name in signed:
        value = headers[name]
        yield f"{name} dropped", {k: v for k, v in headers.items() if k != name}, body
        yield f"{name} emptied", {**headers, name: ""}, body
        yield f"{name} cut short", {**headers, name: value[:-1]}, body
        flipped = value[:-1] + ("0" if value[-1] != "0" else "1")
        yield f"{name} with its last digit changed", {**headers, name: flipped}, body
        yield f"{name} in upper case", {**headers, name: value.upper() if value.upper() != value else value + "0"}, body


def main() -> int:
    environment = dict(
        os.environ,
        BIND="127.0.0.1:0",
        STRIPE_WEBHOOK_SECRETS=STRIPE,
        SLACK_SIGNING_SECRETS=SLACK,
        GITHUB_WEBHOOK_SECRETS=GITHUB,
    )
    environment.pop("DATABASE_URL", None)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [os.path.abspath(sys.argv[1])], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            base = next(l for l in process.stdout if l.startswith("listening on ")).split()[-1]
            stripe_body = json.dumps(
                {"id": "evt_sdk", "object": "event", "type": "invoice.paid", "livemode": False,
                 "data": {"object": {"id": "in_1", "object": "invoice"}}}, indent=2).encode()
            slack_body = json.dumps(
                {"type": "event_callback", "event_id": "EvSDK", "team_id": "T1",
                 "event": {"type": "app_mention", "text": "h\u00e9"}}).encode()
            ping = json.dumps({"zen": "z", "hook_id": 1, "hook": {}}).encode()
            published = {"X-Hub-Signature-256": PUBLISHED_SIGNATURE, "X-GitHub-Event": "ping",
                         "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958"}
            cases = [
                # The published body is authentic and no event: past the signature gate, then 400.
                ("GitHub, published example", "/webhooks/github", published, PUBLISHED, 400,
                 ["X-Hub-Signature-256"]),
                ("GitHub, ping", "/webhooks/github", github_headers(ping, "ping", "sdk-1"), ping, 200,
                 ["X-Hub-Signature-256"]),
                (f"Stripe, stripe-python {stripe.VERSION}", "/webhooks/stripe", stripe_headers(stripe_body),
                 stripe_body, 200, ["Stripe-Signature"]),
                ("Slack, slack_sdk", "/webhooks/slack", slack_headers(slack_body), slack_body, 200,
                 ["X-Slack-Request-Timestamp", "X-Slack-Signature"]),
            ]
            for name, path, headers, body, expected, signed in cases:
                for what, other_headers, other_body in mutations(headers, body, signed):
                    status = send(base, path, other_headers, other_body)
                    wrong += status != 401
                    print(f"{'ok   ' if status == 401 else 'WRONG'} {status}  {name}: {what}")
                status = send(base, path, headers, body)
                wrong += status != expected
                print(f"{'ok   ' if status == expected else 'WRONG'} {status}  {name}: as signed")
            time.sleep(1)
            for endpoint, event in [("stripe", "evt_sdk"), ("slack", "EvSDK"), ("github", "sdk-1")]:
                with urllib.request.urlopen(f"{base}/effects/{endpoint}/{event}") as answer:
                    count = json.load(answer)["count"]
                wrong += count != 1
                print(f"{'ok   ' if count == 1 else 'WRONG'} {count} effect of {endpoint}/{event}")
        finally:
            process.terminate()
            process.wait(timeout=30)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

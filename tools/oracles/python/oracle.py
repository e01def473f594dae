"""Answers, line by line, whether the official Python libraries take a request for authentic.

In:  {"sdk": .., "now": unix seconds, "secret": .., "headers": [[name, base64]..], "body": base64}
Out: {"ok": true} or {"ok": false, "why": ..}

Headers are what a WSGI server makes of them: names without case, values in Latin-1, repeats joined by a comma. All clocks
stand at `now`.
"""

import base64
import json
import sys
import time
from datetime import datetime, timezone
from urllib.parse import parse_qsl

import standardwebhooks.webhooks as standard
from nacl.signing import SigningKey
from slack_sdk.signature import Clock, SignatureVerifier
from stripe import WebhookSignature
from twilio.request_validator import RequestValidator

NOW = 0
URL = "https://shop.example/webhooks/twilio"


class Frozen(Clock):
    def now(self):
        return NOW


class FrozenDatetime(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(NOW, tz=tz or timezone.utc)


time.time = lambda: NOW
standard.datetime = FrozenDatetime


def pynacl(secret, headers, body):
    # As in Discord's documentation of its interactions. The two ends of the pair are one seed here.
    signature = bytes.fromhex(headers["x-signature-ed25519"])
    timestamp = headers["x-signature-timestamp"]
    SigningKey(bytes.fromhex(secret)).verify_key.verify(
        timestamp.encode() + body, signature
    )
    return True


def slack(secret, headers, body):
    return SignatureVerifier(secret, Frozen()).is_valid_request(body, headers)


def standardwebhooks(secret, headers, body):
    standard.Webhook(secret).verify(body, headers, json_parse=False)
    return True


def stripe(secret, headers, body):
    header = headers.get("stripe-signature")
    return WebhookSignature.verify_header(body, header, secret, 300)


class Form(dict):
    """What Flask gives: every value of a name."""

    def getlist(self, name):
        return self[name]


def twilio(secret, headers, body):
    form = Form()
    for name, value in parse_qsl(body.decode(), keep_blank_values=True):
        form.setdefault(name, []).append(value)
    signature = headers["x-twilio-signature"]
    return RequestValidator(secret).validate(URL, form, signature)


SDKS = {
    "pynacl": pynacl,
    "slack_sdk": slack,
    "standardwebhooks": standardwebhooks,
    "stripe-python": stripe,
    "twilio": twilio,
}

for line in sys.stdin:
    request = json.loads(line)
    NOW = request["now"]
    headers = {}
    for name, value in request["headers"]:
        name, value = name.lower(), base64.b64decode(value).decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    body = base64.b64decode(request["body"])
    try:
        ok = bool(SDKS[request["sdk"]](request["secret"], headers, body))
        answer = {"ok": ok, "why": "" if ok else "returned false"}
    except Exception as error:
        answer = {"ok": False, "why": type(error).__name__}
    print(json.dumps(answer), flush=False)
    # One answer a request; the last of a batch must not wait.
    if request.get("last"):
        sys.stdout.flush()

"""Write sdk.json: requests signed by the specification's own library, and checked by it.

    pip install standardwebhooks==1.1.0 && python generate.py
"""

import base64
import datetime
import hashlib
import importlib.metadata
import json
import pathlib
import unittest.mock

import standardwebhooks.webhooks
from standardwebhooks.webhooks import Webhook

HERE = pathlib.Path(__file__).parent
NEW = "whsec_7zVg0uVw7nXeGqLr3uX2vJ4k1hS8bC6yQd5pTf9aMnE="
OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1750000000
MOMENT = datetime.datetime.fromtimestamp(NOW, tz=datetime.timezone.utc)


class Stopped(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return MOMENT.astimezone(tz)


version = importlib.metadata.version("standardwebhooks")
bodies = [(path.name, path.read_text("utf-8")) for path in sorted(HERE.glob("payloads/*.json"))]
bodies += [("non-ASCII, CRLF, escapes", '{"type":"a.b","data":{"name":"Zoë — 山田 😀 \\u001b \\/",\r\n"n":1.0e2}}\n')]
cases = []
for name, body in bodies:
    event = "msg_" + hashlib.sha256(body.encode()).hexdigest()[:27]
    for secrets, rotation in [([NEW], ""), ([NEW, OLD], ", two keys")]:
        signature = " ".join(Webhook(secret).sign(event, MOMENT, body) for secret in secrets)
        headers = {"webhook-id": event, "webhook-timestamp": str(NOW), "webhook-signature": signature}
        with unittest.mock.patch.object(standardwebhooks.webhooks, "datetime", Stopped):
            for secret in secrets:
                Webhook(secret).verify(body, headers)
        cases.append({
            "name": name + rotation,
            "source": f"official-sdk standardwebhooks-python {version}",
            "secrets": secrets,
            "identity": {"id": event, "type": json.loads(body)["type"]},
            "headers": list(headers.items()),
            "body_base64": base64.b64encode(body.encode()).decode(),
            "now": NOW,
            "tolerance": 300,
            "expect": "valid",
            "signed_base64": base64.b64encode(f"{event}.{NOW}.{body}".encode()).decode(),
        })
with open(HERE / "sdk.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")

"""Write sdk.json: requests signed by Slack's own library, and checked by it.

    pip install slack_sdk==3.48.0 && python generate.py
"""

import base64
import json
import pathlib

from slack_sdk.signature import Clock, SignatureVerifier
from slack_sdk.version import __version__

HERE = pathlib.Path(__file__).parent
SECRET = "3f9c2a7be14d58069bd1c7e2f4a86035"
NOW = 1750000000


class Stopped(Clock):
    def now(self):
        return float(NOW)


sdk = SignatureVerifier(SECRET, Stopped())
bodies = [(path.name, path.read_text("utf-8")) for path in sorted(HERE.glob("payloads/*"))]
bodies += [("empty", ""), ("non-ASCII, CRLF", '{"text":"Größe — 山田 😀",\r\n"n":1.0e2}\n')]
cases = []
for name, body in bodies:
    headers = {
        "X-Slack-Request-Timestamp": str(NOW),
        "X-Slack-Signature": sdk.generate_signature(timestamp=str(NOW), body=body),
    }
    assert sdk.is_valid_request(body, headers)
    cases.append({
        "name": name,
        "source": f"official-sdk slack_sdk {__version__}",
        "secrets": [SECRET],
        "headers": list(headers.items()),
        "body_base64": base64.b64encode(body.encode()).decode(),
        "now": NOW,
        "tolerance": 300,
        "expect": "valid",
        "signed_base64": base64.b64encode(f"v0:{NOW}:{body}".encode()).decode(),
    })
with open(HERE / "sdk.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")

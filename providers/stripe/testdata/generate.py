"""Write sdk.json: requests signed by Stripe's own library, and checked by it.

    pip install stripe==16.1.0 && python generate.py
"""

import base64
import json
import pathlib
import time

import stripe

HERE = pathlib.Path(__file__).parent
SECRET = "whsec_kXq0fVn7sYb2TfLrD4mZc9GjWp1HuEa8"
NOW = 1750000000

time.time = lambda: float(NOW)
bodies = [(path.name, path.read_text("utf-8")) for path in sorted(HERE.glob("payloads/*.json"))]
bodies += [
    ("empty", ""),
    ("non-ASCII, CRLF, escapes", '{"id":"evt_1","name":"Zoë — 山田 😀 \\u001b \\/",\r\n"n":1.0e2}\n'),
]
cases = []
for name, body in bodies:
    header = stripe.WebhookSignature.generate_signature_header(body, SECRET, timestamp=NOW)
    assert stripe.WebhookSignature.verify_header(body, header, SECRET, 300)
    cases.append({
        "name": name,
        "source": f"official-sdk stripe-python {stripe.VERSION}",
        "secrets": [SECRET],
        "headers": [["Stripe-Signature", header]],
        "body_base64": base64.b64encode(body.encode()).decode(),
        "now": NOW,
        "tolerance": 300,
        "expect": "valid",
        "signed_base64": base64.b64encode(f"{NOW}.{body}".encode()).decode(),
    })
with open(HERE / "sdk.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")

"""Writes vectors.json: HMAC-SHA1 by Python's hmac, one thing changed at a time.

Intercom publishes no vectors. Run here: python3 generate.py
"""

import base64
import hashlib
import hmac
import json
import sys

SECRET = "4f7c1e90-77aa-4d1b-9a83-5d0c2b6e1f35"
OTHER = "b02d94c7-0d3e-4f61-8f5a-1c9e7a6d2b48"
NOW = 1750000000
SOURCE = f"independent python hmac ({sys.version.split()[0]})"
BODY = open("payloads/conversation.user.created.json", "rb").read()
IDENTITY = {
    "id": "notif_3f6b2a50-4a0c-11f0-9d1e-0242ac120002",
    "type": "conversation.user.created",
    "account": "q7xk2m9d",
}
cases = []


def mac(body, secret=SECRET, name="sha1"):
    return hmac.new(secret.encode(), body, name).hexdigest()


def case(name, expect, value=None, body=BODY, *, headers=None, secrets=(SECRET,), also_ok=None, note=None, **more):
    if headers is None:
        headers = [["X-Hub-Signature", value if value is not None else "sha1=" + mac(body)]]
    entry = {"name": name, "source": SOURCE}
    if note:
        entry["note"] = note
    entry |= {
        "secrets": list(secrets),
        "headers": headers,
        "body_base64": base64.b64encode(body).decode(),
        "now": NOW,
        "expect": expect,
    }
    if also_ok:
        entry["also_ok"] = also_ok
    if expect == "valid":
        entry["signed_base64"] = base64.b64encode(body).decode()
    cases.append(entry | more)


good = mac(BODY)
case("valid", "valid", identity=IDENTITY)
case("header name in lower case", "valid", headers=[["x-hub-signature", "sha1=" + good]])
case("two secrets, the second signed", "valid", secrets=(OTHER, SECRET))
case("unicode body", "valid", body='{"id":"1","topic":"a","name":"Zoë 山田 😀"}'.encode())
case("body with unusual whitespace and CRLF", "valid", body=b'\r\n{ "id" : "1",\t"topic":"a" }\r\n\n')
case("empty body", "valid", body=b"")
case("body that is not UTF-8", "valid", body=b'{"id":"\xff\xfe"}')
case("body with a NUL and a BOM", "valid", body=b"\xef\xbb\xbf{}\x00")
tampered = BODY.replace(b"invoice", b"invoke!")
case("body tampered", "bad_signature", "sha1=" + good, tampered)
case("body with a line end more", "bad_signature", "sha1=" + good, BODY + b"\n")
case("signed with another secret", "bad_signature", "sha1=" + mac(BODY, OTHER))
case("signed with an empty secret", "bad_signature", "sha1=" + mac(BODY, ""))
case("plain SHA-1 of the body", "bad_signature", "sha1=" + hashlib.sha1(BODY).hexdigest())
case("all-zero signature", "bad_signature", "sha1=" + "0" * 40)
case("HMAC-SHA256 under its own name", "malformed", "sha256=" + mac(BODY, name="sha256"), also_ok=["bad_signature"])
case("HMAC-SHA256 under the name of SHA-1", "malformed", "sha1=" + mac(BODY, name="sha256"), also_ok=["bad_signature"])
case("HMAC-SHA256 cut to 20 bytes", "bad_signature", "sha1=" + mac(BODY, name="sha256")[:40])
case("no prefix", "malformed", good, also_ok=["bad_signature"])
case("prefix in upper case", "malformed", "SHA1=" + good, also_ok=["bad_signature"])
case("upper-case hex", "malformed", "sha1=" + good.upper(), also_ok=["valid"], note="Intercom sends lower case")
case("base64 instead of hex", "malformed", "sha1=" + base64.b64encode(bytes.fromhex(good)).decode(), also_ok=["bad_signature"])
case("odd-length hex", "malformed", "sha1=" + good[:-1], also_ok=["bad_signature"])
case("hex cut to 8 bytes", "malformed", "sha1=" + good[:16], also_ok=["bad_signature"], note="a comparison over the shorter length would accept it")
case("hex one byte too long", "malformed", "sha1=" + good + "00", also_ok=["bad_signature"])
case("non-hex digit", "malformed", "sha1=" + good[:-1] + "g", also_ok=["bad_signature"])
case("trailing junk", "malformed", "sha1=" + good + ";", also_ok=["bad_signature"])
case("two signatures in one value", "malformed", f"sha1={good},sha1={good}", also_ok=["bad_signature"])
case("empty signature", "malformed", "sha1=", also_ok=["bad_signature"])
case("empty value", "malformed", "", also_ok=["bad_signature"])
case("header sent twice", "malformed", headers=[["X-Hub-Signature", "sha1=" + good]] * 2)
case("header sent twice, one empty", "malformed", headers=[["X-Hub-Signature", "sha1=" + good], ["X-Hub-Signature", ""]])
case("header absent", "malformed", headers=[])
case("only X-Hub-Signature-256", "malformed", headers=[["X-Hub-Signature-256", "sha256=" + mac(BODY, name="sha256")]])

with open("vectors.json", "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(entry) for entry in cases) + "\n]\n")
print(len(cases))

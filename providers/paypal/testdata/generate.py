"""Vectors, signed by pyca/cryptography and by nothing of this repository: `python3 generate.py > vectors.json`.

The private keys are drawn anew each time; only the public ones are kept.
"""

import base64
import json
import zlib

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

NOW = 1750000000
ID = "69cd13f0-d67a-11e5-baa3-778b53f4ae55"
TIME = "2025-06-15T15:06:40Z"
WEBHOOK = "1JE4291016473214C"
BODY = b'{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED","resource":{"note":"Zo\xc3\xab"}}'
KEY, OTHER = (rsa.generate_private_key(65537, 2048) for _ in range(2))
CASES = []


def spki(key):
    der = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(der).decode()


def text(body=BODY, ident=ID, time=TIME, webhook=WEBHOOK):
    return f"{ident}|{time}|{webhook}|{zlib.crc32(body)}".encode()


def sign(content, key=KEY, digest=None):
    signature = key.sign(content, padding.PKCS1v15(), digest or hashes.SHA256())
    return base64.b64encode(signature).decode()


def case(name, expect, body=BODY, ident=ID, time=TIME, algo="SHA256withRSA", signed=None, signature=None, keys=(KEY,), drop=None, twice=None, note=None, also_ok=None):
    content = text(body, ident, time) if signed is None else signed
    headers = [
        ["PAYPAL-TRANSMISSION-ID", ident],
        ["PAYPAL-TRANSMISSION-TIME", time],
        ["PAYPAL-AUTH-ALGO", algo],
        ["PAYPAL-CERT-URL", "https://api.paypal.com/v1/notifications/certs/CERT-360caa42"],
        ["PAYPAL-TRANSMISSION-SIG", sign(content) if signature is None else signature],
        ["Content-Type", "application/json"],
    ]
    headers = [pair for pair in headers if pair[0] != drop]
    headers += [pair for pair in headers if pair[0] == twice]
    made = {
        "name": name,
        "source": "independent python cryptography",
        "method": "POST",
        "public_keys": [spki(key) for key in keys],
        "headers": headers,
        "body_base64": base64.b64encode(body).decode(),
        "now": NOW,
        "tolerance": 300,
        "expect": expect,
    }
    if expect == "valid":
        made["signed_base64"] = base64.b64encode(content).decode()
    if also_ok:
        made["also_ok"] = also_ok
    if note:
        made["note"] = note
    CASES.append(made)


def forged(goal):
    """A body of our choice with the checksum `goal`: four bytes make up for the rest. CRC-32 is affine."""
    start = b'{"event_type":"PAYMENT.CAPTURE.REFUNDED","resource":{}}'
    base = zlib.crc32(start + bytes(4))
    rows = [(zlib.crc32(start + (1 << bit).to_bytes(4, "little")) ^ base, 1 << bit) for bit in range(32)]
    want, tail = goal ^ base, 0
    for bit in range(32):
        at = next((row for row in rows if row[0] >> bit & 1), None)
        if at is None:
            continue
        rows.remove(at)
        rows = [(row ^ at[0], made ^ at[1]) if row >> bit & 1 else (row, made) for row, made in rows]
        if want >> bit & 1:
            want, tail = want ^ at[0], tail ^ at[1]
    body = start + tail.to_bytes(4, "little")
    assert zlib.crc32(body) == goal
    return body


case("valid", "valid")
case("empty body", "valid", body=b"")
case("body that is not UTF-8", "valid", body=b"\xff\x00")
case("signed by the retiring key, receiver has both", "valid", keys=(OTHER, KEY))
case("another body of the same checksum", "valid", body=forged(zlib.crc32(BODY)), note="the weakness of the scheme: no verifier can tell")
case("age exactly 300 s", "valid", time="2025-06-15T15:01:40Z")
case("age 301 s", "stale", time="2025-06-15T15:01:39Z")
case("301 s in the future", "future", time="2025-06-15T15:11:41Z")
case("another key", "bad_signature", keys=(OTHER,))
case("another webhook", "bad_signature", signed=text(webhook="another"))
case("body changed", "bad_signature", body=BODY.replace(b"WH-1", b"WH-2"), signed=text())
case("id changed", "bad_signature", ident=ID.replace("69", "70"), signed=text())
case("time changed", "bad_signature", time="2025-06-15T15:06:41Z", signed=text())
case("checksum in hexadecimal", "bad_signature", signed=f"{ID}|{TIME}|{WEBHOOK}|{zlib.crc32(BODY):08x}".encode())
case("SHA-1", "bad_signature", signature=base64.b64encode(KEY.sign(text(), padding.PKCS1v15(), hashes.SHA1())).decode())
case("SHA-1, and so it says", "malformed", algo="SHA1withRSA", signature=base64.b64encode(KEY.sign(text(), padding.PKCS1v15(), hashes.SHA1())).decode())
case("another algorithm", "malformed", algo="none")
case("all-zero signature", "bad_signature", signature=base64.b64encode(bytes(256)).decode())
case("signature cut short", "malformed", signature=base64.b64encode(bytes(128)).decode())
case("signature without padding", "malformed", signature=sign(text()).rstrip("="))
case("empty signature", "malformed", signature="")
case("id with a separator", "malformed", ident=f"{ID}|x")
case("empty id", "malformed", ident="")
case("time in seconds", "malformed", time="1750000000")
case("time with an offset", "malformed", time="2025-06-15T15:06:40+00:00")
for name in ["ID", "TIME", "SIG"]:
    header = f"PAYPAL-TRANSMISSION-{name}"
    case(f"{header} absent", "malformed", drop=header)
    case(f"{header} twice", "malformed", twice=header)
case("PAYPAL-AUTH-ALGO absent", "malformed", drop="PAYPAL-AUTH-ALGO")
case("PAYPAL-CERT-URL absent", "valid", drop="PAYPAL-CERT-URL", note="it is not read: keys are configured")
print("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in CASES) + "\n]")

"""Vectors, signed by pyca/cryptography and by nothing of this repository: `python3 generate.py > vectors.json`.

The private keys are drawn anew each time; only the public ones are kept.
"""

import base64
import copy
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

ORDER = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
NOW = 1750000000
KEY, OTHER = (rsa.generate_private_key(65537, 2048) for _ in range(2))
CASES = []


def spki(key):
    der = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(der).decode()


def text(members):
    return "".join(f"{name}\n{members[name]}\n" for name in ORDER if name in members).encode()


def sign(members, key=KEY, digest=None):
    signature = key.sign(text(members), padding.PKCS1v15(), digest or hashes.SHA256())
    return base64.b64encode(signature).decode()


NOTIFICATION = {
    "Type": "Notification",
    "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    "TopicArn": "arn:aws:sns:eu-west-1:123456789012:orders",
    "Message": '{"order":7,"name":"Zoë"}\nline',
    "Timestamp": "2025-06-15T15:06:40.000Z",
}
CONFIRMATION = {
    "Type": "SubscriptionConfirmation",
    "MessageId": "165545c9-2a5c-472c-8df2-7ff2be2b3b1b",
    "Token": "2336412f37",
    "TopicArn": "arn:aws:sns:eu-west-1:123456789012:orders",
    "Message": "You have chosen to subscribe to the topic.\nTo confirm, visit the SubscribeURL.",
    "SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37",
    "Timestamp": "2025-06-15T15:06:40.000Z",
}


def case(name, expect, members, body=None, keys=(KEY,), tolerance=300, note=None, also_ok=None, raw=None, signature=None):
    full = dict(body if body is not None else members)
    full.setdefault("SignatureVersion", "2")
    full.setdefault("Signature", signature if signature is not None else sign(members))
    full.setdefault("SigningCertURL", "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem")
    full.setdefault("UnsubscribeURL", "https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe")
    full = {key: value for key, value in full.items() if value is not None}
    data = raw(json.dumps(full, ensure_ascii=False)) if raw else json.dumps(full, ensure_ascii=False)
    data = data if isinstance(data, bytes) else data.encode()
    made = {
        "name": name,
        "source": "independent python cryptography",
        "method": "POST",
        "public_keys": [spki(key) for key in keys],
        "headers": [["x-amz-sns-message-type", members["Type"]], ["Content-Type", "text/plain; charset=UTF-8"]],
        "body_utf8": data.decode("utf-8", "replace"),
        "body_base64": base64.b64encode(data).decode(),
        "now": NOW,
        "tolerance": tolerance,
        "expect": expect,
    }
    if expect == "valid":
        made["signed_base64"] = base64.b64encode(text(members)).decode()
        made["identity"] = {"id": members["MessageId"], "type": members["Type"], "account": members["TopicArn"]}
    if also_ok:
        made["also_ok"] = also_ok
    if note:
        made["note"] = note
    CASES.append(made)


def changed(**members):
    return {**NOTIFICATION, **{name: value for name, value in members.items()}}


case("notification", "valid", NOTIFICATION)
case("with a subject", "valid", changed(Subject="Order"))
case("empty message", "valid", changed(Message=""))
case("message that looks like members", "valid", changed(Message="a\nMessageId\nb\nSubject\nc\nType\nd"))
case("confirmation", "valid", CONFIRMATION)
case("end of a subscription", "valid", {**CONFIRMATION, "Type": "UnsubscribeConfirmation"})
case("signed by the retiring key, receiver has both", "valid", NOTIFICATION, keys=(OTHER, KEY))
case("unsigned members changed", "valid", NOTIFICATION, body={**NOTIFICATION, "UnsubscribeURL": "https://evil.example/", "MessageAttributes": {"a": {"Type": "String", "Value": "b"}}}, note="neither is signed, and neither is given to handlers")
case("certificate's URL of a stranger", "valid", NOTIFICATION, body={**NOTIFICATION, "SigningCertURL": "https://evil.example/cert.pem"}, note="it is not read: keys are configured")
case("escaped message", "valid", NOTIFICATION, raw=lambda text: text.replace("Zo\u00eb", "Zo\\u00eb"), note="the signed text holds what the escape means")
case("age exactly 300 s", "valid", changed(Timestamp="2025-06-15T15:01:40.000Z"))
case("age 300.001 s", "stale", changed(Timestamp="2025-06-15T15:01:39.999Z"))
case("300.001 s in the future", "future", changed(Timestamp="2025-06-15T15:11:40.001Z"))
case("another key", "bad_signature", NOTIFICATION, keys=(OTHER,))
for member, value in [("Message", "another"), ("MessageId", "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf325"), ("TopicArn", "arn:aws:sns:eu-west-1:123456789012:other"), ("Timestamp", "2025-06-15T15:06:41.000Z"), ("Subject", "added")]:
    case(f"{member} changed", "bad_signature", NOTIFICATION, body=changed(**{member: value}))
case("subject removed", "bad_signature", changed(Subject="Order"), body={**NOTIFICATION, "Signature": sign(changed(Subject="Order"))})
case("notification presented as a confirmation", "malformed", NOTIFICATION, body=changed(Type="SubscriptionConfirmation"))
case("confirmation without its URL", "malformed", CONFIRMATION, body={**CONFIRMATION, "SubscribeURL": None})
case("another type", "malformed", changed(Type="Other"))
case("notification with a token", "malformed", changed(Token="1"))
case("notification with a URL to ask for", "malformed", changed(SubscribeURL="https://evil.example/"), note="not among what notifications sign")
case("version 1", "malformed", NOTIFICATION, body={**NOTIFICATION, "SignatureVersion": "1"})
case("version 1, SHA-1", "malformed", NOTIFICATION, body={**NOTIFICATION, "SignatureVersion": "1", "Signature": sign(NOTIFICATION, digest=hashes.SHA1())})
case("SHA-1 under version 2", "bad_signature", NOTIFICATION, signature=sign(NOTIFICATION, digest=hashes.SHA1()))
case("without a version", "malformed", NOTIFICATION, body={**NOTIFICATION, "SignatureVersion": None})
case("without a signature", "malformed", NOTIFICATION, body={**NOTIFICATION, "Signature": None})
case("empty signature", "malformed", NOTIFICATION, signature="")
case("signature without padding", "malformed", NOTIFICATION, signature=sign(NOTIFICATION).rstrip("="))
case("signature cut short", "malformed", NOTIFICATION, signature=base64.b64encode(base64.b64decode(sign(NOTIFICATION))[:128]).decode())
case("all-zero signature", "bad_signature", NOTIFICATION, signature=base64.b64encode(bytes(256)).decode())
case("id that is no UUID", "malformed", changed(MessageId="a\nSubject\nb"), note="a border would move")
case("subject of two lines", "malformed", changed(Subject="a\nTimestamp\nb"))
case("topic of two lines", "malformed", changed(TopicArn="arn\nType\nb"))
case("timestamp without a zone", "malformed", changed(Timestamp="2025-06-15T15:06:40.000"))
case("timestamp as a number", "malformed", NOTIFICATION, body={**NOTIFICATION, "Timestamp": 1750000000})
case("member named twice", "malformed", NOTIFICATION, raw=lambda text: text.replace('{"Type"', '{"Message":"x","Type"'))
case("message that is no text", "malformed", NOTIFICATION, body={**NOTIFICATION, "Message": {"order": 7}})
case("body is a list", "malformed", NOTIFICATION, raw=lambda text: f"[{text}]")
case("body is not JSON", "malformed", NOTIFICATION, raw=lambda _: "x")
case("empty body", "malformed", NOTIFICATION, raw=lambda _: "")
case("body that is not UTF-8", "malformed", NOTIFICATION, raw=lambda text: text.encode().replace(b"line", b"\xff"))
print("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in CASES) + "\n]")

"""Flask and `standardwebhooks`, as https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries/python shows it."""

import os

from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from counter import effect, serve

app = Flask(__name__)


@app.route("/webhook", methods=["POST"])
def webhook():
    wh = Webhook(os.environ["SECRET"])
    try:
        wh.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "", 400
    effect(request.headers["webhook-id"])
    return "", 204


serve(app)

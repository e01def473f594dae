"""Bolt for Python behind Flask, as https://docs.slack.dev/tools/bolt-python/concepts/adapters shows it.

The authorization is given, so that nothing is asked of Slack.
"""

import os

from flask import Flask, request
from slack_bolt import App
from slack_bolt.adapter.flask import SlackRequestHandler
from slack_bolt.authorization import AuthorizeResult

from counter import effect, serve

bolt = App(
    signing_secret=os.environ["SECRET"],
    authorize=lambda enterprise_id, team_id: AuthorizeResult(
        enterprise_id=enterprise_id,
        team_id=team_id,
        bot_token="xoxb-not-used",
        bot_id="B0",
        bot_user_id="U0BOT",
    ),
)


@bolt.event("message")
def handle_message(body):
    effect(body["event_id"])


app = Flask(__name__)
handler = SlackRequestHandler(bolt)


@app.route("/webhook", methods=["POST"])
def slack_events():
    return handler.handle(request)


serve(app)

"""How often each event took effect: what the probe asks for at /effects/ID."""

import os
from collections import Counter
from threading import Lock

from flask import Flask, jsonify

_counts: Counter = Counter()
_lock = Lock()


def effect(event_id: str) -> None:
    """Count one effect of the event of this id."""
    with _lock:
        _counts[event_id] += 1


def serve(app: Flask) -> None:
    """Serve the counts and listen on the loopback."""

    @app.get("/effects/<path:event_id>")
    def effects(event_id: str):
        with _lock:
            return jsonify(count=_counts[event_id])

    app.run(host="127.0.0.1", port=int(os.environ["PORT"]))

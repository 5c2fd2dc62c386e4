"""The baseline of `make bench`: the least that Flask can do for the same bytes under the same path."""

from __future__ import annotations

from pathlib import Path

from flask import Flask, Response


def make_application(body_file: str) -> Flask:
    """An app with one view, which answers with what is in the file."""
    body = Path(body_file).read_bytes()
    app = Flask(__name__, static_folder=None)

    @app.get("/v1/decisions/<app>/<report_id>")
    def decision(app: str, report_id: str) -> Response:
        return Response(body, mimetype="application/json")

    return app

"""Pages that look again by themselves while something goes on: a job, a rollout. What each asks says what it shows."""

from __future__ import annotations

from typing import Final

from flask import Response, request

HEADER: Final = "Nnfleet-Watching"
"""Sent with each look, with the state that the page shows: nobody did anything, so no session is prolonged."""


def watched() -> bool:
    """Whether the page asks by itself."""
    return HEADER in request.headers


def swapping() -> bool:
    """Whether a person filters, pages or orders a list in its place: the address then follows, without empty filters."""
    return request.method == "GET" and "HX-Request" in request.headers and not watched()


def over(state: str) -> Response | None:
    """What tells the page to load anew as a whole, where the state is another than it shows; None while it is the same."""
    if request.headers.get(HEADER, state) == state:
        return None
    return fresh()


def fresh(status: int = 200) -> Response:
    """An answer that makes the script of the page load the page anew."""
    return Response(status=status, headers={"HX-Refresh": "true"})

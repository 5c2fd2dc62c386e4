"""The release that decisions on a page are made from."""

from __future__ import annotations

from service.context import services
from service.release_content import ReleaseContent
from service.releases import load


def live_release() -> ReleaseContent | None:
    """The release this worker serves; before it has heard of one, the newest stored; None where there is none."""
    shared = services()
    return shared.lookup.content if shared.lookup.release is not None else load(shared.engine)

"""The release that an answer is made from."""

from __future__ import annotations

from policies.errors import UnknownRelease
from service.context import services
from service.releasing.release_content import ReleaseContent
from service.releasing.releases import load


def live_release() -> ReleaseContent | None:
    """The release this worker serves; before it has heard of one, the newest stored; None where there is none."""
    shared = services()
    return shared.lookup.content if shared.lookup.release is not None else load(shared.engine)


def release_asked(number: int | None) -> ReleaseContent:
    """The release of that number, or the live one; raises UnknownRelease."""
    live = live_release()
    if live is None:
        raise UnknownRelease("nothing has been published yet", field="release")
    return live if number in {None, live.number} else services().past_releases.release(number)

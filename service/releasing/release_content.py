"""The content of a release: documents, models, rankings and plain flags of the moment it was published, whole and immutable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

import zstandard

from policies.document import PolicyDocument
from policies.flags import FlagDocument
from policies.knowledge import Knowledge
from policies.model import ModelSpec
from policies.quarantine import Quarantine, under

Rankings = Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]
"""driver stack → app → model → workload → `Ranking.to_json()`."""


@dataclass(frozen=True)
class Staged:
    """The candidate of a rollout: `share_bp` of 10,000 units get what it decides."""

    candidate: ReleaseContent
    share_bp: int


@dataclass(frozen=True)
class ReleaseContent:
    """What decisions are made from. Parsed once a worker. In a rollout this is the control, `staged` the candidate."""

    number: int
    published_at: datetime
    documents: Mapping[str, PolicyDocument]
    models: Mapping[str, tuple[ModelSpec, ...]]
    rankings: Rankings
    flags: Mapping[str, FlagDocument] = field(default_factory=dict)
    staged: Staged | None = None

    def knowledge(self, driver_stack: str, app: str) -> Knowledge:
        """What the fleet has taught about the stack, for the models of the app."""
        return Knowledge.from_json(self.rankings.get(driver_stack, {}).get(app, {}))

    @classmethod
    def from_bytes(
        cls, number: int, published_at: datetime, content: bytes, quarantines: Iterable[Mapping[str, Any]] = ()
    ) -> Self:
        """The content of a stored release under its quarantines.

        Raises ValueError where this installation cannot read it.
        """
        try:
            raw = json.loads(zstandard.decompress(content))
            models: dict[str, list[ModelSpec]] = {}
            for spec in raw["models"]:
                models.setdefault(spec["app"], []).append(ModelSpec.model_validate(spec))
            held = [Quarantine.model_validate(quarantine) for quarantine in quarantines]
            stated = [PolicyDocument.model_validate(document) for document in raw["documents"]]
            today = published_at.date()
            documents = {document.app: under(document, held).in_force(today) for document in stated}
            by_app = {app: tuple(specs) for app, specs in models.items()}
            flags = [FlagDocument.model_validate(document) for document in raw.get("flags", ())]
            return cls(number, published_at, documents, by_app, raw["rankings"], {one.app: one for one in flags})
        except (KeyError, TypeError, zstandard.ZstdError) as error:
            raise ValueError(f"release {number} cannot be read: {error!r}") from error


@dataclass(frozen=True, slots=True)
class PackedRelease:
    """A release as it is stored: its content, compressed, and the quarantines it stands under.

    In a rollout `candidate` is the content, compressed too, that `share_bp` of 10,000 units get.
    """

    number: int
    published_at: datetime
    content: bytes
    quarantines: Sequence[Mapping[str, Any]]
    candidate: bytes | None = None
    share_bp: int | None = None

    def unpacked(self) -> ReleaseContent:
        """What decisions are made from; raises ValueError where this installation cannot read it."""
        control = self._parsed(self.content)
        if self.candidate is None or self.share_bp is None:
            return control
        return replace(control, staged=Staged(self._parsed(self.candidate), self.share_bp))

    def _parsed(self, content: bytes) -> ReleaseContent:
        return ReleaseContent.from_bytes(self.number, self.published_at, content, self.quarantines)


def readable(content: bytes, quarantines: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A release as people compare it: graphs and rankings, which are long, stand as their digests."""
    raw = json.loads(zstandard.decompress(content))
    models = [_without_graphs(spec) for spec in raw["models"]]
    return {
        "documents": {document["app"]: document for document in raw["documents"]},
        "models": {f"{spec['app']}.{spec['name']}": spec for spec in models},
        "flags": {document["app"]: document for document in raw.get("flags", ())},
        "rankings": {"stacks": len(raw["rankings"]), "sha256": _digest(raw["rankings"])},
        "quarantines": {quarantine["deny"]["id"]: quarantine for quarantine in quarantines},
    }


def _without_graphs(spec: Mapping[str, Any]) -> dict[str, Any]:
    variants = [v | {"graph": _digest(v["graph"]) if v.get("graph") else None} for v in spec["variants"]]
    return {**spec, "variants": variants}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def pack(
    documents: Iterable[PolicyDocument],
    models: Iterable[ModelSpec],
    rankings: Rankings,
    flags: Iterable[FlagDocument] = (),
) -> tuple[bytes, str]:
    """(compressed bytes, sha256 of what they hold). The same content has the same digest."""
    plain = json.dumps(
        {
            "documents": [document.model_dump(mode="json", by_alias=True) for document in documents],
            "models": [spec.model_dump(mode="json") for spec in models],
            "rankings": rankings,
            "flags": [document.model_dump(mode="json", by_alias=True) for document in flags],
        },
        sort_keys=True,
        separators=(",", ":"),
    ).encode()
    return zstandard.compress(plain, 3), hashlib.sha256(plain).hexdigest()


def pack_rankings(rankings: Rankings) -> bytes:
    """Compressed bytes of the rankings of a learning run."""
    return zstandard.compress(json.dumps(rankings, separators=(",", ":")).encode(), 3)


def unpack_rankings(packed: bytes) -> Rankings:
    """The inverse of `pack_rankings`."""
    rankings: Rankings = json.loads(zstandard.decompress(packed))
    return rankings

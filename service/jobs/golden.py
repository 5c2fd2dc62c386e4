"""Golden references that nobody stated: a model's float file is run here, never in the web process, and what it makes of a
fixed input is put up for review as a revision of the model.

Tried once for a model and its files: the audit log remembers it, also that it failed and why.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlmodel import Session

from policies.errors import EditConflict
from policies.model import GoldenReference
from policies.revision import ACCEPTED, Kind, Step
from service.artifacts.receiving import PREFIX
from service.artifacts.registering import register
from service.artifacts.store import ArtifactStore, UnknownArtifact
from service.identity.actor import REFERENCE
from service.jobs.run import Steps
from service.registry.golden import Golden, GoldenFailed, make_golden
from service.registry.model_file import ModelFileError
from service.releasing.revisions import Proposal, advance, save
from service.store import artifacts, audit, revisions

MADE, FAILED = "golden-made", "golden-failed"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model without a reference: the revision that states it, and of its variants whose files are kept the digests."""

    subject: str
    number: int
    content: dict[str, Any]
    files: Mapping[str, str]

    @property
    def audited(self) -> str:
        """As the audit log names it."""
        return f"{Kind.MODEL}:{self.subject}"

    @property
    def key(self) -> str:
        """Names the set of files."""
        return hashlib.sha256("".join(sorted(self.files.values())).encode()).hexdigest()


def make_references(engine: Engine, store: ArtifactStore, now: datetime) -> Steps:
    """Propose a reference for every accepted model that has none and that nobody edits at the moment."""
    with Session(engine) as session:
        wanted = list(_wanted(session))
    made = 0
    for number, one in enumerate(wanted, start=1):
        word = _proposed(engine, store, one, now)
        made += word is None
        yield number / len(wanted), f"{one.subject}: {word or 'put up for review'}"
    return {"made": made, "failed": len(wanted) - made}


def _wanted(session: Session) -> Iterator[Wanted]:
    for row in revisions.standing(session, Kind.MODEL):
        if row.state not in ACCEPTED or row.content.get("golden") or row.number is None:
            continue
        named = {variant["id"]: variant["sha256"] for variant in row.content["variants"]}
        kept = artifacts.known(session, named.values())
        files = {variant: sha256 for variant, sha256 in named.items() if sha256 in kept}
        one = Wanted(row.subject, row.number, row.content, files)
        if files and not audit.noted(session, REFERENCE, one.audited, files=one.key):
            yield one


def _proposed(engine: Engine, store: ArtifactStore, one: Wanted, now: datetime) -> str | None:
    """None where a revision waits for review now, else why none does."""
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as files:
        try:
            golden = make_golden(_fetched(store, one.files, Path(files)), Path(made))
        except (GoldenFailed, ModelFileError) as error:
            with Session(engine) as session, session.begin():
                audit.append(session, now, REFERENCE, FAILED, one.audited, files=one.key, why=error.detail)
            return error.detail
        except UnknownArtifact as missing:
            return missing.detail
        stated = _kept(engine, store, golden, now)
    try:
        with Session(engine) as session, session.begin():
            _put_up(session, one, stated, now)
    except EditConflict as conflict:
        return conflict.detail  # the next run builds on what they saved
    return None


def _put_up(session: Session, one: Wanted, stated: GoldenReference, now: datetime) -> None:
    content = one.content | {"golden": stated.model_dump(mode="json")}
    note = "what the float file makes of a fixed input on this service's CPU"
    row = save(session, Proposal(Kind.MODEL, one.subject, content, note, one.number), REFERENCE, now)
    advance(session, row, Step.SUBMIT, REFERENCE, now)
    audit.append(session, now, REFERENCE, MADE, one.audited, files=one.key, revision=row.number)


def _fetched(store: ArtifactStore, files: Mapping[str, str], folder: Path) -> list[Path]:
    """The files, named as their variants are."""
    for variant, sha256 in files.items():
        with store.open(sha256) as source, (folder / variant).open("wb") as target:
            shutil.copyfileobj(source, target)
    return [folder / variant for variant in files]


def _kept(engine: Engine, store: ArtifactStore, golden: Golden, now: datetime) -> GoldenReference:
    inputs, outputs = (_keep(engine, store, file, now) for file in (golden.inputs, golden.outputs))
    return GoldenReference(input_sha256=inputs, output_sha256=outputs, tolerance=round(golden.tolerance, 4))


def _keep(engine: Engine, store: ArtifactStore, file: Path, now: datetime) -> str:
    content = file.read_bytes()
    with tempfile.NamedTemporaryFile(dir=store.incoming, prefix=PREFIX, delete=False) as incoming:
        incoming.write(content)
    sha256 = hashlib.sha256(content).hexdigest()
    register(engine, store, sha256, Path(incoming.name), REFERENCE, now)
    return sha256

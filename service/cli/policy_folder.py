"""Policies as files of a folder: `camera.yaml` is the policy of the app camera. The same policy has the same bytes.

The first line says which revision the file was pulled from. A push names it as the one it edits: what somebody else
saved meanwhile is not overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from policies.document import PolicyDocument
from policies.errors import InvalidField, InvalidInput
from service.cli.policy_file import policy_in
from service.releasing.policy_text import as_yaml, base_of, with_base


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A file and the app it is named for."""

    path: Path

    @property
    def app(self) -> str:
        """The app, by the file's name."""
        return self.path.stem

    @property
    def base(self) -> int | None:
        """The revision it was pulled from or pushed as; None for a file that somebody began."""
        return base_of(self.path.read_text("utf-8")) if self.path.exists() else None

    def document(self) -> PolicyDocument:
        """The policy; raises InvalidInput with its place in the text."""
        document = policy_in(self.path)
        if document.app != self.app:
            raise InvalidField(f"app: {document.app!r} stands in a file named for {self.app!r}", field="app")
        return document

    def note_base(self, revision: int) -> None:
        """Write the revision into the first line, and leave all others as they are."""
        self.path.write_text(with_base(self.path.read_text("utf-8"), revision), "utf-8")

    def write(self, document: PolicyDocument, revision: int) -> bool:
        """Write a pulled policy; True where the file changes. One that says the same keeps its author's own words."""
        before = self.path.read_bytes() if self.path.exists() else b""
        if not self._says(document):
            self.path.write_text(as_yaml(document), "utf-8")
        self.note_base(revision)
        return self.path.read_bytes() != before

    def _says(self, document: PolicyDocument) -> bool:
        try:
            return self.path.exists() and self.document() == document
        except InvalidInput:
            return False


def policy_files(folder: Path) -> Iterator[PolicyFile]:
    """The policies in a folder, by name."""
    yield from (PolicyFile(path) for path in sorted(folder.glob("*.yaml")))


def file_of(folder: Path, app: str) -> PolicyFile:
    """Where the policy of an app stands."""
    return PolicyFile(folder / f"{app}.yaml")

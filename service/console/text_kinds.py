"""What is edited as text: policies and plain flags, and what the pages of each are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from policies.document_text import FLAGS, POLICY, Written
from policies.revision import Kind
from service.releasing.policy_text import as_yaml


@dataclass(frozen=True, slots=True)
class TextKind:
    """A kind of document. `one` and `many` are its names; `counted`: what the list counts, title and field.

    `simulated`: whether it can be tried on the stored fleet; `start`: what a new text begins with; `described`: which part of it
    has a description; `about` says what it is for. The others are endpoints of its pages.
    """

    kind: Kind
    written: Written[Any]
    one: str
    many: str
    counted: tuple[tuple[str, str], ...]
    simulated: bool
    list: str
    new: str
    page: str
    edit: str
    changes: str
    file: str
    suffix: str
    start: str
    described: str
    about: str

    def yaml(self, content: Mapping[str, Any]) -> str:
        """A stored document as people read it."""
        return as_yaml(self.written.model.model_validate(content))

    def content(self, document: Any) -> dict[str, Any]:
        """A document as a revision keeps it."""
        kept: dict[str, Any] = document.model_dump(mode="json", by_alias=True)
        return kept


POLICIES: Final = TextKind(
    Kind.POLICY,
    POLICY,
    one="policy",
    many="policies",
    counted=(("Rules", "rules"), ("Denies", "denies")),
    simulated=True,
    list="console.policies",
    new="console.new_policy",
    page="console.policy",
    edit="console.edit_policy",
    changes="console.policy_changes",
    file="console.policy_file",
    suffix="",
    start="",
    described="a rule",
    about="Rules, denies, thresholds and exploration: how the models of an app are run on which phones.",
)
PLAIN_FLAGS: Final = TextKind(
    Kind.FLAGS,
    FLAGS,
    one="plain flags",
    many="plain flags",
    counted=(("Flags", "flags"),),
    simulated=False,
    list="console.flags",
    new="console.new_flags",
    page="console.app_flags",
    edit="console.edit_flags",
    changes="console.flags_changes",
    file="console.flags_file",
    suffix="-flags",
    start="flags:\n  new-screen:\n    variants:\n      shown: true\n      hidden: false\n    default_variant: hidden\n",
    described="a flag",
    about="Switches of an app beside its models, which it asks for by OpenFeature: which value which phones and users get.",
)
TEXT_KINDS: Final = {of.kind.value: of for of in (POLICIES, PLAIN_FLAGS)}
"""By the kind of their revisions."""

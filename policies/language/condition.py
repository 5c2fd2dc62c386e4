"""Conditions: compiled once, asked many times, three-valued."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import cel

from policies.errors import ConditionError
from policies.language.check import check
from policies.language.context import MATCHES, Context
from policies.language.device_vocabulary import DEVICE_VOCABULARY
from policies.language.kinds import Vocabulary
from policies.language.syntax import Node, parse
from policies.language.tokens import Fault, Sort, tokens
from policies.language.unknown import named_facts, names_in, unknown_names


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a condition holds: yes, no, or None where it depends on what is not known, with the names of that."""

    holds: bool | None
    unknown: tuple[str, ...] = ()


_HOLDS: Final = Outcome(True)
_FAILS: Final = Outcome(False)
# What the binding raises for a name that is not there, a null in logic, or a value of another kind than expected.
_NOT_KNOWN: Final = (KeyError, TypeError, ValueError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was checked.

    `roots` are what it depends on, and nothing else; `facts` are (root, fact below it), None for a root read whole.
    """

    text: str
    roots: frozenset[str]
    facts: frozenset[tuple[str, str | None]]
    tree: Node
    program: Any

    def evaluate(self, context: Context) -> Outcome:
        """Holds, fails, or unknown with the names that were. Never raises."""
        try:
            answer = self.program.execute(context.cel)
        except _NOT_KNOWN:
            answer = None
        if answer is True:
            return _HOLDS
        return _FAILS if answer is False else Outcome(None, unknown_names(self.tree, context))


def compile_condition(text: str, vocabulary: Vocabulary = DEVICE_VOCABULARY, *, field: str) -> Condition:
    """The condition in `text`.

    It is taken in Unicode NFC, so that an accent is the same letter however a keyboard wrote it.

    Raises ConditionError with line, column, what was expected and the nearest known name. `field` is where the text
    stands.
    """
    try:
        return _compiled(unicodedata.normalize("NFC", text), vocabulary)
    except Fault as fault:
        raise ConditionError(
            f"{field}: {fault.detail}",
            field=field,
            line=fault.place.line,
            column=fault.place.column,
            expected=fault.expected,
            nearest=fault.nearest,
        ) from fault


@lru_cache(maxsize=16_384)
def _compiled(text: str, vocabulary: Vocabulary) -> Condition:
    tree = parse(text)
    check(tree, vocabulary.roots)
    roots = names_in(tree) & vocabulary.roots.keys()
    facts = frozenset(named for named in named_facts(tree) if named[0] in roots)
    return Condition(text, roots, facts, tree, cel.compile(_for_cel(text)))


def _for_cel(text: str) -> str:
    """The same tokens on one line, with our own name for `matches`."""
    read = list(tokens(text))
    following = [*read[1:], read[-1]]
    return " ".join(
        MATCHES if token.sort is Sort.NAME and token.text == "matches" and after.text == "(" else token.text
        for token, after in zip(read, following, strict=True)
    )

"""Lines of a log: told by a phrase, read by a pattern. A line that has the phrase and not the form is malformed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ml.datasets.lab.measurement import Claim, LabFileError

NUMBER: Final = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"


@dataclass(frozen=True, slots=True)
class Form:
    """What a line may say, in each wording that was seen. Names of groups are names of facts."""

    kind: str
    phrase: re.Pattern[str]
    wordings: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, kind: str, phrase: str, *wordings: str) -> Form:
        """A form from patterns; capitals never matter."""
        return cls(kind, _compiled(phrase), tuple(map(_compiled, wordings)))


@dataclass(frozen=True, slots=True)
class Said:
    """A line that was understood. `number` counts from 1."""

    number: int
    kind: str
    facts: Mapping[str, Any]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


CLAIM: Final = Form.of(
    "claim",
    r"node\(s\) with delegate|nodes delegated out of",
    r"Replacing (?P<nodes>\d+)(?: out of (?P<total>\d+))? node\(s\) with delegate \((?P<delegate>[^)]+)\) node, "
    r"yielding (?P<partitions>\d+) partitions(?: for (?:the whole graph|subgraph (?P<subgraph>\d+)))?",
    r"(?P<delegate>\w+) delegate: (?P<nodes>\d+) nodes delegated out of (?P<total>\d+) nodes with (?P<partitions>\d+) partitions",
)
"""Both wordings of TFLite's line, the older one without a total, and Qualcomm's."""


def understood(file: str, lines: Iterable[str], forms: Sequence[Form]) -> Iterator[Said]:
    """The lines that are of one of the forms, in order; all others say nothing here.

    Prefixes (logcat's time and tag, a severity) do not matter. Raises LabFileError for a malformed line.
    """
    for number, line in enumerate(lines, start=1):
        for form in forms:
            if form.phrase.search(line):
                found = next(filter(None, (wording.search(line) for wording in form.wordings)), None)
                if found is None:
                    raise LabFileError(
                        file, f"a line of {form.kind} in a form that is not known: {line.strip()[:200]!r}", number
                    )
                yield Said(
                    number, form.kind, {name: value for name, value in found.groupdict().items() if value is not None}
                )
                break


def claim_of(file: str, said: Said) -> Claim | None:
    """The claim in a line; None for one on a subgraph beside the main one. Raises LabFileError for an impossible one."""
    facts = said.facts
    if facts.get("subgraph", "0") != "0":
        return None
    total = int(facts["total"]) if "total" in facts else None
    claim = Claim(facts["delegate"], int(facts["nodes"]), total, int(facts["partitions"]))
    if total is not None and int(facts["nodes"]) > total:
        raise LabFileError(file, f"{claim.nodes} nodes out of {total} were taken over", said.number)
    return claim

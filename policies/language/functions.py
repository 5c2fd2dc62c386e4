"""The functions of the policy language: what they take, what they give, and what they check when a rule is saved.

Each answers yes, no, or None for what cannot be known; CEL's `&&`, `||` and `!` treat None as they treat an error, so
that it matches nothing. None of them raises: the binding would log every raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

import re2

from policies.language.kinds import INTEGER, TEXT, YES_NO, Scalar
from policies.language.versions import version_range
from policies.operations import NNAPI_OPERATIONS, OPERAND_OF_TYPE, SIGNED_INT8

MAX_PATTERN_LENGTH: Final = 200
MAX_PATTERN_BYTES: Final = 1 << 18
"""Memory of a compiled pattern: what takes more is refused, so that a match of the longest text stays under 10 ms."""

MAX_MATCHED_LENGTH: Final = 1_024
"""A longer text matches nothing. Reports hold none above 512 characters."""


class Refused(ValueError):
    """A literal that a function does not take: what was expected instead, and names to look for the nearest one in."""

    def __init__(self, expected: str, known: tuple[str, ...] = ()) -> None:
        super().__init__(expected)
        self.known = known


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value to give. Where there is a `check` it has to be a literal; `check` raises Refused for a wrong one."""

    name: str
    check: Callable[[str], object] | None = None
    kind: Scalar = TEXT


@dataclass(frozen=True, slots=True)
class Function:
    """`run` is None where CEL has the function itself. `of` is what a method is called on, None for a plain one."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Scalar
    run: Callable[..., bool | None] | None
    of: str | None = None


@lru_cache(maxsize=4_096)
def pattern(text: str) -> Any:
    """A compiled RE2 pattern, which matches in time linear in the text; raises Refused."""
    options = re2.Options()
    options.max_mem, options.log_errors = MAX_PATTERN_BYTES, False
    if len(text) > MAX_PATTERN_LENGTH:
        raise Refused(f"a pattern of at most {MAX_PATTERN_LENGTH} characters")
    try:
        return re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise Refused(f"a pattern in RE2's syntax ({reason})") from error


def _matches(text: object, wanted: str) -> bool | None:
    if not isinstance(text, str) or len(text) > MAX_MATCHED_LENGTH:
        return None
    return pattern(wanted).search(text) is not None


_range = lru_cache(maxsize=4_096)(version_range)


def _version_check(scheme: str) -> Callable[[str], object]:
    def check(text: str) -> object:
        try:
            return _range(scheme, text)
        except ValueError as error:
            raise Refused(str(error)) from error

    return check


def _in_range(scheme: str) -> Callable[..., bool | None]:
    def run(version: object, wanted: str) -> bool | None:
        return _range(scheme, wanted).holds(version) if isinstance(version, str) else None

    return run


def _one_of(what: str, known: tuple[str, ...]) -> Callable[[str], object]:
    def check(text: str) -> object:
        if text not in known:
            raise Refused(what, known)
        return text

    return check


_OPERATION: Final = Parameter("operation", _one_of("an operation of NNAPI", tuple(NNAPI_OPERATIONS)))
_OPERAND: Final = Parameter(
    "type", _one_of("an operand type of NNAPI", tuple(sorted({*OPERAND_OF_TYPE.values(), SIGNED_INT8} | {
        kind for row in NNAPI_OPERATIONS.values() for kind in row.operand_types
    })))
)  # fmt: skip


def _versioned(scheme: str) -> Function:
    parameters = (Parameter("version"), Parameter("range", _version_check(scheme)))
    return Function(scheme, parameters, YES_NO, _in_range(scheme))


def _supports(*_: object) -> None:
    """Stands in where no accelerators are known; a context of a device brings its own."""


PLAIN: Final[Mapping[str, Function]] = MappingProxyType(
    {
        function.name: function
        for function in (
            _versioned("semver"),
            _versioned("dotted"),
            _versioned("build"),
            Function("supports", (_OPERATION, _OPERAND), YES_NO, _supports),
        )
    }
)
"""Called by name: `dotted(gpu.vulkan, ">= 1.1")`."""

METHODS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        function.name: function
        for function in (
            Function("matches", (Parameter("pattern", pattern),), YES_NO, _matches, TEXT.name),
            Function("startsWith", (Parameter("start"),), YES_NO, None, TEXT.name),
            Function("endsWith", (Parameter("end"),), YES_NO, None, TEXT.name),
            Function("contains", (Parameter("part"),), YES_NO, None, TEXT.name),
            Function("size", (), INTEGER, None, "a list or a text"),
            Function("supports", (_OPERATION, _OPERAND), YES_NO, _supports, "an accelerator"),
        )
    }
)
"""Called on a value: `device.model.startsWith("Pixel")`."""

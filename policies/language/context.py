"""The facts that conditions are asked about, prepared once for many conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import cel

from policies.language.functions import METHODS, PLAIN

MATCHES: Final = "matches_linear"
"""What `matches` is called inside: CEL's own compiles its pattern at every call."""

_FUNCTIONS: Final[dict[str, Callable[..., bool | None]]] = {
    MATCHES if function.name == "matches" else function.name: function.run
    for function in (*METHODS.values(), *PLAIN.values())
    if function.run is not None
}


_PLAIN: Final = frozenset({str, int, float, bool})


class Context:
    """Root → facts. What is not known is left out, at any depth: a name that is not there is unknown, never null.

    Not shared between threads while roots are being added.
    """

    def __init__(
        self, values: Mapping[str, Any], supports: Callable[..., bool | None] = _FUNCTIONS["supports"]
    ) -> None:
        self.values: dict[str, Any] = {root: known(value) for root, value in values.items()}
        self.supports = supports
        self.cel = cel.Context(variables=self.values, functions=_FUNCTIONS | {"supports": supports})

    def update(self, values: Mapping[str, Any]) -> None:
        """State more roots, or state them anew: what conditions see from now on."""
        for root, value in values.items():
            self.values[root] = known(value)
            self.cel.add_variable(root, self.values[root])


def known(value: Any) -> Any:
    """The value without what is None in it."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {key: known(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [known(inner) for inner in value if inner is not None]
    return value

"""The policy language: conditions in CEL over what is known of a device, a model and a request.

Compiled and checked once (`compile_condition`), asked against prepared facts (`Context`), answered with yes, no or
unknown (`Outcome`). `policies/catalog/README.md` documents it.
"""

from __future__ import annotations

from policies.language.condition import Condition, Outcome, compile_condition
from policies.language.context import Context
from policies.language.device_vocabulary import DEVICE_VOCABULARY
from policies.language.kinds import (
    INTEGER,
    NUMBER,
    OPEN,
    TEXT,
    YES_NO,
    Kind,
    ListOf,
    Open,
    Record,
    Scalar,
    Vocabulary,
)

__all__ = [
    "DEVICE_VOCABULARY",
    "INTEGER",
    "NUMBER",
    "OPEN",
    "TEXT",
    "YES_NO",
    "Condition",
    "Context",
    "Kind",
    "ListOf",
    "Open",
    "Outcome",
    "Record",
    "Scalar",
    "Vocabulary",
    "compile_condition",
]

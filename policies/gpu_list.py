"""LiteRT's GPU compatibility list → denies. An ordered list: later entries override earlier ones.

Its shape is a CSV with the columns `order,conditions,status`, conditions like `gpu_model == mali_g71 AND
android_sdk_version >= 29`, statuses SUPPORTED and UNSUPPORTED. Names are spelt as LiteRT spells them (lower case, blanks
and dashes as `_`); versions and API levels are compared as numbers. A phone that the list does not name is not denied.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.canonical import canonical_gpu
from policies.errors import InvalidField
from policies.phone_set import ALL_LEVELS, Fact, Levels, PhoneSet, conditions, gathered, is_open_ended, without
from policies.rules.deny import Deny
from policies.validation import validated

SUPPORTED, UNSUPPORTED = "SUPPORTED", "UNSUPPORTED"
REASON: Final = "LiteRT's GPU compatibility list: unsupported"
_FACTS: Final[Mapping[str, Fact]] = {
    "opengl_es_version": "gles",
    "gpu_model": "gpu",
    "manufacturer": "maker",
    "device_model": "model",
}
_LEVEL: Final = "android_sdk_version"
MAX_ROWS: Final = 20_000
MAX_CHARACTERS: Final = 4_000_000


def gpu_denies(text: str, *, prefix: str = "gpu-list") -> tuple[Deny, ...]:
    """Denies of `*.gpu` that hold where the list's last word is UNSUPPORTED; raises InvalidField with the line."""
    try:
        entries = list(_entries(text))
    except csv.Error as error:  # a cell that never ends
        raise InvalidField(f"no CSV: {error}", field="rows") from error
    kept: list[PhoneSet] = []
    for place, (phones, status) in enumerate(entries):
        if status == UNSUPPORTED:
            overriding = [later for later, word in entries[place + 1 :] if word == SUPPORTED]
            kept += without(phones, overriding)
    return tuple(_deny(f"{prefix}-{number:04}", phones) for number, phones in enumerate(gathered(kept), 1))


def _deny(name: str, phones: PhoneSet) -> Deny:
    gpus = phones.facts.get("gpu", ())
    # A renderer known by its beginning is no name that a cohort could hold.
    named = bool(gpus) and not any(is_open_ended(gpu) for gpu in gpus)
    left = PhoneSet(
        {f: v for f, v in phones.facts.items() if f != "gpu" or not named}, phones.levels, phones.exceptions
    )
    raw: dict[str, Any] = {"id": name, "arms": ["*.gpu"], "reason": REASON}
    raw |= {"cohort": {"gpus": list(gpus)}} if named else {}
    when = conditions(left)
    return validated(Deny, raw | ({"when": when} if when else {}))


def _entries(text: str) -> Iterator[tuple[PhoneSet, str]]:
    if text.count("\n") > MAX_ROWS or len(text) > MAX_CHARACTERS:
        raise InvalidField(f"over {MAX_ROWS} rows or {MAX_CHARACTERS} characters", field="rows", limit=MAX_ROWS)
    reader = csv.DictReader(io.StringIO(text))
    if reader.fieldnames is None or not {"conditions", "status"} <= set(reader.fieldnames):
        raise InvalidField("the columns are order, conditions and status", field="columns", line=1, column=1)
    for row in reader:
        if row["status"] not in {SUPPORTED, UNSUPPORTED}:
            raise _wrong(reader.line_num, "status", f"{row['status']!r} is neither {SUPPORTED} nor {UNSUPPORTED}")
        yield _phones(row["conditions"] or "", reader.line_num), row["status"]


def _phones(text: str, line: int) -> PhoneSet:
    facts: dict[Fact, tuple[str, ...]] = {}
    levels: Levels = ALL_LEVELS
    for condition in text.split(" AND "):
        name, operator, value = [*condition.strip().split(" ", 2), "", ""][:3]
        if name == _LEVEL and operator in {"==", ">=", "<="} and value.isdecimal() and len(value) <= 5:
            level = int(value)
            least = level if operator in {"==", ">="} else levels[0]
            most = level if operator in {"==", "<="} else levels[1]
            levels = (max(levels[0], least), min(levels[1], most))
        elif name in _FACTS and operator == "==" and value:
            facts[_FACTS[name]] = (_canonical(_FACTS[name], value),)
        else:
            raise _wrong(line, "conditions", f"{condition!r} is no condition of this list")
    return PhoneSet(facts, levels)


def _canonical(fact: Fact, value: str) -> str:
    """The list's spelling in ours."""
    if fact == "gpu":
        return canonical_gpu(value.replace("_", " "))
    return value.replace("_", " ") if fact == "maker" else value


def _wrong(line: int, field: str, detail: str) -> InvalidField:
    return InvalidField(f"{field}: {detail}", field=field, line=line, column=1)

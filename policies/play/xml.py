"""Play's device groups as `device_targeting_configuration.xml`, and as JSON values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from policies.play.groups import Files, Group, Memory, PlayGroups, Selector

NAMESPACE: Final = "http://schemas.android.com/apk/config"
# What XML 1.0 cannot hold, however it is written.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_xml(found: PlayGroups, title: str) -> str:
    """The whole file. What Play cannot be told stands in comments at its head."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        *_comments("", [title, *(f"warning: {text}" for text in found.warnings)]),
        f'<config:device-targeting-config xmlns:config="{NAMESPACE}">',
        *(line for group in found.groups for line in _group(group)),
        "</config:device-targeting-config>",
    ]
    return "\n".join(lines) + "\n"


def _group(group: Group) -> Iterator[str]:
    yield from _comments("    ", [_files_text(group.files)])
    yield f"    <config:device-group name={_attribute(group.name)}>"
    for selector in group.selectors:
        yield f"        <config:device-selector{_bounds(selector.memory)}>"
        for chip in selector.chips:
            named = f"manufacturer={_attribute(chip.manufacturer)} model={_attribute(chip.model)}"
            yield f"            <config:system-on-chip {named}/>"
        yield "        </config:device-selector>"
    yield "    </config:device-group>"


def _bounds(memory: Memory) -> str:
    least = f' ram-min-bytes="{memory.min_bytes}"' if memory.min_bytes else ""
    return f'{least} ram-max-bytes="{memory.max_bytes}"' if memory.max_bytes else least


def _files_text(files: Files) -> str:
    return "; ".join(f"{model}: {', '.join(variants)}" for model, variants in files)


def _comments(indent: str, texts: Iterable[str]) -> Iterator[str]:
    # Two hyphens end a comment, and one at its end is no comment.
    plain = (re.sub("-(?=-)|-$", "- ", _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)) for text in texts)
    yield from (f"{indent}<!-- {text} -->" for text in plain)


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def to_json(found: PlayGroups) -> dict[str, Any]:
    """The same as values."""
    return {
        "groups": [
            {
                "name": group.name,
                "files": {model: list(variants) for model, variants in group.files},
                "selectors": _selectors(group.selectors),
            }
            for group in found.groups
        ],
        "warnings": list(found.warnings),
    }


def _selectors(selectors: Sequence[Selector]) -> list[dict[str, Any]]:
    return [
        {
            "ram_min_bytes": selector.memory.min_bytes or None,
            "ram_max_bytes": selector.memory.max_bytes or None,
            "socs": [{"manufacturer": chip.manufacturer, "model": chip.model} for chip in selector.chips],
        }
        for selector in selectors
    ]

"""A rollout as the API answers it: the schema of what the guard read, with its intervals."""

from __future__ import annotations

from typing import Any, Final

from policies.rollouts.rollout import Act, Measure, State

Schema = dict[str, Any]
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_BOUND: Final[Schema] = {"type": ["number", "null"], "exclusiveMinimum": 0}

READING: Final[Schema] = {
    "description": "One guardrail at one look. Ratios are candidate to control, over all and in the worst cohort.",
    "type": "object",
    "required": [
        "measure", "evidence_log10", "needed_log10", "cohort", "cohort_ratio", "ratio", "stop_over", "breached",
    ],
    "properties": {
        "measure": {"enum": list(Measure)},
        "evidence_log10": {"type": "number"},
        "needed_log10": {"type": "number"},
        "cohort": {"type": "string"},
        "cohort_ratio": {"type": "number"},
        "ratio": {"type": "number"},
        "low": {**_BOUND, "description": "Of the interval of `ratio` over all looks; null where nothing bounds it."},
        "high": {**_BOUND, "description": "As `low`."},
        "candidate_n": {**_COUNT, "description": "Starts for crashes, batches that tell the level or the rate else."},
        "control_n": {**_COUNT, "description": "As `candidate_n`."},
        "stop_over": {"type": "number"},
        "breached": {"type": "boolean"},
    },
}  # fmt: skip
JUDGEMENT: Final[Schema] = {
    "description": "A look of the guard. `confidence`: the chance that an interval holds the true ratio at every look.",
    "type": ["object", "null"],
    "required": ["act", "because", "candidate_windows", "readings", "at"],
    "properties": {
        "act": {"enum": [*Act, None]},
        "because": {"type": "string"},
        "candidate_windows": _COUNT,
        "confidence": {"type": "number"},
        "readings": {"type": "array", "items": READING},
        "at": {"type": "string", "format": "date-time"},
    },
}
STARTS_AT: Final[Schema] = {
    "description": "The moment that it was scheduled for, by UTC and by the clocks of its zone; null for one begun at once.",
    "type": ["object", "null"],
    "required": ["utc", "local", "zone"],
    "properties": {
        "utc": {"type": "string", "format": "date-time"},
        "local": {"type": "string", "format": "date-time"},
        "zone": {"type": "string"},
    },
}
ROLLOUT: Final[Schema] = {
    "description": "A rollout: its plan, the last look of the guard, and what happened, with the readings it was done on.",
    "type": "object",
    "required": ["rollout", "state", "note", "author", "plan", "step", "share_bp", "judgement", "timeline"],
    "properties": {
        "rollout": {"type": "integer"},
        "state": {"enum": list(State)},
        "note": {"type": "string"},
        "author": {"type": "string"},
        "plan": {"type": "object"},
        "step": _COUNT,
        "share_bp": _COUNT,
        "starts_at": STARTS_AT,
        "started_at": {"type": ["string", "null"], "format": "date-time"},
        "ended_at": {"type": ["string", "null"], "format": "date-time"},
        "judgement": JUDGEMENT,
        "timeline": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["at", "what", "by"],
                "properties": {"readings": {"type": "array", "items": READING}},
            },
        },
    },
}

"""What rules and denies cost a cold decision: `make bench`, or `python -m tests.bench.rules`.

CPU time of `decide` in this process, the fastest of several rounds: on a shared machine only ratios say much.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from policies.decide import decide
from policies.document import parse_document
from policies.fingerprint import fingerprint
from policies.knowledge import Knowledge
from policies.model import ModelSpec
from policies.report import parse_report
from tests.bench.goals import at_most

TOUR: Final = Path(__file__).parents[2] / "docs" / "tour"
GOAL_MS: Final = 0.5
GOAL_RATIO: Final = 1.2
FEW, RULES, MANY_RULES, DENIES = 1, 50, 400, 10_000
RUNS, ROUNDS = 100, 9


def rule(number: int) -> dict[str, Any]:
    """A rule for another phone."""
    when = f'device.soc == "exynos-2400" && device.api_level >= {number} || device.model.startsWith("SM-{number}")'
    return {"id": f"rule-{number}", "when": when, "use": {"ladder": ["*.gpu"]}}


def deny(number: int) -> dict[str, Any]:
    """A deny for another phone."""
    return {
        "id": f"deny-{number}",
        "arms": ["*.gpu"],
        "cohort": {"models": [f"SM-{number}"]},
        "reason": "another phone",
    }


def decision(rules: int = 0, denies: int = 0) -> Callable[[], object]:
    """A cold decision for the tour's phone and model; everything that a document is made ready with is done before."""
    facts = fingerprint(parse_report((TOUR / "report.json").read_bytes()))
    model = ModelSpec.model_validate(json.loads((TOUR / "model.json").read_text("utf-8")))
    stated = {"rules": [rule(n) for n in range(rules)], "denies": [deny(n) for n in range(denies)]}
    document = parse_document({"app": "camera", **stated})
    return lambda: decide(facts, document, [model], Knowledge())


def cpu_ms(decisions: Sequence[Callable[[], object]]) -> list[float]:
    """CPU of one call of each in ms, in its fastest round; they take turns, so that all see the same machine."""
    took: list[list[float]] = [[] for _ in decisions]
    for _ in range(ROUNDS):
        for decide_once, found in zip(decisions, took, strict=True):
            decide_once()
            start = time.process_time()
            for _ in range(RUNS):
                decide_once()
            found.append(1e3 * (time.process_time() - start) / RUNS)
    return [min(found) for found in took]


def main() -> None:
    """Print what rules and denies cost. A missed goal is printed, not an error: a shared machine is no judge."""
    stated = ((0, 0), (FEW, 0), (RULES, 0), (MANY_RULES, 0), (0, DENIES))
    plain, few, some, many, denied = cpu_ms([decision(rules, denies) for rules, denies in stated])
    a_rule_us, of_many_us = 1e3 * (some - few) / (RULES - FEW), 1e3 * (many - some) / (MANY_RULES - RULES)
    linear, found = of_many_us / a_rule_us, denied / plain
    print(
        f"cold decision: {plain:.3f} ms CPU without rules, {some:.3f} ms with {RULES} ({at_most(some, GOAL_MS, 'ms')})"
    )
    print(
        f"a rule of {RULES}: {a_rule_us:.2f} µs; one of {MANY_RULES}: {linear:.2f} × that ({at_most(linear, GOAL_RATIO, '×')})"
    )
    print(f"{DENIES:,} denies ÷ none: {found:.2f} × ({at_most(found, GOAL_RATIO, '×')})")


if __name__ == "__main__":
    main()

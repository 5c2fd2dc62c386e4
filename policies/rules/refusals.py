"""Arms that a device must not run: denied by the operator, beyond the model's accuracy budget, or of another arithmetic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from policies.arm import Arm
from policies.fingerprint import Fingerprint
from policies.model import ModelSpec
from policies.rules.inquiry import Inquiry
from policies.rules.standing import ReadyDeny, Standing
from policies.rules.tried import Fate, TriedDeny
from policies.vocabulary import FLOATS, VENDOR_DELEGATES


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of an explanation: what happened to an arm, and why. `code` is stable."""

    arm: str
    code: str
    because: str


@dataclass(frozen=True, slots=True)
class Refusals:
    """Arm id → why it is refused; what could not be told of others; and what became of every deny that was asked."""

    refused: Mapping[str, Verdict]
    undecided: Sequence[Verdict]
    tried: tuple[TriedDeny, ...]
    denied_by: tuple[str, ...]


def refusals(
    arms: Iterable[Arm], facts: Fingerprint, standing: Standing, model: ModelSpec, inquiry: Inquiry
) -> Refusals:
    """What is taken away. Of several denies that hit an arm the narrowest is named."""
    integers_only = facts.hints.get("npu_fp16") == 0.0
    court = _Court(standing.denies_of(facts, model.name), model, inquiry, integers_only=integers_only)
    refused = {arm.id: verdict for arm in arms if (verdict := court.judge(arm)) is not None}
    return Refusals(refused, court.undecided, tuple(court.tried()), tuple(dict.fromkeys(court.taken.values())))


class _Court:
    """Judges arm after arm, and remembers which deny took which. `integers_only`: so the chip's NPU computes."""

    def __init__(self, denies: Sequence[ReadyDeny], model: ModelSpec, inquiry: Inquiry, *, integers_only: bool) -> None:
        self.taken: dict[str, str] = {}
        self.undecided: list[Verdict] = []
        self._denies = denies
        self._model = model
        self._inquiry = inquiry
        self._integers_only = integers_only
        self._unknown: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def judge(self, arm: Arm) -> Verdict | None:
        deny = next((ready.deny for ready in self._denies if self._hits(ready, arm)), None)
        if deny is not None:
            self.taken[arm.id] = deny.id
            return Verdict(arm.id, "denied", f"{deny.id}: {deny.reason}")
        if self._integers_only and arm.delegate in VENDOR_DELEGATES and arm.variant.precision in FLOATS:
            return Verdict(
                arm.id, "integers-only", "the chip's NPU computes in integers only: a float file fails there"
            )
        if self._model.within_budget(arm.variant):
            return None
        allowed = self._model.max_accuracy_drop
        detail = f"accuracy drops by {arm.variant.accuracy_drop}, at most {allowed} is allowed"
        return Verdict(arm.id, "accuracy-budget", detail)

    def _hits(self, ready: ReadyDeny, arm: Arm) -> bool:
        if not (ready.arms.match(arm.id) and ready.deny.cohort.holds_accelerator(arm.accelerator)):
            return False
        if ready.condition is None:
            return True
        answer = self._inquiry.ask(ready.condition, ready.scope, self._model, arm)
        if answer.holds is None:
            self._unknown[ready.deny.id].update(dict.fromkeys(answer.unknown))
            detail = f"{ready.deny.id}: unknown {', '.join(answer.unknown)}"
            self.undecided.append(Verdict(arm.id, "deny-unknown", detail))
        return bool(answer.holds)

    def tried(self) -> Iterable[TriedDeny]:
        for ready in self._denies:
            name = ready.deny.id
            arms = tuple(arm for arm, by in self.taken.items() if by == name)
            unknown = tuple(self._unknown.get(name, ()))
            fate = Fate.TOOK_AWAY if arms else Fate.UNKNOWN if unknown else Fate.NOT_MATCHED
            yield TriedDeny(name, fate, arms, unknown)

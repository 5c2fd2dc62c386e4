"""Guardrails: quiet at every look while nothing is wrong, quick where something is, and narrow faults are not diluted (R-F3)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.errors import InvalidField, WrongState
from policies.rollouts.guardrails import judge
from policies.rollouts.readings import Seen, Stratum
from policies.rollouts.rollout import (
    BY_PERSONS,
    MOST_SHARE_BP,
    TRANSITIONS,
    Act,
    Measure,
    RolloutPlan,
    State,
    after,
    parse_rollout_plan,
)
from policies.rollouts.sequential import (
    Failures,
    Levels,
    Shift,
    log_e_of_failures,
    log_e_of_shift,
    log_mean,
    rate_ratio,
    shift,
    shift_doubtful,
)

SOCS = ("sm8650", "tensor-g4", "mt6989", "exynos-2400")
PLAN = RolloutPlan.model_validate({"steps": [{"share_bp": 1_000, "min_minutes": 10, "min_windows": 50}]})
COHORTS = {"soc": SOCS, "model": ("camera.seg",)}


@dataclass(frozen=True)
class World:
    """What is wrong with the candidate: failures' rate, and how much slower it is, both by SoC."""

    slower: Callable[[str], float] = lambda _soc: 1.0
    failing: Callable[[str], float] = lambda _soc: 0.01


def windows(rng: random.Random, world: World, looks: int, per_look: int, share: float) -> Iterator[list[Stratum]]:
    """What the guard sees at each look: windows of phones of several SoCs, one in ten noisy, drawn by the share."""
    seen = {(soc, side): Seen() for soc in SOCS for side in (True, False)}
    for _ in range(looks):
        for _ in range(per_look):
            soc, side = rng.choice(SOCS), rng.random() < share
            noise = rng.gauss(0, 0.25 if rng.random() < 0.08 else 0.04)
            log_p90 = math.log(5_000) + noise + (math.log(world.slower(soc)) if side else 0)
            failed = rng.random() < (world.failing(soc) if side else 0.01)
            old = seen[soc, side]
            level = Levels(old.log_p90.n + 1, old.log_p90.total + log_p90, old.log_p90.squares + log_p90**2)
            seen[soc, side] = replace(old, windows=old.windows + 1, failed=old.failed + failed, log_p90=level)
        yield [Stratum(soc, "camera.seg", 2, seen[soc, True], seen[soc, False]) for soc in SOCS]


def looks_until_stopped(world: World, seed: int, plan: RolloutPlan = PLAN, looks: int = 20) -> tuple[int, str] | None:
    """(look, why) of the first look that stops, None where none does."""
    rng = random.Random(seed)
    for number, strata in enumerate(windows(rng, world, looks, 60, 0.1), start=1):
        judged = judge(plan, State.RUNNING, 0, 0.0, 2, strata, COHORTS)
        if judged.act is Act.STOP:
            return number, judged.because
    return None


def test_looked_at_all_the_time_a_good_candidate_is_stopped_no_more_often_than_stated() -> None:
    """Nominal 30 % over twenty looks and five guardrails, so that a few dozen fleets can tell; seen: far less."""
    loose = RolloutPlan.model_validate(PLAN.model_dump() | {"false_stop_rate": 0.3})
    stopped = sum(looks_until_stopped(World(), seed, loose) is not None for seed in range(60))
    assert stopped / 60 <= 0.3


def test_at_the_limit_itself_it_is_stopped_no_more_often_either() -> None:
    """As slow as is just tolerated: the boundary of the hypothesis, where a test is most easily fooled."""
    loose = RolloutPlan.model_validate(PLAN.model_dump() | {"false_stop_rate": 0.3})
    borderline = World(slower=lambda _soc: 1.05, failing=lambda _soc: 0.0125)
    stopped = sum(looks_until_stopped(borderline, seed, loose) is not None for seed in range(40))
    assert stopped / 40 <= 0.3


@pytest.mark.parametrize("seed", range(5))
def test_a_candidate_that_is_slow_on_one_soc_is_stopped_and_the_soc_is_named(seed: int) -> None:
    found = looks_until_stopped(World(slower=lambda soc: 1.3 if soc == "mt6989" else 1.0), seed)
    assert found is not None
    assert found[0] <= 12
    assert "p90-latency" in found[1]
    assert "soc mt6989" in found[1]


def test_one_soc_that_is_hit_hard_is_named_also_where_all_of_them_show_it_more_surely() -> None:
    def level(count: int, log_p90: float) -> Levels:
        return Levels(count, count * log_p90, count * (log_p90**2 + 0.04**2))

    def side(count: int, log_p90: float) -> Seen:
        return Seen(windows=count, starts=count, log_p90=level(count, log_p90))

    slow = {"sm8650": 0.26, "tensor-g4": 0.12, "mt6989": 0.12, "exynos-2400": 0.12}
    seen = [Stratum(soc, "camera.seg", 2, side(40, 8.5 + by), side(400, 8.5)) for soc, by in slow.items()]
    judged = judge(PLAN, State.RUNNING, 0, 60, 2, seen, COHORTS)
    assert judged.act is Act.STOP
    assert "1.30 × the control's on soc sm8650" in judged.because


@pytest.mark.parametrize("seed", range(5))
def test_a_candidate_that_fails_is_stopped(seed: int) -> None:
    found = looks_until_stopped(World(failing=lambda _soc: 0.2), seed)
    assert found is not None
    assert "errors" in found[1]


def strata(candidate: Seen, control: Seen) -> list[Stratum]:
    return [Stratum("sm8650", "camera.seg", 2, candidate, control)]


@pytest.mark.parametrize(
    ("measure", "bad"),
    [
        (Measure.ERRORS, Seen(windows=100, failed=30, starts=100)),
        (Measure.GOLDEN, Seen(windows=100, wrong=30, starts=100)),
        (Measure.CRASHES, Seen(windows=100, starts=100, crashed=30)),
        (Measure.P90_LATENCY, Seen(windows=100, starts=100, log_p90=Levels(100, 1030.0, 10_610.0))),
        (Measure.MEMORY, Seen(windows=100, starts=100, log_memory=Levels(100, 1050.0, 11_026.0))),
    ],
)
def test_every_guardrail_stops_by_itself(measure: Measure, bad: Seen) -> None:
    good = Seen(windows=900, failed=9, wrong=9, starts=900, crashed=9, log_p90=Levels(900, 9_000.0, 90_009.0))
    good = replace(good, log_memory=good.log_p90)
    fine = replace(good, windows=100, failed=1, wrong=1, starts=100, crashed=1, log_p90=Levels(100, 1_000.0, 10_001.0))
    fine = replace(fine, log_memory=fine.log_p90)
    changed = {name: value for name, value in vars_of(bad).items() if value != vars_of(Seen())[name]}
    judged = judge(PLAN, State.RUNNING, 0, 60, 2, strata(replace(fine, **changed), good), COHORTS)
    assert judged.act is Act.STOP
    assert [reading.measure for reading in judged.readings if reading.breached] == [measure]
    assert judge(PLAN, State.RUNNING, 0, 60, 2, strata(fine, good), COHORTS).act is Act.COMPLETE


def test_a_judgement_says_as_plain_values_what_it_rests_on() -> None:
    bad = strata(Seen(windows=100, failed=50, starts=100), Seen(windows=900, failed=9, starts=900))
    told = judge(PLAN, State.RUNNING, 0, 60, 2, bad, COHORTS).to_json()
    errors = next(reading for reading in told["readings"] if reading["measure"] == "errors")
    assert (told["act"], errors["breached"], errors["stop_over"]) == ("stop", True, 1.25)
    assert errors["evidence_log10"] > errors["needed_log10"] == 2.7
    assert errors["cohort"] == "all"


def vars_of(seen: Seen) -> dict[str, object]:
    return {name: getattr(seen, name) for name in Seen.__slots__}


GOOD = Seen(windows=1_000, starts=1_000)


@pytest.mark.parametrize(
    ("state", "minutes", "windows", "because"),
    [
        (State.RUNNING, 5, 500, "5 of 10 minutes"),
        (State.RUNNING, 60, 49, "49 of 50 windows"),
        (State.PAUSED, 60, 500, "the rollout is paused"),
    ],
)
def test_the_next_step_waits_for_time_windows_and_people(
    state: State, minutes: float, windows: int, because: str
) -> None:
    judged = judge(PLAN, state, 0, minutes, 2, strata(Seen(windows=windows, starts=windows), GOOD), COHORTS)
    assert (judged.act, judged.because) == (None, because)


def test_a_step_counts_only_its_own_windows() -> None:
    earlier = [replace(found, release=1) for found in strata(Seen(windows=500, starts=500), GOOD)]
    assert judge(PLAN, State.RUNNING, 0, 60, 2, earlier, COHORTS).because == "0 of 50 windows"


@pytest.mark.parametrize(("failed", "waits"), [(14, False), (24, True)])
def test_the_next_step_waits_while_an_estimate_is_clearly_over_what_is_good_enough(failed: int, waits: bool) -> None:
    control = Seen(windows=1_000, failed=100, starts=1_000)
    judged = judge(
        PLAN, State.RUNNING, 0, 60, 2, strata(Seen(windows=100, failed=failed, starts=100), control), COHORTS
    )
    assert (judged.act is None) == waits
    assert ("errors is at" in judged.because) == waits


def test_a_level_is_doubted_when_it_is_clearly_over() -> None:
    assert shift_doubtful(Shift(0.10, 0.03**2), 0.02)
    assert not shift_doubtful(Shift(0.07, 0.03**2), 0.02)
    assert not shift_doubtful(None, 0.02)


def test_a_paused_rollout_still_stops_on_a_breach() -> None:
    bad = strata(Seen(windows=100, failed=50, starts=100), Seen(windows=900, failed=9, starts=900))
    assert judge(PLAN, State.PAUSED, 0, 0, 2, bad, COHORTS).act is Act.STOP


def test_there_is_a_next_step_until_the_last() -> None:
    two = RolloutPlan.model_validate({"steps": [{"share_bp": bp, "min_windows": 1} for bp in (100, 200)]})
    acts = [judge(two, State.RUNNING, step, 60, 2, strata(GOOD, GOOD), COHORTS).act for step in (0, 1)]
    assert acts == [Act.ADVANCE, Act.COMPLETE]


@given(st.lists(st.tuples(*[st.integers(0, 30)] * 4), max_size=6))
def test_a_stratum_without_one_of_the_sides_says_nothing(rows: list[tuple[int, int, int, int]]) -> None:
    alone = [Failures(a, a + b, 0, 0) for a, b, _, _ in rows] + [Failures(0, 0, c, c + d) for _, _, c, d in rows]
    assert log_e_of_failures(alone, 1.25) == pytest.approx(0.0)
    assert rate_ratio(alone) == 1.0


def test_an_expected_bet_on_a_fair_failure_is_one() -> None:
    """The e-value's law, by hand: one failure, candidate's chance at the limit."""
    odds = 1.25 * 10 / 90
    new, old = (math.exp(log_e_of_failures([Failures(n, 10, 1 - n, 90)], 1.25)) for n in (1, 0))
    assert (odds * new + old) / (1 + odds) == pytest.approx(1.0)


def test_an_expected_shift_at_the_limit_is_one() -> None:
    """The same law for levels: the mean over a normal estimate at the limit, by a fine sum."""
    sd, limit = 0.05, math.log(1.05)
    step = sd / 50
    total = sum(
        math.exp(log_e_of_shift(Shift(limit + z * step, sd**2), limit) - 0.5 * (z * step / sd) ** 2)
        for z in range(-1_500, 1_501)
    )
    assert total * step / (sd * math.sqrt(2 * math.pi)) == pytest.approx(1.0, abs=1e-6)


def test_a_shift_of_few_windows_is_not_known() -> None:
    few = Levels(10, 100.0, 1_001.0)
    assert shift([(few, few)]) is None
    assert log_e_of_shift(None, 0.05) == 0.0
    many = Levels(100, 1_000.0, 10_010.0)
    found = shift([(many, many)])
    assert found == Shift(0.0, pytest.approx(20 / 198 / 50), pytest.approx(20 / 198))
    assert shift([(many, many)], least_noise=1.0) == Shift(0.0, pytest.approx(1 / 50), 1.0)


def test_evidence_far_below_the_limit_is_small_and_finite() -> None:
    assert -60 < log_e_of_shift(Shift(-5.0, 1e-6), 0.05) < 0


def test_evidence_is_averaged_not_multiplied() -> None:
    assert log_mean([0.0, math.log(3)], [0.5, 0.5]) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    "raw",
    [
        {"steps": []},
        {"steps": [{"share_bp": 500}, {"share_bp": 500}]},
        {"steps": [{"share_bp": 500}, {"share_bp": 100}]},
        {"steps": [{"share_bp": MOST_SHARE_BP + 1}]},
        {"steps": [{"share_bp": 0}]},
        {"steps": [{"share": 5}]},
        {"limits": {"errors": {"stop": 1.1, "go": 1.2}}},
        {"limits": {"errors": {"stop": 0.9, "go": 0.9}}},
        {"false_stop_rate": 0},
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(raw: dict[str, object]) -> None:
    with pytest.raises(InvalidField):
        parse_rollout_plan(raw)


def test_a_plan_that_states_nothing_shows_its_defaults() -> None:
    assert [step.share_bp for step in parse_rollout_plan({}).steps] == [100, 500, 2_000, 5_000]


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.STOPPED, State.ABORTED])
@pytest.mark.parametrize("act", list(Act))
def test_a_rollout_that_is_over_stays_over(state: State, act: Act) -> None:
    with pytest.raises(WrongState):
        after(state, act)


def test_people_can_do_no_more_than_pause_resume_and_abort() -> None:
    assert {act for (_, act) in TRANSITIONS} - set(BY_PERSONS) == {
        Act.ADVANCE, Act.COMPLETE, Act.STOP, Act.BEGIN, Act.CALL_OFF,
    }  # fmt: skip
    assert after(State.PAUSED, Act.RESUME) is State.RUNNING

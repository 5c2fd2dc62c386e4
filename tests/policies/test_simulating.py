"""A change compared with what is live: what is told of many phones at once is what deciding each alone tells."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from typing import Any

import pytest
from builders import EDGETPU, chain, deny, make_document, make_fingerprint, make_model, make_variant, nnapi

from policies.fingerprint import Fingerprint
from policies.knowledge import ArmShare, RankedArm, Ranking
from policies.simulating.basis import Basis, Proposed
from policies.simulating.compare import Comparison, comparisons
from policies.simulating.effect import Effect
from policies.simulating.simulation_json import simulation_json
from policies.simulating.simulator import Simulator
from policies.simulating.tally import Tally, worst
from policies.vocabulary import Workload
from policies.wire import model_json

NPU = "int8.tflite.nnapi.google-edgetpu"
GPU = "fp32.tflite.gpu"
CPU = "int8.tflite.cpu"


def basis(document: dict[str, Any] | None = None, learned: Any = None, **model: Any) -> Basis:
    return Basis(make_document(**(document or {})), (make_model(**model),), learned or {})


def proposed(before: Basis, after: Basis) -> Proposed:
    return Proposed("camera", before, after)


def told(before: Basis, after: Basis, facts: Fingerprint | None = None) -> Comparison | None:
    found = comparisons(proposed(before, after), facts or make_fingerprint())
    return found[0] if found else None


def ranking(*arms: tuple[str, float], stack: str = "") -> dict[str, Any]:
    ranked = tuple(RankedArm(arm, expected_ms, 0.1, 50) for arm, expected_ms in arms)
    made = Ranking(ranked, (ArmShare(arms[0][0], 10_000),))
    return {
        stack or make_fingerprint().driver_stack: {"segmentation": dict.fromkeys(map(str, Workload), made.to_json())}
    }


@cache
def fleet() -> list[Fingerprint]:
    drivers = (
        EDGETPU,
        dict(EDGETPU) | {"version": "3.0"},
        dict(EDGETPU) | {"probe": {"status": "crashed"}},
        dict(EDGETPU) | {"supports": {}},
    )
    gpus = ({"renderer": "Mali-G715", "vulkan": "1.3"}, {"renderer": "Adreno (TM) 740", "vulkan": "1.1"}, None)
    phones = product(drivers, gpus, (("Tensor G4", 4096), ("Tensor G3", 12288)), ("1:user", "2:user", "2:userdebug"))
    return [
        make_fingerprint(
            nnapi=nnapi(driver),
            gpu=gpu,
            device={
                "soc_model": soc,
                "ram_mb": ram_mb,
                "build_fingerprint": f"google/s/s:16/B/{build}/x",
                "cpu": {"cores": 2 if ram_mb < 8000 else 8, "features": []},
            },
        )
        for driver, gpu, (soc, ram_mb), build in phones
    ]


def when(condition: str, *ladder: str) -> dict[str, Any]:
    return {"rules": [{"id": "stated", "when": condition, "use": {"ladder": list(ladder or ("*.gpu",))}}]}


OTHER_FILE = [
    make_variant("int8", id="smaller", graph=chain(*["CONV_2D"] * 4).to_json()),
    make_variant("fp32", graph=chain(*["CONV_2D"] * 4, activation="float32").to_json()),
]
CHANGES = {
    "a deny": (basis(), basis({"denies": [deny("no-npu", "*.nnapi.*")]})),
    "a deny by a driver's version": (
        basis(),
        basis({"denies": [deny("old", "*", cohort={"accelerators": ["google-edgetpu"], "driver_versions": ["2.0"]})]}),
    ),
    "a deny of a GPU family": (basis(), basis({"denies": [deny("mali", "*.gpu", cohort={"gpus": ["Mali-G715"]})]})),
    "a deny that is lifted": (basis({"denies": [deny("no-gpu", "*.gpu")]}), basis()),
    "a deny of whatever has no CPU": (basis(), basis({"denies": [deny("all", "*")]})),
    "a condition on memory": (basis(), basis(when("device.ram_gb <= 4"))),
    "a condition on the build": (basis(), basis(when("device.build.contains('/2:')"))),
    "a condition on drivers": (basis(), basis(when("accelerators.exists(a, a.driver_version == '3.0')"))),
    "a condition on the arm": (basis(), basis(when("arm.accelerator.driver_version == '3.0'", "*.nnapi.*"))),
    "a condition on the GPU": (basis(), basis(when("dotted(gpu.vulkan, '< 1.2')"))),
    "a condition on measurements": (basis(), basis(when("supports('CONV_2D', 'TENSOR_FLOAT32')"))),
    "a condition on a request": (basis(), basis(when("request.country == 'DE'"))),
    "a condition on the class": (basis(), basis(when(f"device.device_class == '{fleet()[5].device_class}'"))),
    "another condition": (basis(when("device.ram_gb <= 4")), basis(when("device.ram_gb >= 8"))),
    "exploration": (basis(), basis({"exploration_bp": 500})),
    "exploration under a deny": (
        basis({"exploration_bp": 500}),
        basis({"exploration_bp": 500, "denies": [deny("mali", "*.gpu", cohort={"gpus": ["Mali-G715"]})]}),
    ),
    "thresholds": (basis(), basis({"thresholds": {"lead_coverage": 1.0, "cpu_coverage": 1.0}})),
    "rungs": (basis(), basis({"ladder_rungs": 2})),
    "another file": (basis(), basis(variants=OTHER_FILE)),
    "a file for one chip": (
        basis(),
        basis(variants=[*OTHER_FILE, make_variant("fp16", id="g3", targets=["tensor-g3"])]),
    ),
    "a latency target": (basis(), basis(latency_target_ms=10.0)),
    "a ranking": (basis(), basis(learned=ranking((GPU, 5.0), (NPU, 9.0)))),
    "another ranking": (basis(learned=ranking((NPU, 5.0), (GPU, 9.0))), basis(learned=ranking((GPU, 5.0), (NPU, 9.0)))),
    "a deny of what leads": (
        basis(learned=ranking((NPU, 5.0), (GPU, 9.0))),
        basis({"denies": [deny("no-npu", "*.nnapi.*")]}, ranking((NPU, 5.0), (GPU, 9.0))),
    ),
    "a new app": (Basis(None), basis()),
    "nothing": (basis(), basis()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_told_of_many_phones_is_what_deciding_each_alone_tells(name: str) -> None:
    change = proposed(*CHANGES[name])
    together = Simulator([change])
    for facts in fleet():
        assert together.outlook(facts).comparisons == comparisons(change, facts)
    assert together.decided < len(fleet())


@pytest.mark.parametrize("name", [name for name in CHANGES if "exploration" not in name])
def test_a_phone_of_which_nothing_is_told_gets_the_same_document(name: str) -> None:
    before, after = CHANGES[name]
    for facts in fleet():
        effects = [one.effect for one in comparisons(proposed(before, after), facts) if one.effect]
        documents = [
            {
                d.model.name: {part: v for part, v in model_json(d, facts).items() if part != "because"}
                for d in decided.models
            }
            if (decided := side.decided(facts))
            else {}
            for side in (before, after)
        ]
        assert (documents[0] == documents[1]) is (not effects)


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("a deny of whatever has no CPU", Effect.NOTHING_RUNS),
        ("a deny", Effect.NO_ACCELERATOR),
        ("another ranking", Effect.LEADER),
        ("another file", Effect.VARIANT),
        ("rungs", Effect.LADDER),
        ("exploration", Effect.EXPLORATION),
        ("exploration under a deny", Effect.LADDER),
        ("a latency target", Effect.SETTINGS),
        ("a new app", Effect.NEW),
    ],
)
def test_a_change_is_called_by_the_gravest_thing_it_does(name: str, effect: Effect) -> None:
    made = told(*CHANGES[name])
    assert made is not None
    assert made.effect is effect


def test_a_phone_that_is_left_with_its_cpu_has_lost_its_accelerator() -> None:
    made = told(basis(), basis({"denies": [deny("no-npu", "*.nnapi.*"), deny("no-gpu", "*.gpu")]}))
    assert made is not None
    assert made.effect is Effect.NO_ACCELERATOR
    assert made.before
    assert made.after
    assert (made.before.arm, made.after.arm) == (NPU, CPU)
    assert made.denies == {"no-npu", "no-gpu"}


def test_only_the_units_whose_first_arm_changes_are_counted_as_moved() -> None:
    def split(first_bp: int) -> dict[str, Any]:
        parts = [
            {"weight_bp": first_bp, "ladder": ["*.gpu"]},
            {"weight_bp": 10_000 - first_bp, "ladder": ["*.nnapi.*"]},
        ]
        return {"rules": [{"id": "halves", "when": "true", "use": {"split": parts}}]}

    made = told(basis(split(1_000)), basis(split(3_500)))
    assert made is not None
    assert made.effect is Effect.LADDER
    assert made.moved_bp == 2_500


def test_both_sides_are_judged_by_one_ranking_and_against_the_best_that_either_allows() -> None:
    made = told(*CHANGES["another ranking"])
    assert made is not None
    assert made.latency
    assert (made.latency.before_ms, made.latency.after_ms, made.latency.best_ms) == (9.0, 5.0, 5.0)


def test_an_arm_that_nobody_measured_leaves_the_latency_unknown() -> None:
    made = told(basis(learned=ranking((NPU, 5.0))), basis({"denies": [deny("no", "*.nnapi.*")]}, ranking((NPU, 5.0))))
    assert made is not None
    assert made.latency is None


def test_an_estimate_of_no_time_is_no_estimate() -> None:
    made = told(basis(learned=ranking((NPU, 0.0), (GPU, 9.0))), basis(learned=ranking((GPU, 0.0), (NPU, 9.0))))
    assert made is not None
    assert made.latency is None


def test_a_rule_that_chooses_what_was_served_anyway_is_told_as_acting_and_changes_nothing() -> None:
    made = told(basis(), basis(when("true", "*.nnapi.*", "*.gpu")))
    assert made is not None
    assert made.effect is None
    assert made.rules == {"stated"}


def test_phones_that_a_change_does_not_concern_are_not_decided() -> None:
    simulator = Simulator([proposed(basis(), basis({"denies": [deny("g9", "*", cohort={"socs": ["Tensor G9"]})]}))])
    assert not any(simulator.outlook(facts).comparisons for facts in fleet())
    assert simulator.decided == 0


def tallied(change: Proposed, phones: list[Fingerprint]) -> Tally:
    simulator, tally = Simulator([change]), Tally()
    for facts in phones:
        tally.add(simulator.outlook(facts), windows=2.0)
    return tally


def test_counts_shares_and_facts_add_up() -> None:
    made = simulation_json(tallied(proposed(*CHANGES["a deny of a GPU family"]), fleet()))
    reports = made["seen"]["reports"]
    changed = sum(count["reports"] for count in made["changed"].values())
    assert reports == len(fleet())
    assert made["unchanged_reports"] == reports - changed
    assert 0 < changed < reports
    assert made["seen"]["windows"] == 2 * reports
    by_soc = Counter({row["value"]: row["reports"] for row in made["by_fact"]["soc"]})
    assert by_soc == Counter(facts.soc for facts in fleet())
    assert made["stated"] == [
        {"what": "deny", "id": "mali", **{k: made["stated"][0][k] for k in ("classes", "reports", "windows")}}
    ]


def test_what_gets_worse_is_told_the_gravest_first() -> None:
    learned = ranking((NPU, 5.0), (GPU, 9.0)) | ranking(
        (NPU, 5.0), (CPU, 20.0), stack=make_fingerprint(gpu=None).driver_stack
    )
    change = proposed(basis(learned=learned), basis({"denies": [deny("no-npu", "*.nnapi.*")]}, learned))
    tally = tallied(change, [make_fingerprint(), make_fingerprint(gpu=None), make_fingerprint(gpu=None, runtimes={})])
    assert [made.effect for _, made, _ in worst(tally, 10)] == [
        Effect.NO_ACCELERATOR,
        Effect.NO_ACCELERATOR,
        Effect.LEADER,
    ]
    figures = simulation_json(tally)["latency"]
    assert (figures["known_reports"], figures["unknown_reports"]) == (2, 1)
    assert (figures["before_ms"], figures["after_ms"]) == (5.0, 14.5)


def test_a_sustained_change_is_told_as_one() -> None:
    stack = make_fingerprint().driver_stack
    learned = ranking((NPU, 5.0), (GPU, 9.0))
    learned[stack]["segmentation"]["sustained"] = ranking((GPU, 7.0))[stack]["segmentation"]["burst"]
    made = told(basis(learned=ranking((NPU, 5.0), (GPU, 9.0))), basis(learned=learned))
    assert made is not None
    assert made.workload is Workload.SUSTAINED
    assert made.after
    assert made.after.arm == GPU

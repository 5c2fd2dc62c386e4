"""Reports, device classes and models, read by the code that will read them in service."""

import json
from collections import Counter

import pytest

from ml.fleet import Fleet, Phone, build_fleet
from policies.arm import executable_arms
from policies.arm_coverage import arm_coverages
from policies.fingerprint import Fingerprint, fingerprint
from policies.model import ModelSpec
from policies.population import Population
from policies.report import MAX_BYTES, parse_report
from policies.vocabulary import Delegate


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return build_fleet(devices=2000, seed=5)


@pytest.fixture(scope="module")
def classes(fleet) -> dict[str, Phone]:
    return {phone.device_class: phone for phone in fleet.phones}


@pytest.fixture(scope="module")
def fingerprints(classes) -> dict[str, Fingerprint]:
    return {name: fingerprint(parse_report(phone.report)) for name, phone in classes.items()}


@pytest.fixture(scope="module")
def specs(fleet) -> dict[tuple[str, str], ModelSpec]:
    found = [ModelSpec.model_validate(model) for model in fleet.models]
    return {(spec.app, spec.name): spec for spec in found}


def modelled(phones):
    return [phone for phone in phones if phone.kind == "modelled"]


def test_phones_of_one_class_send_the_same_bytes(fleet):
    reports = {(phone.device_class, phone.report) for phone in fleet.phones}
    assert len(reports) == len({phone.device_class for phone in fleet.phones})


def test_reports_are_small_retail_and_without_contradictions(classes, fingerprints):
    for name, phone in classes.items():
        assert len(phone.report) <= MAX_BYTES
        assert fingerprints[name].population is Population.RETAIL, name
        assert fingerprints[name].learnable, name


def test_only_names_that_are_new_on_purpose_are_anomalies(fingerprints):
    odd = {anomaly.code for found in fingerprints.values() for anomaly in found.anomalies}
    assert odd <= {"new-soc", "new-accelerator"}


def test_a_report_leads_to_the_soc_of_the_phone(classes, fingerprints):
    for name, phone in classes.items():
        assert fingerprints[name].soc == phone.soc, name


def test_a_measured_phone_shows_its_chip_and_qnn_but_no_nnapi_accelerator(classes, fingerprints):
    for name, phone in classes.items():
        if phone.kind == "measured":
            found = fingerprints[name]
            assert {"year", "tier", "npu_version"} <= found.hints.keys(), name
            assert [a.name for a in found.accelerators] == ["nnapi-reference"]
            assert [r.delegate for r in found.runtimes if r.presence == "yes"] == [Delegate.QNN]


def test_all_17_measured_chipsets_serve(fleet):
    assert len({phone.chipset for phone in fleet.phones if phone.kind == "measured"}) == 17


def test_the_server_offers_every_arm_that_exists(fleet, classes, fingerprints, specs):
    """Arms it offers beyond those fail to start: the GPU of an old PowerVR, a job that never passed on a chipset."""
    for name, phone in classes.items():
        for key in phone.models_in_use:
            offered = {arm.id for arm in executable_arms(fingerprints[name], specs[key])}
            existing = set(fleet.arms(phone, *key))
            assert existing <= offered, (name, key)
            assert {arm.rsplit(".", 1)[-1] for arm in offered - existing} <= {"gpu", "qnn"}


def test_the_server_computes_the_coverage_that_phones_have(classes, fingerprints, specs):
    compared = 0
    for name, phone in classes.items():
        for key in phone.models_in_use if phone.kind == "modelled" else ():
            for arm, found in arm_coverages(executable_arms(fingerprints[name], specs[key])).items():
                truth = phone.bench.truth(*key, arm)
                assert truth is not None
                assert found.share == pytest.approx(truth.delegated_nodes / truth.total_nodes), (name, key, arm)
                compared += 1
    assert compared > 2000


def test_a_compiled_variant_names_the_chips_it_was_measured_on(fleet, classes):
    for phone in classes.values():
        for app, name in phone.models_in_use if phone.kind == "measured" else ():
            spec = next(m for m in fleet.models if (m["app"], m["name"]) == (app, name))
            for arm in fleet.arms(phone, app, name):
                precision, kind, _delegate = arm.split(".")
                variant = next(v for v in spec["variants"] if (v["precision"], v["format"]) == (precision, kind))
                assert (
                    phone.soc in variant["targets"]
                    if kind in {"qnn-context", "onnx-epcontext"}
                    else not variant["targets"]
                )


def test_camera_models_carry_their_graphs(specs):
    camera = [spec for spec in specs.values() if spec.app == "camera"]
    assert len(camera) >= 8
    for spec in camera:
        assert all(variant.model_graph is not None for variant in spec.variants)
        assert spec.params is not None


def test_android_versions_have_the_shares_of_the_market(fleet):
    """Within two points; the faults' floors pull some phones to their classes."""
    found = Counter(json.loads(phone.report)["device"]["api_level"] for phone in modelled(fleet.phones))
    total = sum(found.values())
    market = {35: 0.04, 34: 0.27, 33: 0.17, 30: 0.16, 29: 0.10, 28: 0.06, 27: 0.07}
    for api, share in market.items():
        assert found[api] / total == pytest.approx(share, abs=0.04), api


def test_nnapi_levels_have_the_shares_of_the_market(fleet, fingerprints):
    """None 4, FL1–2 9, FL3 10, FL4 16, FL5–6 13, FL7 17, FL8 32 %; within four points."""
    phones = modelled(fleet.phones)
    found = Counter(fingerprints[phone.device_class].nnapi_level for phone in phones)
    shares = [({None}, 0.04), ({1, 2}, 0.09), ({3}, 0.10), ({4}, 0.16), ({5, 6}, 0.13), ({7}, 0.17), ({8}, 0.32)]
    for levels, share in shares:
        assert sum(found[level] for level in levels) / len(phones) == pytest.approx(share, abs=0.04), levels


def test_a_third_of_modelled_phones_has_no_useful_accelerator(fleet, fingerprints):
    phones = modelled(fleet.phones)
    useless = 0
    for phone in phones:
        found = fingerprints[phone.device_class]
        npu = any(a.kind in {"npu", "dsp", "front", "other"} for a in found.accelerators)
        useless += not npu and not any(r.presence == "yes" and not r.of_app for r in found.runtimes)
    assert 0.25 <= useless / len(phones) <= 0.40


def test_a_long_tail_of_socs_shares_the_market(fleet):
    found = Counter(phone.soc for phone in modelled(fleet.phones))
    assert 40 <= len(found) <= 80
    assert max(found.values()) / found.total() < 0.12

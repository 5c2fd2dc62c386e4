"""This machine as a report: what the kernel says, nothing that tells one machine from its like (R-A5)."""

from __future__ import annotations

from pathlib import Path

from nnfleet_litert import machine_report
from nnfleet_litert.machine import features, parse_cpuinfo, parse_memory_mb
from policies.fingerprint import Population, fingerprint
from policies.report import parse_report

X86 = """\
processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(R) CPU @ 2.20GHz
flags\t\t: fpu avx2 f16c avx512_vnni

processor\t: 1
vendor_id\t: GenuineIntel
"""
ARM = "processor\t: 0\nFeatures\t: fp asimd asimdhp asimddp\nprocessor\t: 1\n"


def test_the_first_core_speaks_for_all() -> None:
    cpu = parse_cpuinfo(X86)
    assert (cpu["cores"], cpu["model name"]) == ("2", "Intel(R) Xeon(R) CPU @ 2.20GHz")
    assert features(cpu) == ["avx2", "avx512_vnni", "f16c"]
    assert features(parse_cpuinfo(ARM)) == ["asimd", "asimddp", "asimdhp"]


def test_memory_is_rounded_up_to_what_was_built_in() -> None:
    assert parse_memory_mb("MemTotal:       24052552 kB\n") == 23 * 1024
    assert parse_memory_mb("nothing") is None


def test_the_report_is_one_that_the_server_takes(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text(X86)
    dmi = tmp_path / "sys/class/dmi/id"
    dmi.mkdir(parents=True)
    (dmi / "sys_vendor").write_text("Acme\n")
    (dmi / "product_name").write_text("Board 7\n")
    (dmi / "product_serial").write_text("S3CR3T\n")
    body = machine_report(tmp_path)
    assert b"S3CR3T" not in body
    facts = fingerprint(parse_report(body))
    assert (facts.manufacturer, facts.model, facts.population) == ("acme", "Board 7", Population.RETAIL)
    assert (facts.cpu_cores, facts.accelerators, facts.nnapi_level) == (2, (), None)


def test_this_very_machine_reports_itself_the_same_way_twice() -> None:
    assert machine_report() == machine_report()
    parse_report(machine_report())

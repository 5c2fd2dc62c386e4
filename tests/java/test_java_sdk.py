"""The Java SDK: its unit tests, what Android lacks, and the whole loop with the real probe and the real server (R-G1)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from builders import make_model_json
from operating import TOKEN
from probe.probe_builders import CAPTURES, BuiltProbe, accelerator, build_probe, script
from sqlalchemy import Engine
from sqlmodel import Session

from ml.findings import Finding
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import parse_report
from service.deciding.signing import SigningKeys
from service.jobs.recommend import look
from service.server import running_server
from service.settings import Settings
from service.store.reports import report_body
from tests.docs.markdown import code_blocks

pytestmark = pytest.mark.slow

SDK = Path(__file__).parents[2] / "client_sdk" / "java"
JUNIT = Path("/usr/share/java/junit4.jar")
NPU = "int8.tflite.nnapi.google-edgetpu"

# Android got these after API level 21, or never.
LATER_THAN_ANDROID_5 = re.compile(
    rb"java/(time|nio/file|util/(stream|function|Base64|Optional|concurrent/CompletableFuture)|net/http|lang/invoke/VarHandle)\b"
)


def jdk() -> int:
    """The number of the compiler's release; JDK 8 calls itself 1."""
    said = subprocess.run(["javac", "-version"], check=True, capture_output=True, text=True)
    return int(re.findall(r"\d+", said.stdout + said.stderr)[0])


@pytest.fixture(scope="session")
def built_sdk() -> Path:
    """The SDK's build folder, its tests in it."""
    if shutil.which("javac") is None or not JUNIT.exists() or jdk() < 17:
        pytest.skip("the Java SDK cannot be built and tested here: no JDK 17, or no JUnit 4 (Debian: junit4)")
    done = subprocess.run([SDK / "build.sh", "tests"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return SDK / "build"


def classes(built_sdk: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(built_sdk / "nnfleet-client.jar") as jar:
        yield from ((name, jar.read(name)) for name in jar.namelist() if name.endswith(".class"))


def test_the_unit_tests_pass(built_sdk: Path) -> None:
    junit = f"{built_sdk}/nnfleet-client.jar:{built_sdk}/tests:{JUNIT}:{JUNIT.parent}/hamcrest-core.jar"
    names = sorted(path.stem for path in (built_sdk / "tests").rglob("*Test.class"))
    command = ["java", f"-Dnnfleet.vectors={SDK.parents[1]}/tests/vectors", "-cp", junit, "org.junit.runner.JUnitCore"]
    done = subprocess.run(
        [*command, *(f"io.nnfleet.client.{name}" for name in names)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_jar_is_java_8_and_uses_nothing_that_android_lacks(built_sdk: Path) -> None:
    found = dict(classes(built_sdk))
    assert len(found) > 40
    for name, content in found.items():
        assert int.from_bytes(content[6:8]) == 52, name
        assert not LATER_THAN_ANDROID_5.findall(content), name


ANDROID = """
class Context {
    java.io.File getNoBackupFilesDir() { return new java.io.File("."); }
    java.io.File getCodeCacheDir() { return new java.io.File("."); }
    ApplicationInfo getApplicationInfo() { return new ApplicationInfo(); }
}
class ApplicationInfo { String nativeLibraryDir = "."; }
class PowerManager { int getCurrentThermalStatus() { return 0; } }
class ActivityManager {
    java.util.List<ApplicationExitInfo> getHistoricalProcessExitReasons(String name, int pid, int most) { return null; }
}
class ApplicationExitInfo {
    static final int REASON_UNKNOWN = 0, REASON_LOW_MEMORY = 3, REASON_USER_REQUESTED = 10;
    int getReason() { return REASON_UNKNOWN; }
}
"""
AROUND = """
import io.nnfleet.client.*;
import java.io.File;
import java.util.List;
class Readme {
    void inAnApp(Context context, PowerManager power, byte[] report, String randomIdKeptOnThisPhone, byte[] publicKey, Runner runner)
            throws Exception { %s }
    void once(Context context) { %s }
    void atTheStart(ActivityManager activityManager, FleetClient.Builder builder) { %s }
}
"""


def test_the_snippets_of_the_readme_compile(built_sdk: Path, tmp_path: Path) -> None:
    source = tmp_path / "Readme.java"
    source.write_text(AROUND % tuple(code_blocks((SDK / "README.md").read_text("utf-8"), "java")) + ANDROID, "utf-8")
    command = ["javac", "-Xlint:all", "-Werror", "-cp", built_sdk / "nnfleet-client.jar", "-d", tmp_path, source]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


class Phones:
    """Phones of one class, as a Java program, against one server whose signature they ask for."""

    def __init__(self, built_sdk: Path, probe: BuiltProbe, server: str, work: Path, keys: SigningKeys) -> None:
        self._plan = work / "script"
        self.say(script(accelerator()))
        junit = f"{built_sdk}/nnfleet-client.jar:{built_sdk}/tests"
        libraries = without_other_vendors(probe.folder / "double", work)
        places: tuple[object, ...] = (probe.folder / "nnfleet-probe", CAPTURES / "pixel", libraries, work)
        self._head = [
            "java",
            f"-Djava.library.path={probe.folder}",
            "-cp",
            junit,
            "io.nnfleet.client.PhonesProgram",
            server,
        ]
        trusted = [f"{key_id}={key.hex()}" for key_id, key in keys.trusted().items()]
        self._tail = [*(str(place) for place in places), *trusted]

    def say(self, script: str) -> None:
        """Tell the doubles what their libraries are to do from now on."""
        self._plan.write_text(script)

    def run(self, count: int) -> dict[str, Any]:
        """Let so many phones probe, ask, run and report."""
        environment = {"PATH": "/usr/bin:/bin", "NNFLEET_DOUBLE": str(self._plan)}
        command = [*self._head, str(count), *self._tail]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        said: dict[str, Any] = json.loads(done.stdout)
        return said


def without_other_vendors(doubles: Path, work: Path) -> Path:
    """A folder of libraries as on this phone, which has no other vendor's runtime."""
    folder = work / "libraries"
    folder.mkdir()
    for name in ("neuralnetworks", "EGL", "GLESv2", "vulkan", "nativewindow"):
        (folder / f"lib{name}.so").symlink_to(doubles / f"lib{name}.so")
    return folder


def publish(server: str, **policy: Any) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=server, headers=headers, timeout=30) as operator:
        for name in ("segmentation", "detection"):
            model = make_model_json(name=name)
            operator.put(f"/v1/models/camera/{name}", json=model).raise_for_status()
        operator.put("/v1/policies/camera", json={"schema": 1, "app": "camera"} | policy).raise_for_status()
        operator.post("/v1/releases", json={"note": "a step of the loop"}).raise_for_status()


@pytest.fixture
def phones(built_sdk: Path, settings: Settings, engine: Engine, tmp_path: Path) -> Iterator[tuple[Phones, str]]:
    probe = build_probe("host", tmp_path)
    if not (probe.folder / "libnnfleet_probe_jni.so").exists():
        pytest.skip("the probe was built without jni.h")
    keys, file = SigningKeys.generate(), tmp_path / "signing-keys"
    keys.write(file)
    with running_server(replace(settings, signing_keys=file), workers=1, threads=2) as url:
        yield Phones(built_sdk, probe, url, tmp_path, keys), url


def class_of(engine: Engine, said: dict[str, Any]) -> Fingerprint:
    with Session(engine) as session:
        body = report_body(session, said["report_id"])
    assert body is not None
    return fingerprint(parse_report(body))


def test_a_phantom_that_java_phones_met_is_found_quarantined_and_no_longer_tried(
    phones: tuple[Phones, str], engine: Engine
) -> None:
    fleet, server = phones
    others = {"id": "others", "arms": ["fp32.*.*", "*.*.gpu"], "reason": "keeps this test small"}
    publish(server, exploration_bp=5_000, denies=[others])
    first = fleet.run(count=30)
    assert (first["reason"], first["accepted"], first["waiting"]) == ("FRESH", 60, 0)
    assert first["arms"].keys() >= {NPU, "int8.tflite.cpu"}

    seen = class_of(engine, first)
    assert [a.name for a in seen.accelerators if not a.is_cpu] == ["google-edgetpu"]

    now = datetime.now(UTC)
    (found,) = [one for one in look(engine, now, now - timedelta(hours=1)) if one.name == "phantom-acceleration"]
    assert found.quarantine == {"soc": "tensor-g4", "target": "nnapi.google-edgetpu"}

    quarantine(server, found)
    second = fleet.run(count=5)
    assert class_of(engine, second).device_class == seen.device_class
    assert NPU not in second["arms"]
    assert quarantined(server) == [f"quarantine.{found.name}"]


def quarantine(server: str, finding: Finding) -> None:
    """Put in force what the finding proposes, with its evidence: live at once, without a publish."""
    narrowest = finding.quarantine
    deny = {
        "id": finding.name,
        "arms": [f"{narrowest.get('precision', '*')}.*.{narrowest['target']}"],
        "when": f'device.soc == "{narrowest["soc"]}"',
        "reason": finding.detail,
        "until": (datetime.now(UTC) + timedelta(days=30)).date().isoformat(),
    }
    held = {"app": "camera", "deny": deny, "evidence": [finding.detail], "owner": "silicon"}
    answer = httpx.post(
        f"{server}/v1/quarantines",
        json={"quarantine": held, "note": "found by the fleet"},
        headers={"Authorization": f"Bearer {TOKEN}"},
        timeout=30,
    )
    assert answer.raise_for_status().json()["release"] is not None


def quarantined(server: str) -> list[str]:
    """The denies that are in force, as decisions name them."""
    held = httpx.get(f"{server}/v1/quarantines", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
    return [f"quarantine.{one['quarantine']['deny']['id']}" for one in held.raise_for_status().json()["quarantines"]]


def test_a_phantom_that_the_probe_itself_measured_is_not_tried_at_all(
    phones: tuple[Phones, str], engine: Engine
) -> None:
    fleet, server = phones
    fleet.say(script(accelerator("execute_ms 20")) + "execute_ms 20\n")
    publish(server)
    told = fleet.run(count=3)
    assert {anomaly.code for anomaly in class_of(engine, told).anomalies} == {"no-faster-than-cpu"}
    assert NPU not in told["arms"]

"""The file of ready decisions: what is put in is found, whatever else is in it (R-F4)."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.deciding.decision_file import MAGIC, DecisionFile, DecisionFileWriter, UnreadableFile

REPORT = "ab" * 32


def written(path: Path, decisions: dict[tuple[str, str], tuple[bytes, str]], release: int = 7) -> DecisionFile:
    with DecisionFileWriter(path, release) as file:
        for (app, report_id), (body, signature) in decisions.items():
            file.add(app, report_id, body, signature)
    return DecisionFile(path)


report_ids = st.binary(min_size=32, max_size=32).map(bytes.hex)
# Ids that share their first bits fall into one slot of the directory.
crowded = st.binary(min_size=30, max_size=30).map(lambda tail: (b"\x80\x00" + tail).hex())
decisions = st.dictionaries(
    st.tuples(st.sampled_from(["camera", "voice"]), report_ids | crowded),
    st.tuples(st.sampled_from([b"{}", b"a body", b"another"]), st.sampled_from(["", "a.b.c"])),
    max_size=40,
)


@settings(max_examples=60)
@given(decisions, report_ids)
def test_what_was_put_in_is_found_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, put: dict[tuple[str, str], tuple[bytes, str]], stranger: str
) -> None:
    file = written(tmp_path_factory.mktemp("file") / "decisions", put)
    assert set(file.pairs()) == set(put)
    assert len(file) == len(put)
    for (app, report_id), (body, signature) in put.items():
        found = file.get(app, report_id)
        assert found is not None
        assert (found.body, found.signature) == (body, signature)
        assert found.body_sha256 == sha256(body).hexdigest()
    if ("camera", stranger) not in put:
        assert file.get("camera", stranger) is None


@pytest.mark.parametrize("report_id", ["", "zz" * 32, "ab", "ab" * 33, "été"])
def test_what_is_no_report_id_is_not_there(tmp_path: Path, report_id: str) -> None:
    assert written(tmp_path / "f", {("camera", REPORT): (b"{}", "")}).get("camera", report_id) is None


def test_a_body_that_reports_share_is_in_the_file_once(tmp_path: Path) -> None:
    body = b"x" * 100_000
    written(tmp_path / "f", {("camera", sha256(bytes([n])).hexdigest()): (body, "") for n in range(50)})
    assert (tmp_path / "f").stat().st_size < 2 * len(body)


def test_an_open_file_outlives_its_successor(tmp_path: Path) -> None:
    old = written(tmp_path / "f", {("camera", REPORT): (b"old", "")}, release=1)
    new = written(tmp_path / "f", {("camera", REPORT): (b"new", "")}, release=2)
    assert [(file.release, file.get("camera", REPORT).body) for file in (old, new)] == [(1, b"old"), (2, b"new")]  # type: ignore[union-attr]


def test_a_writer_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    written(tmp_path / "f", {("camera", REPORT): (b"old", "")})
    with pytest.raises(ValueError, match="hexadecimal"), DecisionFileWriter(tmp_path / "f", 8) as file:
        file.add("camera", "no digest", b"{}", "")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert DecisionFile(tmp_path / "f").release == 7


@pytest.mark.parametrize("cut", [1, 100, 0.5], ids=["by a byte", "by a hundred", "by half"])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, cut: float) -> None:
    written(tmp_path / "f", {("camera", REPORT): (b"{}" * 200, "a.b.c")})
    whole = (tmp_path / "f").read_bytes()
    (tmp_path / "f").write_bytes(whole[: int(len(whole) * cut) if cut < 1 else len(whole) - int(cut)])
    with pytest.raises(UnreadableFile):
        DecisionFile(tmp_path / "f")


@pytest.mark.parametrize("content", [b"", b"something else", MAGIC, MAGIC + bytes(16), MAGIC + bytes(200)])
def test_what_is_no_decision_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(UnreadableFile):
        DecisionFile(tmp_path / "f")

"""Google Play's device groups: chips and memory, five selectors a group, and a word on what cannot be told (R-F6)."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from policies.play.groups import GIB, MAX_SELECTORS, Chip, Files, Memory, Phones, play_groups
from policies.play.xml import NAMESPACE, to_json, to_xml

QTI, TENSOR = Chip("QTI", "SM8750"), Chip("Google", "Tensor G4")
INT8: Files = (("segmentation", ("seg-int8",)),)
FP16: Files = (("segmentation", ("seg-fp16", "seg-int8")),)
SPACE = {"config": NAMESPACE}


def phones(chip: Chip | None = QTI, files: Files = INT8, ram_gb: int | None = 8, reports: int = 1) -> Phones:
    return Phones(chip, ram_gb, reports, files)


def test_chips_that_need_the_same_files_share_a_selector() -> None:
    found = play_groups([phones(QTI), phones(TENSOR)])
    [group] = found.groups
    [selector] = group.selectors
    assert (selector.chips, selector.memory) == ((TENSOR, QTI), Memory())
    assert found.warnings == ()


def test_memory_bounds_meet_without_gap_and_without_overlap() -> None:
    found = play_groups(
        [phones(ram_gb=4), phones(ram_gb=6), phones(ram_gb=8, files=FP16), phones(ram_gb=12, files=FP16)]
    )
    bounds = {group.files: group.selectors[0].memory for group in found.groups}
    meeting = int(7.5 * GIB)
    assert bounds == {INT8: Memory(0, meeting), FP16: Memory(meeting, 0)}


def test_phones_that_play_cannot_tell_apart_go_with_the_most_and_are_counted() -> None:
    found = play_groups([phones(reports=5), phones(files=FP16, reports=2)])
    assert [group.files for group in found.groups] == [INT8]
    assert found.warnings == ("QTI SM8750, 8 GB: 2 of 7 reports need other files, by what Play cannot see",)


def test_phones_without_a_chip_s_name_get_the_default_and_are_counted() -> None:
    found = play_groups([phones(chip=None, reports=3)])
    assert found.groups == ()
    assert "3 reports name no chip" in found.warnings[0]


def test_phones_that_may_run_nothing_are_in_no_group() -> None:
    assert play_groups([phones(files=())]).groups == ()


def test_a_group_of_many_memory_ranges_is_cut_at_five_selectors() -> None:
    many = [
        phones(Chip("QTI", f"SM{number}"), files, ram_gb)
        for number in range(7)
        for ram_gb, files in ((2 + number, INT8), (4 + number, FP16))
    ]
    found = play_groups(many)
    assert max(len(group.selectors) for group in found.groups) == MAX_SELECTORS
    assert len({group.name for group in found.groups}) == len(found.groups) == 4


def test_a_name_stays_the_same_while_the_files_do() -> None:
    before = play_groups([phones(QTI)])
    after = play_groups([phones(TENSOR), phones(Chip("Samsung", "s5e9945"), FP16)])
    assert before.groups[0].name in {group.name for group in after.groups}


_CHOICES = st.lists(
    st.builds(phones, st.sampled_from([QTI, TENSOR]), st.sampled_from([INT8, FP16, ()]), st.integers(1, 24)),
    max_size=30,
)


@given(_CHOICES)
def test_no_phone_is_in_two_groups(seen: list[Phones]) -> None:
    ranges = sorted(
        (chip, selector.memory.min_bytes, selector.memory.max_bytes or 2**62)
        for group in play_groups(seen).groups
        for selector in group.selectors
        for chip in selector.chips
    )
    for (one, _, end), (other, start, _) in pairwise(ranges):
        assert one != other or end <= start


@given(manufacturer=st.text(max_size=20), model=st.text(min_size=1, max_size=20))
def test_whatever_phones_call_their_chip_the_file_is_xml(manufacturer: str, model: str) -> None:
    found = play_groups([phones(Chip(manufacturer, model)), phones(chip=None)])
    root = ElementTree.fromstring(to_xml(found, f"-->{model}--").encode("utf-8", "replace"))
    assert root.tag == f"{{{NAMESPACE}}}device-targeting-config"
    assert len(root.findall(".//config:system-on-chip", SPACE)) == 1


def test_the_file_reads_as_google_s_documentation_shows() -> None:
    text = to_xml(play_groups([phones(QTI, ram_gb=4), phones(QTI, FP16, ram_gb=8)]), "app camera")
    name = play_groups([phones(QTI)]).groups[0].name
    assert f'    <config:device-group name="{name}">' in text
    assert '        <config:device-selector ram-max-bytes="8053063680">' in text
    assert '            <config:system-on-chip manufacturer="QTI" model="SM8750"/>' in text
    assert "<!-- segmentation: seg-int8 -->" in text


def test_json_says_the_same() -> None:
    [group] = to_json(play_groups([phones()]))["groups"]
    assert group["files"] == {"segmentation": ["seg-int8"]}
    assert group["selectors"] == [
        {"ram_min_bytes": None, "ram_max_bytes": None, "socs": [{"manufacturer": "QTI", "model": "SM8750"}]}
    ]

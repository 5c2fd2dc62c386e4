from __future__ import annotations

import csv
import io
import re
from html import unescape

import pytest
from console_builders import Stage, report
from flask.testing import FlaskClient


def models_on(client: FlaskClient, path: str) -> list[str]:
    """The models in the order of the list."""
    return re.findall(r'<th scope="row"><a href="[^"]+">google ([^<]+)</a>', client.get(path).text)


def links(client: FlaskClient, path: str) -> list[str]:
    return [unescape(href) for href in re.findall(r'href="([^"]+)"', client.get(path).text)]


@pytest.fixture
def many(stage: Stage) -> Stage:
    for number in range(60):
        stage.add_report(report(f"Phone {number:02}", "Tensor G3" if number % 2 else "Tensor G2", api=30 + number % 4))
    return stage


def test_pages_split_the_list_without_loss_or_overlap(client: FlaskClient, many: Stage) -> None:
    pages = [models_on(client, f"/console/classes?page={number}") for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [25, 25, 10]
    assert len({model for page in pages for model in page}) == 60


def test_a_page_past_the_end_shows_the_last_one(client: FlaskClient, many: Stage) -> None:
    assert models_on(client, "/console/classes?page=999") == models_on(client, "/console/classes?page=3")


def test_sorting_goes_both_ways(client: FlaskClient, many: Stage) -> None:
    assert models_on(client, "/console/classes?sort=model")[0] == "Phone 00"
    assert models_on(client, "/console/classes?sort=-model")[0] == "Phone 59"


@pytest.mark.parametrize("order", ["soc", "-soc", "-reports"])
def test_every_class_is_on_one_page_where_keys_are_equal_or_unknown(
    client: FlaskClient, many: Stage, order: str
) -> None:
    unknown = {f"Blank {number}" for number in range(5)}
    for model in unknown:
        many.add_report(report(model, ""))
    pages = [models_on(client, f"/console/classes?sort={order}&page={number}") for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [25, 25, 15]
    assert len({model for page in pages for model in page}) == 65
    if order.endswith("soc"):
        assert set(pages[2][-5:]) == unknown


def test_links_to_other_pages_keep_search_filter_and_order(client: FlaskClient, many: Stage) -> None:
    path = "/console/classes?q=phone&soc=tensor-g3&sort=-model"
    following = next(href for href in links(client, path) if "page=2" in href)
    assert "soc=tensor-g3" in following
    assert "sort=-model" in following
    assert models_on(client, following) == [f"Phone {n:02}" for n in (9, 7, 5, 3, 1)]


def test_sort_links_keep_the_search_and_go_back_to_the_first_page(client: FlaskClient, many: Stage) -> None:
    found = [href for href in links(client, "/console/classes?q=phone&page=2") if "sort=soc" in href]
    assert found == ["/console/classes?q=phone&sort=soc"]


def test_filters_combine(client: FlaskClient, many: Stage) -> None:
    assert len(models_on(client, "/console/classes?soc=tensor-g3&api=31")) == 15
    assert models_on(client, "/console/classes?soc=tensor-g3&api=30") == []


def test_the_form_keeps_what_was_asked(client: FlaskClient, many: Stage) -> None:
    page = client.get("/console/classes?q=Phone+1&soc=tensor-g3&sort=-model").text
    assert 'name="q" value="Phone 1"' in page
    assert '<option value="tensor-g3" selected>' in page
    assert '<input type="hidden" name="sort" value="-model">' in page


def test_search_takes_wildcards_literally(client: FlaskClient, many: Stage) -> None:
    assert models_on(client, "/console/classes?q=%25") == []
    assert models_on(client, "/console/classes?q=phone+07+tensor") == ["Phone 07"]


def test_a_class_is_found_by_the_start_of_its_id(client: FlaskClient, many: Stage) -> None:
    _, facts = many.add_report(report("Wanted"))
    assert "Wanted" in models_on(client, f"/console/classes?q={facts.device_class[:12].upper()}")
    assert "Wanted" not in models_on(client, f"/console/classes?q={facts.device_class[1:]}")


def test_an_accelerator_and_an_anomaly_can_be_filtered_by(client: FlaskClient, stage: Stage) -> None:
    stage.add_report(report("Known"))
    stage.add_report(report("New", driver="xy-npu"))
    assert models_on(client, "/console/classes?accelerator=xy-npu") == ["New"]
    assert models_on(client, "/console/classes?anomaly=new-accelerator") == ["New"]
    assert models_on(client, "/console/classes?anomaly=(none)") == ["Known"]


@pytest.mark.parametrize(
    "query", ["page=-1", "page=abc", "page=99999999999999", "sort=nothing", "q=%00", "api=x", "q=" + "a" * 5000]
)
def test_nonsense_in_the_address_is_no_error(client: FlaskClient, many: Stage, query: str) -> None:
    assert client.get(f"/console/classes?{query}").status_code == 200


def test_what_an_update_changed_is_shown_from_the_class_page(client: FlaskClient, stage: Stage) -> None:
    before = stage.add_report(report())[1].device_class
    after = stage.add_report(report(api=35, driver="mtk-neuron"))[1].device_class
    stage.add_report(report("Pixel 9"))
    link = f"/console/classes/{after}/since/{before}"
    assert link in links(client, f"/console/classes/{after}")
    page = unescape(client.get(link).text)
    assert "The driver stack is another one" in page
    assert "Drivers that are gone: <code>nnapi.google-edgetpu</code>" in page
    assert "Drivers that are new: <code>nnapi.mtk-neuron</code>" in page
    assert "Drivers whose compiled caches are void: <code>gpu</code>" in page
    assert '<code>api_level</code></th><td class="long">34</td><td class="long">35</td>' in page


def test_a_comparison_with_a_class_that_nobody_reported_is_not_found(client: FlaskClient, stage: Stage) -> None:
    known = stage.add_report(report())[1].device_class
    assert client.get(f"/console/classes/{known}/since/ffff").status_code == 404
    assert "No fact differs" in client.get(f"/console/classes/{known}/since/{known}").text


def test_operations_are_drawn_by_driver_and_type_as_text(client: FlaskClient, stage: Stage) -> None:
    _, facts = stage.add_report(report())
    page = client.get(f"/console/classes/{facts.device_class}").text
    part = page.partition('class="heat-map"')[2].partition("</table>")[0]
    assert '<abbr title="TENSOR_QUANT8_ASYMM">U8</abbr>' in part
    rows = dict(re.findall(r"<code>(\w+)</code></th>(.*?)</tr>", part))
    assert rows == {
        "CONV_2D": '<td class="yes">F32</td><td class="yes">U8</td>',
        "SOFTMAX": '<td class="yes">F32</td><td></td>',
    }
    assert "google-edgetpu: 2 of 2 operations in some type" in page


def test_what_a_class_measured_is_shown_by_arm_and_as_a_file(client: FlaskClient, stage: Stage) -> None:
    report_id, facts = stage.add_report(report())
    path = f"/console/classes/{facts.device_class}"
    assert "Nothing of this class is rolled up yet" in client.get(path).text
    stage.measure(report_id, 3)
    stage.measure(report_id, arm="int8.tflite.cpu", golden={"checks": 1, "passed": 0, "max_rel_error": 0.5})
    part = client.get(path).text.partition('id="observed-title"')[2].partition("</section>")[0]
    assert re.findall(r'<code class="arm">([^<]+)</code>.*?</td>\s*<td class="number">(\d+)', part) == [
        ("int8.tflite.nnapi.google-edgetpu", "3"),
        ("int8.tflite.cpu", "1"),
    ]
    assert "1 of 1" in part
    rows = list(csv.DictReader(io.StringIO(client.get(f"{path}?format=csv").text)))
    assert [(row["windows"], row["runs"], row["golden_failed"]) for row in rows] == [("3", "9", "0"), ("1", "3", "1")]


def test_the_history_of_a_phone_says_what_each_update_changed(client: FlaskClient, stage: Stage) -> None:
    classes = [stage.add_report(report(api=api))[1].device_class for api in range(27, 37)]
    page = client.get(f"/console/classes/{classes[0]}?history=2").text
    part = page.partition('id="history-title"')[2]
    assert "9–10 of 10 classes" in part
    assert part.count("the first</span>") == 1
    assert part.count('badge plain">this one') == 1

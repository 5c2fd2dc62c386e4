from __future__ import annotations

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
    [link] = [href for href in links(client, f"/console/classes/{after}") if "/since/" in href]
    assert link == f"/console/classes/{after}/since/{before}"
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

"""The report's document: a closed union of blocks in a fixed order, none empty, that is read back from JSON."""

import json
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from app.recorded_call import RecordedCall
from app.reporting import html, markdown, notebook
from app.reporting.compose import APPENDIX, PAGES, compose
from app.reporting.document.blocks import (
    BLOCK_ORDER,
    PAGE_TITLES,
    ActionsBlock,
    Assumption,
    AssumptionsBlock,
    DriversBlock,
    EvidenceBlock,
    Look,
    LooksBlock,
    Sibling,
    SiblingsBlock,
    WordsBlock,
)
from app.reporting.document.json_form import OldReport, ReportJson, load_report
from app.reporting.document.layout import lay_out
from app.reporting.document.report import Report, arrange
from app.reporting.document.sectioned import to_plain

from .conftest import RECORDED, altered, drawn_figures, make_draft, recorded

LATER_BLOCKS = [
    LooksBlock([Look(("Sales by region",), ("North leads.",))]),
    AssumptionsBlock([Assumption("known_in_advance", ("It is known in advance.",), ("good",), ("bad",))]),
    SiblingsBlock([Sibling(("another",), ("without a column",), ("worse",))]),
]
"""Blocks that have a place and no maker yet."""


@pytest.fixture(params=["titanic", "diabetes"])
def report(request: pytest.FixtureRequest) -> Report:
    calls = recorded(request.param)
    return compose(make_draft(calls, figures=drawn_figures(calls)))


def test_a_report_read_from_json_renders_alike(report: Report) -> None:
    stored = json.loads(json.dumps(report.to_json()))

    again = load_report(stored)

    assert again.to_json() == stored
    assert markdown.render(again.lay_out()) == markdown.render(report.lay_out())
    assert html.render(again.lay_out(), {}) == html.render(report.lay_out(), {})


def test_a_report_matches_its_published_schema(report: Report) -> None:
    schema = ReportJson.model_json_schema()

    jsonschema.validate(json.loads(json.dumps(report.to_json())), schema)

    assert {"UnderstandingBlock", "AnswerBlock", "AssumptionsBlock", "AppendixBlock"} <= schema["$defs"].keys()


def test_blocks_are_in_order_and_have_content(report: Report) -> None:
    kinds = [block.kind for block in report.blocks]

    assert kinds == [kind for kind in BLOCK_ORDER if kind in kinds]
    assert all(lay_out(block).elements for block in report.blocks)
    pages = report.lay_out()
    assert [section.title for section in pages.sections] == [
        PAGE_TITLES[section.id] for section in pages.sections
    ]
    assert {section.id for section in pages.appendix} == set(kinds) - PAGE_TITLES.keys()


def test_a_picture_is_shown_once(report: Report) -> None:
    page = html.render(report.lay_out(), {})
    assert page.count("<figure") == len({figure["name"] for figure in _pictures(report.to_json())})


def _pictures(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, dict):
        return [node] if "caption" in node and "digest" in node else _pictures(list(node.values()))
    return [picture for item in node for picture in _pictures(item)] if isinstance(node, list) else []


def test_every_kind_of_block_has_a_maker_or_a_place_for_later() -> None:
    later = {block.kind for block in LATER_BLOCKS}
    assert {*PAGES, *APPENDIX, *later, "reproducibility"} == set(BLOCK_ORDER)


@pytest.mark.parametrize(
    "empty",
    [
        LooksBlock([]),
        AssumptionsBlock([]),
        SiblingsBlock([]),
        ActionsBlock(),
        DriversBlock(),
        EvidenceBlock([]),
        WordsBlock([]),
    ],
)
def test_a_block_without_content_is_left_out(empty: Any, report: Report) -> None:
    others = [block for block in report.blocks if block.kind != empty.kind]
    assert empty.kind not in [block.kind for block in arrange([*others, empty])]


def test_a_kind_of_block_occurs_once(report: Report) -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        arrange([*report.blocks, report.blocks[0]])


@pytest.mark.parametrize("block", LATER_BLOCKS)
def test_blocks_of_later_parts_are_rendered_at_their_place(block: Any, report: Report) -> None:
    filled = Report(report.title, arrange([*report.blocks, block]), report.claims, report.calls)

    assert load_report(filled.to_json()).to_json() == filled.to_json()
    text = markdown.render(filled.lay_out())
    assert f"## {PAGE_TITLES[block.kind]}" in text
    assert text.index("## Answer") < text.index(f"## {PAGE_TITLES[block.kind]}") < text.index("<details>")


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored["blocks"].append({"kind": "extra", "title": "More", "elements": []}),
        lambda stored: stored["blocks"][1].update(text=[{"claim": "c9999"}]),
        lambda stored: stored["blocks"][-1]["elements"].append({"kind": "script", "text": ["x"]}),
    ],
)
def test_the_union_is_closed(change: Any, report: Report) -> None:
    stored = json.loads(json.dumps(report.to_json()))
    change(stored)
    with pytest.raises(ValidationError):
        load_report(stored)


def test_a_report_of_version_1_is_told_apart() -> None:
    stored = json.loads((RECORDED / "report_version_1.json").read_text())["report"]
    with pytest.raises(OldReport, match="version 1"):
        load_report(stored)


def test_remarks_of_a_chat_model_have_their_block(titanic: list[RecordedCall]) -> None:
    report = compose(make_draft(titanic, remarks=["Women survived more often than men."]))
    block = next(block for block in report.blocks if block.kind == "words")
    assert to_plain(block) == {"paragraphs": [["Women survived more often than men."]], "kind": "words"}


def test_the_notebook_begins_with_the_answer_and_has_no_links(report: Report) -> None:
    made = notebook.render(load_report(json.loads(json.dumps(report.to_json()))))
    assert made is not None
    opening = made["cells"][0]["source"]
    assert "## Answer" in opening
    assert "](#" not in opening
    assert "](" not in opening.replace("\\]", "")
    assert [cell["cell_type"] for cell in made["cells"]].count("code") > 5


def test_code_of_the_crew_is_read_back_from_json(titanic: list[RecordedCall]) -> None:
    def add_code(result: dict[str, Any]) -> None:
        for fit in result["candidates"]:
            fit["recipe"] = [{"op": "python", "name": "ratio", "source": "def transform(frame, state): ..."}]

    report = compose(make_draft(altered(titanic, "train_classification_model", add_code)))

    assert "code" in [block.kind for block in report.blocks]
    assert load_report(json.loads(json.dumps(report.to_json()))).to_json() == report.to_json()

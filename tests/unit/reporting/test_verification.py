"""The promises of the report's check: nothing altered passes, nothing unproven passes, nothing empty passes."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from app.recorded_call import RecordedCall
from app.reporting import html, markdown
from app.reporting.compose import compose
from app.reporting.document.elements import Paragraph, Section
from app.reporting.document.inline_elements import Name
from app.reporting.document.report import Report
from app.reporting.document.sectioned import Document
from app.reporting.draft import ReportDraft
from app.reporting.verification import ReportVerification, verify_report

from .conftest import RECORDED, altered, make_draft, recorded


def written(calls: list[RecordedCall]) -> tuple[ReportDraft, Report]:
    draft = make_draft(calls)
    return draft, compose(draft)


def problems(verdict: ReportVerification) -> str:
    return "\n".join(f"{mismatch.where}: {mismatch.problem}" for mismatch in verdict.mismatches)


@pytest.mark.parametrize("name", ["titanic", "diabetes"])
def test_a_report_of_a_real_session_passes(name: str) -> None:
    draft, report = written(recorded(name))

    verdict = verify_report(
        report.to_json(), draft.calls, html.render(report.lay_out(), {}), markdown.render(report.lay_out())
    )

    assert problems(verdict) == ""
    assert verdict.passes
    assert verdict.checked == len(report.claims) > 100


@pytest.mark.parametrize(
    "name", ["\x1b[31mred", "\u202ename", "two\nlines", "<svg onload=x>", "&lt;", "a\\<b", "[x](y)"]
)
def test_a_report_on_a_hostile_name_passes(name: str) -> None:
    said = json.dumps([vars(call) for call in recorded("titanic")])
    calls = [RecordedCall(**call) for call in json.loads(said.replace("survived", json.dumps(name)[1:-1]))]
    draft, report = written(calls)

    verdict = verify_report(
        report.to_json(), draft.calls, html.render(report.lay_out(), {}), markdown.render(report.lay_out())
    )

    assert problems(verdict) == ""


def test_one_altered_recorded_result_fails(titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)

    def change(result: Any) -> None:
        result["metrics"]["roc_auc"]["value"] += 0.001

    verdict = verify_report(report.to_json(), [*altered(titanic, "final_evaluation", change), draft.calls[-1]])

    assert not verdict.passes
    assert "the journal says 0.8" in problems(verdict)


def test_every_altered_claim_fails_the_check(titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)
    document = report.to_json()

    for place in range(len(document["claims"])):
        changed = copy.deepcopy(document)
        claim = changed["claims"][place]
        claim["value"] = (
            claim["value"] + 1 if isinstance(claim["value"], (int, float)) else f"{claim['value']}!"
        )
        assert not verify_report(changed, draft.calls).passes, claim
        changed = copy.deepcopy(document)
        changed["claims"][place]["text"] += "0"
        assert not verify_report(changed, draft.calls).passes, claim


def test_a_report_without_a_claim_fails(titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)
    empty = Document(("Report",), (), [Section("s", "Summary", [Paragraph(("All is well.",))])], [])

    assert not verify_report(empty.to_json(), draft.calls).passes
    assert not verify_report({}, draft.calls).passes
    assert verify_report(report.to_json(), draft.calls).passes


def test_a_claim_on_a_call_that_was_never_made_fails(titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)

    without = [call for call in draft.calls if call.tool != "final_evaluation"]

    assert not verify_report(report.to_json(), without).passes


def _prose(document: Any) -> None:
    document["blocks"][-1]["elements"].append({"kind": "paragraph", "text": ["It reaches 99 of 100."]})


def _name(document: Any) -> None:
    piece = {"name": "column_77", "code": True}
    document["blocks"][-1]["elements"].append({"kind": "paragraph", "text": [piece]})


def _unknown_claim(document: Any) -> None:
    document["blocks"][-1]["elements"].append({"kind": "paragraph", "text": [{"claim": "c9999"}]})


def _other_place(document: Any) -> None:
    document["claims"][0]["pointer"] = "/no/such/place"


def _other_operation(document: Any) -> None:
    document["claims"][0]["operation"] = "invent"


def _heading(document: Any) -> None:
    document["blocks"][-1]["title"] = "Accuracy 0.99"


@pytest.mark.parametrize("forge", [_prose, _name, _unknown_claim, _other_place, _other_operation, _heading])
def test_a_number_without_a_claim_fails(forge: Callable[[Any], None], titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)
    document = report.to_json()

    forge(document)

    assert not verify_report(document, draft.calls).passes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows that were not used in training", "rows, 99% of them right"),
        (">0.818<", ">0.918<"),
        ('href="#c1"', 'href="#c2"'),
    ],
)
def test_a_page_that_differs_from_its_claims_fails(old: str, new: str, titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)
    page = html.render(report.lay_out(), {})
    assert old in page

    assert verify_report(report.to_json(), draft.calls, html=page).passes
    assert not verify_report(report.to_json(), draft.calls, html=page.replace(old, new, 1)).passes


@pytest.mark.parametrize(
    ("old", "new"),
    [("rows that were not used in training", "rows, 99% of them right"), ("[0\\.818]", "[0\\.918]")],
)
def test_markdown_that_differs_from_its_claims_fails(old: str, new: str, titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)
    text = markdown.render(report.lay_out())
    assert old in text

    assert not verify_report(report.to_json(), draft.calls, markdown=text.replace(old, new, 1)).passes


def test_a_page_without_any_claim_fails(titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)

    assert not verify_report(report.to_json(), draft.calls, html="<p>All is well.</p>").passes


def test_a_quote_may_hold_numbers_that_were_recorded(titanic: list[RecordedCall]) -> None:
    draft, report = written(titanic)
    document = report.to_json()

    quoted = Name("Predict which of the 1313 passengers survived.", code=False)
    document["blocks"][-1]["elements"].append(
        {"kind": "paragraph", "text": [{"name": quoted.text, "code": quoted.code}]}
    )

    assert verify_report(document, draft.calls).passes


def test_a_stored_report_of_version_1_is_still_checked(diabetes: list[RecordedCall]) -> None:
    stored = json.loads((RECORDED / "report_version_1.json").read_text())
    assert stored["report"]["version"] == 1
    calls = [*diabetes, RecordedCall(**stored["own"])]

    verdict = verify_report(stored["report"], calls, markdown=stored["markdown"])

    assert problems(verdict) == ""
    assert verdict.checked > 100
    stored["report"]["sections"][0]["blocks"].append({"kind": "paragraph", "text": ["It reaches 99 of 100."]})
    assert not verify_report(stored["report"], calls).passes

import pytest

from app.recorded_call import RecordedCall
from app.reporting import markdown
from app.reporting.compose import compose
from app.reporting.document.elements import Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Name
from app.reporting.document.sectioned import Document
from app.reporting.verification import verify_report

from .conftest import make_draft


@pytest.mark.parametrize(
    ("name", "span"),
    [
        ("age", "`age`"),
        ("a`b", "`` a`b ``"),
        ("a``b`", "``` a``b` ```"),
        ("a|b", "`a\\|b`"),
        ("two\nlines", "`two lines`"),
        ("<script>", "`<script>`"),
        ("", "` `"),
    ],
)
def test_a_code_span_holds_any_name(name: str, span: str) -> None:
    assert markdown.code_span(name) == span


@pytest.mark.parametrize(
    "words",
    [
        "[click](javascript:alert(1))",
        "![x](http://example.org/x.png)",
        "# heading",
        "<img src=x onerror=alert(1)>",
        "| a | b |",
        "a\n\n## Provenance\n\nb",
        "**bold** _it_ ~~no~~ https://example.org @someone",
    ],
)
def test_text_of_a_person_is_escaped(words: str) -> None:
    plain = markdown.escape_text(words)

    assert "\n" not in plain
    for sign in "[]()#|*_<!:@":
        unescaped = plain.replace(f"\\{sign}", "").replace("&lt;", "")
        assert sign not in unescaped.replace("\\", "")


def test_a_cell_never_breaks_its_row() -> None:
    hostile = Name("a|b\n| c | `d`", code=True)
    table = ReportTable(("What", "Value"), [[(hostile,), (Name("x|y", code=False),)]])

    text = markdown.render(Document(("T",), (), [Section("s", "S", [table, Paragraph(("end",))])], []))

    row = next(line for line in text.splitlines() if "a\\|b" in line)
    assert row.count("|") - row.count("\\|") == 3


def test_every_link_has_its_anchor(titanic: list[RecordedCall]) -> None:
    report = compose(make_draft(titanic))

    text = markdown.render(report.lay_out())

    for claim in report.claims:
        assert f'<a id="{claim.id}"></a>' in text


def test_a_goal_full_of_markup_and_numbers_still_passes_the_check(titanic: list[RecordedCall]) -> None:
    draft = make_draft(titanic, goal="[1](http://x) | 2 **3** `4`\n## 5\n- 6 <b>7</b>")
    report = compose(draft)

    verdict = verify_report(report.to_json(), draft.calls, markdown=markdown.render(report.lay_out()))

    assert verdict.mismatches == ()

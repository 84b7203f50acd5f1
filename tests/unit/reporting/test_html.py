import re
from html.parser import HTMLParser

import pytest

from app.recorded_call import RecordedCall
from app.reporting import html
from app.reporting.compose import compose
from app.reporting.verification import verify_report

from .conftest import altered, drawn_figures, make_draft

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(2)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "<!-- -->&amp;&#x3C;",
    "a\u202eb\u0000c\u2028d",
]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


@pytest.fixture
def page(titanic: list[RecordedCall]) -> str:
    draft = make_draft(titanic, figures=drawn_figures(titanic))
    return html.render(compose(draft).lay_out(), {"roc": b"<svg/>"})


def test_the_page_needs_nothing_from_outside_and_runs_nothing(page: str) -> None:
    tags = parsed(page)

    links = [value for name, value in tags.attributes if name in ("href", "src", "action", "srcset", "data")]
    assert links
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in links)
    assert not tags.tags & {"script", "iframe", "object", "embed", "form", "link", "base"}
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_every_link_of_the_page_has_its_target(page: str) -> None:
    tags = parsed(page)
    ids = [value for name, value in tags.attributes if name == "id"]
    links = {value[1:] for name, value in tags.attributes if name == "href"}

    assert links <= set(ids)
    assert len(ids) == len(set(ids))


def test_the_page_starts_with_the_answer(page: str) -> None:
    text = re.sub(r"<[^>]+>", "", page[page.index("<main") :])

    assert " ".join(text.split()).startswith(
        "Report Predicting survived What was understood Predict which of the 1313 passengers survived. "
        "Predict survived, a problem of classification. Which metric? Assumed: roc_auc. "
        "Answer Right for 71 of 100 passengers that it names \N{LEFT DOUBLE QUOTATION MARK}survived"
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_data_stay_text(name: str, titanic: list[RecordedCall]) -> None:
    def everywhere(result: dict[str, object]) -> None:
        problem = result.get("problem")
        if isinstance(problem, dict):
            problem["target"] = problem["time_column"] = name
        for entry in result.get("importances", ()):  # type: ignore[attr-defined]
            entry["column"] = name
        if "findings" in result:
            result["findings"] = [{"text": name, "severity": "warning", "kind": "x"}]

    calls = titanic
    for tool in {call.tool for call in titanic}:
        calls = altered(calls, tool, everywhere)
    draft = make_draft(
        calls,
        goal=name,
        datasets=[{"name": name, "rows": 1}],
        versions={name: name},
        questions=[{"agent": name, "text": name, "answer": name, "by": "user"}],
    )
    report = compose(draft)

    page = html.render(report.lay_out(), {})

    tags = parsed(page)
    assert not tags.tags & {"script"}
    assert not [1 for tag, _ in tags.attributes if tag.startswith("on")]
    assert tags.tags == parsed(html.render(compose(make_draft(titanic)).lay_out(), {})).tags | {"span"}
    assert not {"\u202e", "\u0000", "\u2028"} & set(page)
    assert "49" not in re.sub(r"\d{3,}|c\d+", "", page) or "{{ 7 * 7 }}" in page
    assert "{{ 7 * 7 }}" in page or "{{" not in name
    verdict = verify_report(report.to_json(), draft.calls)
    assert verdict.mismatches == ()


def test_a_figure_is_an_image_so_that_nothing_in_it_can_run(titanic: list[RecordedCall]) -> None:
    report = compose(make_draft(titanic, figures=drawn_figures(titanic)))

    tags = parsed(html.render(report.lay_out(), {"leaderboard": b"<svg><script>alert(1)</script></svg>"}))

    assert "script" not in tags.tags
    assert [value for name, value in tags.attributes if name == "src"] == [
        "data:image/svg+xml;base64,PHN2Zz48c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+PC9zdmc+"
    ]

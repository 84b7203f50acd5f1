"""The section on the problem that was derived from the goal."""

from app.reporting.document.elements import Element, Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact

_ROWS = (
    ("Target", "target"),
    ("Problem", "kind"),
    ("Metric", "metric"),
    ("Classes", "classes"),
    ("Positive class", "positive_class"),
    ("Ordered by", "time_column"),
    ("Grouped by", "group_column"),
    ("Rows ahead", "horizon"),
    ("Every step up to it", "every_step"),
    ("Forecast quantity", "outlook"),
    ("Take-profit and stop-loss", "barriers"),
    ("Excluded columns", "exclude"),
)


def section(draft: ReportDraft) -> Section | None:
    problem = draft.facts.problem
    blocks: list[Element] = []
    if problem:
        meaning = (draft.metric_name, " is ", draft.metric.meaning, ".")
        better = "Higher is better." if draft.metric.greater_is_better else "Lower is better."
        rows = [((title,), value) for title, name in _ROWS if (value := _value(draft, problem, name))]
        blocks += [ReportTable(("Question", "Answer"), rows), Paragraph((*meaning, " ", better))]
    return Section("problem", "Problem", blocks) if blocks else None


def _value(draft: ReportDraft, problem: RecordedFact, name: str) -> Text:
    fact = problem.at(name)
    if fact is None or fact.value in ([], "") or (name == "every_step" and not fact.value):
        return ()
    if name == "metric":
        return (draft.metric_name,)
    if isinstance(fact.value, list):
        style = "percent" if name == "barriers" else "text"
        return join_texts([(draft.read(item, style),) for item in fact.items()])
    return ("yes",) if name == "every_step" else (draft.read(fact),)

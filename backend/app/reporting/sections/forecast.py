"""What is expected after the last row, and how errors grow with the way there."""

from collections.abc import Sequence

from app.reporting.document import Block, Name, Paragraph, ReportTable, Section, Text
from app.reporting.draft import EMPTY_CELL, ReportDraft
from app.reporting.evidence import RecordedFact, items_at

_BOUNDS = (("From", "low"), ("To", "high"))


def section(draft: ReportDraft) -> Section | None:
    made = draft.facts.forecast
    blocks: list[Block] = []
    if made is not None and made.value["rows"]:
        blocks += [Paragraph(_opening(draft, made)), _expected(draft, made), *draft.galleries("forecast")]
    blocks += [*_by_step(draft), *draft.galleries("error_by_step")]
    return Section("forecast", "The forecast", blocks) if blocks else None


def _opening(draft: ReportDraft, made: RecordedFact) -> Text:
    several = made.value["series"] > 1
    first, last = (draft.render(made.at(name), "moment") for name in ("first", "last"))
    text: Text = (
        *(("For ", *first) if made.value["first"] == made.value["last"] else ("From ", *first, " to ", *last)),
        ", after the last row",
        *((" of each of ", *draft.render(made.at("series"), "integer"), " series") if several else ()),
        ": ",
        *draft.render(made.at("rows"), "integer"),
        " forecast" if made.value["rows"] == 1 else " forecasts",
        ", also in ",
        Name("forecasts.csv"),
        ".",
    )
    level = made.at("level")
    if level is None:
        return text
    return (*text, " Intervals are meant to hold for ", draft.read(level, "whole_percent"), " of the rows.")


def _expected(draft: ReportDraft, made: RecordedFact) -> ReportTable:
    found = items_at(made, "forecasts")
    time, group = made.text("time_column"), made.text("group_column")
    columns = _columns(draft, found)
    rows: list[list[Text]] = []
    for each in found:
        row: list[Text] = [draft.render(each.at(group))] if group else []
        row += [draft.render(each.at(time), "moment"), draft.render(each.at("rows_ahead"), "integer")]
        rows.append([*row, *(_cell(draft, each.at(*path), style) for _, path, style in columns)])
    before: list[Text] = [("Series",)] if group else []
    heads = [*before, ("When",), ("Rows ahead",), *(head for head, _, _ in columns)]
    first = 2 if group else 1
    return ReportTable((), rows, "What is expected", numeric=tuple(range(first, len(heads))), heads=heads)


def _columns(draft: ReportDraft, found: Sequence[RecordedFact]) -> list[tuple[Text, tuple[str, ...], str]]:
    """Head, place and style of what is told of each moment: of two classes how likely the positive one is."""
    positive = draft.facts.problem.at("positive_class") if draft.facts.problem else None
    if found and positive is not None and "probabilities" in found[0].value:
        return [(("Probability of ", draft.read(positive)), ("probabilities", str(positive.value)), "percent")]
    bounds = [((head,), (key,), "quantity") for head, key in _BOUNDS if found and key in found[0].value]
    return [(("Forecast",), ("prediction",), "quantity"), *bounds]


def _cell(draft: ReportDraft, said: RecordedFact | None, style: str) -> Text:
    if said is None:
        return EMPTY_CELL
    return draft.render(said, style if isinstance(said.value, int | float) else "text")


def _by_step(draft: ReportDraft) -> list[Block]:
    """How good each step is, beside what needs no model, and how often the intervals held."""
    found = items_at(draft.facts.final, "by_step")
    if not found:
        return []
    style = draft.metric.style
    others = list(found[0].value["references"]) or ["baseline"]
    bounded = found[0].at("coverage") is not None
    heads: list[Text] = [("Rows ahead",), ("Forecasts",), (draft.metric_name,)]
    heads += [(Name(name, code=False),) for name in others]
    heads += [("Within the interval",)] if bounded else []
    rows: list[list[Text]] = []
    for each in found:
        row = [draft.render(each.at("rows_ahead"), "integer"), draft.render(each.at("rows"), "integer")]
        row += [draft.score(each.at("score"), style)]
        row += [draft.score(each.at("references", name) or each.at(name), style) for name in others]
        row += [draft.render(each.at("coverage", "coverage", "value"), "percent")] if bounded else []
        rows.append(row)
    title = "Each step by itself, on the hold-out"
    return [ReportTable((), rows, title, numeric=tuple(range(len(heads))), heads=heads)]

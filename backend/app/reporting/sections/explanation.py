"""What the model relies on, how its answers move, and where it errs most."""

from app.reporting.document import Block, Paragraph, Section, Table, Text
from app.reporting.evidence import Fact, parts
from app.reporting.sections.context import Draft, listed

_MAX_COLUMNS = 12
_MAX_NAMED = 4
_NOTHING_TOLD = "No single column stands out from noise on these rows: with more of them some may. "
_CLEARLY = 0.5
"""Rank correlation from which a feature is said to raise or lower the answer."""


def reliance(draft: Draft) -> Section | None:
    importance = draft.found.importance
    ranked = parts(importance, "importances")
    if importance is None or not ranked:
        return None
    blocks: list[Block] = [
        Paragraph(_opening(draft, importance, ranked)),
        *draft.pictures("importances"),
        _table(draft, ranked),
        *_left_out(draft, importance),
        *_dependence(draft),
        *_contributions(draft),
    ]
    return Section("importances", "What the model relies on", blocks)


def errors(draft: Draft) -> Section | None:
    segments = draft.found.explanation.at("segments") if draft.found.explanation else None
    if segments is None:
        return None
    tested = draft.shown(segments.at("tested"), "integer")
    worst = parts(segments, "worst")
    if not worst:
        text = (
            "No part of the rows stands out: of ",
            *tested,
            " that were looked at (values and ranges of single ",
        )
        return Section(
            "errors", "Where it errs", [Paragraph((*text, "columns), none is worse beyond chance."))]
        )
    blocks: list[Block] = [
        Paragraph(_worst(draft, segments, worst[0], tested)),
        *draft.pictures("segments"),
        _segments(draft, segments, worst),
    ]
    return Section("errors", "Where it errs", blocks)


def _opening(draft: Draft, importance: Fact, ranked: list[Fact]) -> Text:
    helping = [each for each in ranked if each.value.get("helps")]
    names = listed([draft.shown(each.at("column")) for each in helping[:_MAX_NAMED]])
    led: Text = ("Most on ", *names, ". ") if helping else (_NOTHING_TOLD,)
    repeats = draft.shown(importance.at("repeats"), "integer")
    rows = draft.shown(importance.at("rows"), "integer")
    where = "of the hold-out" if draft.found.explanation else "that did not teach it"
    return (
        *led,
        "Each column was shuffled ",
        *repeats,
        " times among ",
        *rows,
        f" rows {where}; its importance is how much worse ",
        draft.metric_name,
        " gets. Columns that say the same share their importance, and importance is not cause.",
    )


def _table(draft: Draft, ranked: list[Fact]) -> Table:
    style = draft.metric.style
    rows = [
        [
            draft.shown(each.at("column")),
            draft.shown(each.at("mean"), style),
            draft.shown(each.at("std"), style),
            ("yes" if each.value.get("helps") else "cannot be told from noise",),
        ]
        for each in ranked[:_MAX_COLUMNS]
    ]
    caption = (
        "Spread: one standard error; helps: beyond what the best of so many useless columns gets by chance"
    )
    return Table(("Column", "Importance", "Spread", "Helps"), rows, caption, numeric=(1, 2))


def _left_out(draft: Draft, importance: Fact) -> list[Block]:
    return [Paragraph((draft.read(note),)) for note in parts(importance, "notes")]


def _dependence(draft: Draft) -> list[Block]:
    pictures = draft.pictures("dependence")
    if not pictures:
        return []
    text = (
        "How the prediction moves when one column is set to a value in all rows and the others stay as they "
        "are. The line is the mean; the band holds most rows, so where it is wide other columns decide too; "
        "bars show where rows are, and where there are none the line is a guess."
    )
    return [Paragraph((text,)), *pictures]


def _contributions(draft: Draft) -> list[Block]:
    found = draft.found.explanation.at("contributions") if draft.found.explanation else None
    features = parts(found, "features")
    if found is None or not features:
        return []
    ways = [
        (*draft.shown(each.at("feature")), " (more of it ", word, ")")
        for each in features[:_MAX_NAMED]
        if (word := _way(each))
    ]
    named = (
        listed(ways) if ways else listed([draft.shown(each.at("feature")) for each in features[:_MAX_NAMED]])
    )
    text = (
        "SHAP values take single answers of the tree model ",
        *draft.shown(found.at("member")),
        " apart into what each of its features adds, on ",
        *draft.shown(found.at("rows"), "integer"),
        " rows. The features that add most: ",
        *named,
        ".",
    )
    return [Paragraph(text), *draft.pictures("contributions")]


def _way(feature: Fact) -> str:
    direction = feature.at("direction")
    if direction is None or abs(direction.value) < _CLEARLY:
        return ""
    return "raises the answer" if direction.value > 0 else "lowers the answer"


def _worst(draft: Draft, segments: Fact, worst: Fact, tested: Text) -> Text:
    style = _style(draft, segments)
    before, after = (
        ("it gets ", " of the rows wrong") if style == "percent" else ("it is off by ", " on average")
    )
    return (
        "Worst where ",
        *draft.shown(worst.at("column")),
        " ",
        *draft.shown(worst.at("text")),
        f": there {before}",
        *draft.shown(worst.at("error"), style),
        f"{after}, elsewhere ",
        *draft.shown(worst.at("elsewhere"), style),
        ". Of ",
        *tested,
        " parts of the rows, these are worse than the rest by more than chance explains among so many:",
    )


def segments(draft: Draft) -> list[Block]:
    """The table of segments that are worse than the rest; nothing where there are none."""
    found = draft.found.explanation.at("segments") if draft.found.explanation else None
    worst = parts(found, "worst")
    return [_segments(draft, found, worst)] if found and worst else []


def _segments(draft: Draft, segments: Fact, worst: list[Fact]) -> Table:
    style = _style(draft, segments)
    rows = [
        [
            (*draft.shown(each.at("column")), " ", *draft.shown(each.at("text"))),
            draft.shown(each.at("rows"), "integer"),
            draft.shown(each.at("error"), style),
            draft.interval(each, style),
            draft.shown(each.at("elsewhere"), style),
        ]
        for each in worst
    ]
    measure = "Predicted wrong" if style == "percent" else "Mean absolute error"
    return Table(("Where", "Rows", measure, "Interval", "Elsewhere"), rows, numeric=(1, 2, 3, 4))


def _style(draft: Draft, segments: Fact) -> str:
    return "percent" if segments.text("measure") == "wrong" else "quantity"

"""Drivers in words: what the target goes with, and by how much, with intervals. Never what causes it."""

import re
from collections.abc import Sequence

from app.reporting.document.elements import ReportTable
from app.reporting.document.inline_elements import Text
from app.reporting.draft import EMPTY_CELL, ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at

_MAX_LEADERS = 4
"""Columns named in the first sentence, so that it stays readable."""
_FIRST_YEAR, _LAST_YEAR = 1000, 2200
"""Whole numbers without a unit that may be years, and are written without thousands separators."""
_GROUPS = {
    "correlated": "they rise and fall together, so that their parts cannot be told apart",
    "codes": "codes of one category",
    "date": "parts of one date",
    "lags": "earlier values of one series",
}


def leading_sentence(draft: ReportDraft) -> Text:
    """State what the target goes with most, as far as the held-out rows tell the columns apart.

    Empty if no drivers were measured, and for a forecast by its times alone, which nobody takes for a driver.
    """
    drivers = draft.facts.drivers
    if drivers is None or is_by_times_alone(draft):
        return ()
    target = _target(draft)
    if not drivers.content.leaders and drivers.content.drivers:
        names = join_texts([_columns(draft, driver) for driver in items_at(drivers, "drivers")[:_MAX_LEADERS]])
        return (*target, " goes with ", *names, "; these rows do not tell what matters most.")
    if not drivers.content.leaders:
        rows = draft.render(drivers.at("rows"), "integer")
        if drivers.content.rows < drivers.content.holdout_rows or not drivers.content.has_enough_rows:
            # The rest was left out, mostly for lack of time: it may show what these rows do not.
            total = draft.render(drivers.at("holdout_rows"), "integer")
            opening: Text = ("What ", *target, " goes with was not tested with enough rows: on ", *rows)
            return (*opening, " of the ", *total, " that were not used in training.")
        tested = draft.render(drivers.at("tested"), "integer")
        nothing: Text = ("none of ", *tested, " columns matters by more than chance explains")
        if (count := drivers.at("tested")) and count.value == 1:
            nothing = ("the only column does not matter by more than chance explains",)
        where = (" goes with: on ", *rows, " rows that were not used in training, ")
        return ("These data do not show what ", *target, *where, *nothing, ".")
    leaders = items_at(drivers, "drivers")[: drivers.content.leaders]
    names = join_texts([_columns(draft, driver) for driver in leaders[:_MAX_LEADERS]])
    if drivers.content.is_first_clear:
        return (*target, " goes most with ", *names, ".")
    # One column, but not clearly first: others may matter as much without being significant.
    if len(leaders) == 1:
        return (*target, " goes with ", *names, "; these rows do not tell if it matters most.")
    return (*target, " goes most with ", *names, "; these rows do not tell which of them matters more.")


def is_by_times_alone(draft: ReportDraft) -> bool:
    """Tell if a forecast has no column but its times, of which the goal does not ask what goes with them."""
    drivers = draft.facts.drivers
    is_only_column = drivers is not None and drivers.value.get("tested") == 1
    return is_only_column and draft.facts.forecast is not None and not draft.facts.wants_drivers


def effect_sentences(draft: ReportDraft) -> list[Text]:
    """Return a sentence for each effect, drivers in the order of their importance."""
    return [sentence for driver in _drivers(draft) for sentence in sentences_of(draft, driver)]


def sentences_of(draft: ReportDraft, driver: RecordedFact) -> list[Text]:
    """Return the effects of one driver in words; none for a text, whose values are not compared."""
    effects = items_at(driver, "effects")
    if not effects:
        return []
    # Effects beyond chance alone are stated with their size; of others only that nothing was seen.
    clear_effects = [effect for effect in effects if (clear := effect.at("is_clear")) and clear.value]
    if clear_effects:
        return [
            (*_change(draft, driver, effect), *_consequence(draft, effect), ".") for effect in clear_effects
        ]
    names = _columns(draft, driver, with_reason=False)
    lines = [effect for effect in effects if effect.at("step")]
    if lines:
        span = _span(draft, lines[0])
        return [
            ("Between ", *span, " of ", *names, " these rows show no rise or fall of ", *_target(draft), ".")
        ]
    return [("For ", *names, " these rows show no difference between two values.")]


def driver_table(draft: ReportDraft) -> ReportTable | None:
    """Return the drivers with the loss of the metric when they are shuffled."""
    drivers = _drivers(draft)
    style = draft.metric.style
    rows = [
        [
            _columns(draft, driver, with_reason=False),
            draft.render(driver.at("rank"), "integer"),
            draft.render(driver.at("importance"), style),
            draft.interval(driver, style) or EMPTY_CELL,
        ]
        for driver in drivers
    ]
    caption = (
        "Importance: by how much the error grows when the values are shuffled among rows that were not used in "
        "training; columns that these rows do not tell apart share the first place"
    )
    # An interval may be unknown where bootstrap samples lack a class.
    if any((driver.value.get("low") or 0) <= 0 for driver in drivers):
        caption += ". Where the interval reaches zero, the column is listed for its effect"
    return (
        ReportTable(("Column", "Place", "Importance", "Interval"), rows, caption, (1, 2, 3)) if rows else None
    )


def _drivers(draft: ReportDraft) -> Sequence[RecordedFact]:
    return items_at(draft.facts.drivers, "drivers")


def _target(draft: ReportDraft) -> Text:
    target = draft.facts.problem.at("target") if draft.facts.problem else None
    return (draft.read(target),) if target else ("the target",)


def _columns(draft: ReportDraft, driver: RecordedFact, with_reason: bool = True) -> Text:
    """Name the columns of a driver, and why several are one."""
    columns = items_at(driver, "columns")
    target = draft.facts.problem.text("target") if draft.facts.problem else ""
    if target and [column.text() for column in columns] == [target]:
        return ("its own earlier values",)  # the only way in which a target is an input of its model
    rendered = [draft.render(column) for column in columns]
    names, group = join_texts(rendered), driver.text("grouped_by")
    if with_reason and group == "words":
        return (*names, " (the words of ", *rendered[-1], " tell ", *join_texts(rendered[:-1]), ")")
    reason = _GROUPS.get(group, "") if with_reason else ""
    return (*names, f" ({reason})") if reason else names


def _change(draft: ReportDraft, driver: RecordedFact, effect: RecordedFact) -> Text:
    """State the step of a number, or the two values that are compared."""
    step = effect.at("step")
    along = join_texts([draft.render(column) for column in items_at(effect, "with")])
    pieces: Text = (", and ", *along, " along with it,") if along else ()
    column = draft.render(effect.at("column"))
    if step is not None:
        span = _span(draft, effect)
        unit = draft.unit(effect.text("column"))
        return (
            draft.read(step, "rounded"),
            *unit,
            " more ",
            *column,
            *pieces,
            " (between ",
            *span,
            ") goes with ",
        )
    names = _columns(draft, driver, with_reason=False) if driver.text("grouped_by") == "codes" else column
    after, before = (
        draft.render(effect.at(name), _value_style(draft, effect, name)) for name in ("after", "before")
    )
    return (*names, " ", *after, " instead of ", *before, *pieces, " goes with ")


def _span(draft: ReportDraft, effect: RecordedFact) -> Text:
    before, after = (
        draft.render(effect.at(name), _value_style(draft, effect, name)) for name in ("before", "after")
    )
    return (*before, " and ", *after)


def _value_style(draft: ReportDraft, effect: RecordedFact, name: str) -> str:
    value = effect.at(name)
    if value is None or isinstance(value.value, str | bool):
        return "moment" if value is not None and _is_moment(value.value) else "text"
    has_unit = bool(draft.unit(effect.text("column")))
    return "plain_integer" if not has_unit and _may_be_years(effect) else "quantity"


def _may_be_years(effect: RecordedFact) -> bool:
    """Tell if both values of an effect may be years: one alone may be any number of that size."""
    values = [bound.value for bound in (effect.at("before"), effect.at("after")) if bound is not None]
    return all(_FIRST_YEAR <= value <= _LAST_YEAR and value == int(value) for value in values)


def _is_moment(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{5,20}", value) is not None


def _consequence(draft: ReportDraft, effect: RecordedFact) -> Text:
    """State the difference of the target with its interval, in units of the target or percentage points."""
    value = effect.at("value")
    is_rise = value is not None and value.value > 0
    of_class = effect.at("of_class")
    style = "rounded" if of_class is None else "points"
    size = draft.render(effect.at("size"), style)
    low, high = (draft.render(effect.at(name), style) for name in ("size_low", "size_high"))
    bounds: Text = (" (", *low, " to ", *high, ")")
    if of_class is None:
        return (*size, *draft.target_unit, *bounds, " more " if is_rise else " less ", *_target(draft))
    name: Text = (*_target(draft), " = ", draft.read(of_class))
    direction = " higher" if is_rise else " lower"
    return ("a probability of ", *name, " that is ", *size, *bounds, " percentage points", direction)

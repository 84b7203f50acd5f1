"""Frames of correlations: of two numbers, of all pairs, and the pair that correlates most."""

from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column
from app.agents.questions.frames.group_figures import plan_figures
from app.agents.questions.items import QuestionItem
from app.agents.questions.ordering import Order
from app.agents.questions.question_reading import NotUnderstood, QuestionReading, is_measurable, make_value
from app.agents.questions.rows_plan import Figure, PlanDraft, start_plan
from app.agents.questions.tables.scope import Reference, stored_type
from app.plans import build
from app.plans.plan import MAX_CORRELATED_COLUMNS, CorrelateStep, Plan, PlanSource, UnionStep

_RELATED = (
    "correlation|correlations|correlate|correlates|correlated|related|relationship|relation|"
    "association|associated|link|linked|connection|connected|dependence"
)


def correlation(reading: QuestionReading) -> Plan | None:
    """`correlation between age and fare`, `correlation matrix`, `how are a and b related`."""
    match = reading.text.take(f"{_RELATED} matrix|table|heatmap?", "figure")
    if match is None:
        return None
    reading.text.take_any(("coefficient", "pearson"), "figure")
    if sides := _sides(reading):
        first, second = (make_value(reference) for reference in sides)
        return plan_figures(reading, [Figure("correlation", first, other=second)], Order())
    items: list[QuestionItem] = []
    while pair := reading.text.find("C=column"):
        item = reading.text.required(pair, "column")
        reading.text.use(pair.places, "figure")
        # A noun that is no number ends the list: it restricts or groups the rows.
        if any(is_measurable(m.column) for m in item.columns):
            items.append(item)
        else:
            reading.text.use(pair.places, "")
            break
    references = list(dict.fromkeys(reading.column(item, True) for item in items))
    if len(references) == 2 or (len(references) == 1 and reading.text.has("with")):
        if len(references) == 1:
            raise NotUnderstood("A correlation is of two columns, and it does not name two.")
        first, second = (make_value(reference) for reference in references)
        return plan_figures(reading, [Figure("correlation", first, other=second)], Order())
    if len(references) == 1:
        raise NotUnderstood("A correlation is of two columns, and it does not name two.")
    draft = start_plan(reading, [make_value(reference) for reference in references])
    table = reading.scope.table(draft.source.base)
    names = [draft.name_of(make_value(r)) for r in references] or [c.name for c in _measures(table.columns)]
    if not 2 <= len(names) <= MAX_CORRELATED_COLUMNS:
        raise NotUnderstood(
            f"A table of correlations has 2 to {MAX_CORRELATED_COLUMNS} numbers; name those that are meant."
        )
    return _matrix(draft, names)


_LINKS = frozenset({"and", "with", "to", "vs", "versus", "on"})
"""Words between the two things that a correlation is of."""
MIN_LEAD = 0.15
"""Lead of the column that one side of a correlation means before the next, in sums of scores."""


def _sides(reading: QuestionReading) -> tuple[Reference, Reference] | None:
    """The numbers on both sides of the only word that links two: `caffeine correlated with hours of sleep`."""
    items = reading.text.items
    numbers = {
        place
        for place, item in enumerate(items)
        if not item.role and any(is_measurable(match.column) for match in item.columns)
    }
    links = [
        place
        for place, item in enumerate(items)
        if item.text in _LINKS
        and any(number < place for number in numbers)
        and any(number > place for number in numbers)
    ]
    # Two numbers need no sides, and with several links or a comma it is not told what belongs to which side.
    if len(links) != 1 or len(numbers) <= 2 or any(items[place].text == "," for place in range(len(items))):
        return None
    halves = [[p for p in numbers if p < links[0]], [p for p in numbers if p > links[0]]]
    references = [_meant_by([items[place] for place in half]) for half in halves]
    if None in references or references[0] == references[1]:
        return None
    reading.text.use(sorted(numbers), "figure")
    for reference in references:
        if reference is not None:
            reading.assume(f"`{reference.column.name}` is correlated.")
    return references[0], references[1]  # type: ignore[return-value]


def _meant_by(side: Sequence[QuestionItem]) -> Reference | None:
    """The number that the words of one side mean together; None where two are as likely."""
    scores: dict[Reference, float] = {}
    for item in side:
        for match in item.columns:
            if is_measurable(match.column):
                reference = Reference(match.table, match.column)
                scores[reference] = scores.get(reference, 0.0) + match.score
    ranked = sorted(scores, key=lambda reference: -scores[reference])
    if len(ranked) > 1 and scores[ranked[0]] - scores[ranked[1]] < MIN_LEAD:
        return None
    return ranked[0] if ranked else None


def _measures(columns: Sequence[Column]) -> list[Column]:
    return [c for c in columns if is_measurable(c) and stored_type(c) in ("integer", "number")]


def _matrix(draft: PlanDraft, names: list[str]) -> Plan:
    """Correlations of all pairs, as a matrix with a row for each column."""
    plans = []
    base = draft.plan()
    # A select of one row for each column, joined by UNION: SQL has no function of all pairs.
    for name in names:
        figures = [build.aggregation(other, "correlation", name, other=other) for other in names]
        steps = [
            *base.steps,
            build.group([], figures),
            build.derive("column", build.literal(name)),
            build.select(["column", *names]),
        ]
        plans.append(Plan(source=base.source, steps=steps))
    first, *others = plans
    unions = [UnionStep(kind="union", source=PlanSource(kind="plan", plan=plan)) for plan in others]
    return Plan(source=first.source, steps=[*first.steps, *unions])


_STRENGTH = "most|strongest|closely|strongly|highest|best|closest|are|go"


def correlations_of_all(reading: QuestionReading) -> Plan | None:
    """`which two columns correlate most`."""
    if not reading.text.has(f"{_RELATED}|together"):
        return None
    match = reading.text.find(
        f"which|what N=count C|columns|variables|measures|numbers {_STRENGTH}? W? {_STRENGTH}? {_STRENGTH}?"
        f" {_RELATED}|together"
    )
    if match is None:
        return None
    reading.text.use(match.places, "figure")
    while reading.text.take_any((_STRENGTH, "with each? other"), "figure"):
        pass
    draft = start_plan(reading)
    names = [c.name for c in _measures(reading.scope.stored_columns(draft.source.base))][
        :MAX_CORRELATED_COLUMNS
    ]
    draft.steps.append(CorrelateStep(kind="correlate", columns=names))
    # The strongest correlation may be negative.
    draft.steps.append(build.derive("strength", build.call("abs", build.column("correlation"))))
    draft.steps += [
        build.sort(("strength", True)),
        build.limit(1),
        build.select(["first", "second", "correlation", "rows"]),
    ]
    return draft.plan()

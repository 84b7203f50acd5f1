"""Rankings: the rows or groups with the most or the least of a measure, and extreme values."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.agents.questions.composition.cues import ADVERBS
from app.agents.questions.composition.persons import person_column
from app.agents.questions.composition.plans.counting import group_of, plan_two_levels
from app.agents.questions.composition.plans.measure_figures import (
    IMPLIED_COST,
    TOTAL_NOUNS,
    UNUSED_COST,
    counted_figure,
    figures_by_name,
    figures_of,
    is_added_up,
    is_countable,
    names_function,
)
from app.agents.questions.composition.plans.ranked_things import (
    ASKED_GROUP_COST,
    VAGUE_GROUP_COST,
    divide,
    is_asked_group,
    is_vague,
    ranks_rows,
    repeated_name,
)
from app.agents.questions.composition.ranking_order import (
    LASTING,
    OF_MEANS,
    count_ranked,
    in_days,
    is_ranked_down,
    is_time,
    noun_behind,
)
from app.agents.questions.composition.sketch import Mention, Ranking, Sketch
from app.agents.questions.composition.steps.attribute_steps import is_attribute
from app.agents.questions.composition.steps.noun_steps import fits_adjective
from app.agents.questions.conditions.date_columns import date_reference, find_birth
from app.agents.questions.conditions.number_conditions import find_asked, find_measure
from app.agents.questions.figures import default_function
from app.agents.questions.frames.group_figures import plan_figures, values_of
from app.agents.questions.frames.rankings import rank_groups, rank_rows
from app.agents.questions.grammar_words import ADJECTIVES, LOW, SIZES
from app.agents.questions.ordering import Order
from app.agents.questions.question_reading import Condition, QuestionReading, Value, make_value
from app.agents.questions.rows_plan import Figure, start_plan
from app.plans import build
from app.plans.plan import AggregateFunction, Plan, WindowFunction

BARE_MOST_COST = 0.15
"""Cost of a number of rows for `most` without a noun: `which bike was used the most`."""
_AMOUNTS = frozenset({"most", "least", "fewest", "highest", "lowest", "best", "worst", "top"})
"""Superlatives of persons' totals; others rank single rows: `who ran the farthest`."""
_ASKS_FOR_ROWS = frozenset({"who", "which", "when", "where", "whose"})


def plan_ranking(sketch: Sketch, reading: QuestionReading) -> Iterator[tuple[Plan, float]]:
    """`the 5 heaviest animals`, `which city has the highest mean price`, `most common species`."""
    pending = sketch.pending
    if sketch.flags & {"share", "rate"} and pending.superlative and sketch.ranking is None:
        word, count = pending.superlative, pending.superlative_count
        yield from _by_share(sketch, reading, Ranking(word, -1, None, count, pending.ordinal))
        return
    ranking = sketch.ranking or _ranking_of_adjective(sketch, reading)
    if ranking is None or (sketch.counts and not sketch.rows):
        return
    if sketch.flags & {"share", "rate"}:
        yield from _by_share(sketch, reading, ranking)
        return
    cost = UNUSED_COST * (len(sketch.measures) if ranking.measure is not None else 0)
    if ranking.measure is None and len(sketch.measures) == 1 and "frequency" not in sketch.flags:
        [measure] = sketch.measures
        nouns = [mention for mention in (*sketch.heads, *sketch.rows) if mention.place > measure.place]
        if nouns and not fits_adjective(ranking.word, measure):
            yield from _by_adjective(sketch, reading, ranking, nouns[0])
            return
        ranking = replace(ranking, measure=sketch.measures[0])
    if ranking.measure is None and "frequency" not in sketch.flags:
        # Only `most` and `least` count rows without a noun for what is counted: the `highest` needs a measure.
        if ranking.word not in ("most", "least"):
            return
        cost += BARE_MOST_COST
    owner = _owner(sketch, ranking)
    if owner is None and sketch.interrogative == "who" and ranking.word in _AMOUNTS:
        tables = [ranking.measure.table] if ranking.measure else [t.name for t in reading.scope.tables]
        owner = person_column(reading, tables[0], is_linked=True)
    if ranking.measure is None or ranking.measure.is_rows:
        yield from _by_count(sketch, reading, ranking, owner, cost)
        return
    yield from _by_measure(sketch, reading, ranking, ranking.measure, owner, cost)


def _by_share(sketch: Sketch, reading: QuestionReading, ranking: Ranking) -> Iterator[tuple[Plan, float]]:
    """`which class has the highest survival rate`: groups ranked by the share of rows that meet a condition."""
    conditions = [c for c in reading.conditions if not c.is_date]
    owner = _owner(sketch, ranking)
    key = owner.value if owner else None
    measures = [*sketch.measures, *([ranking.measure] if ranking.measure else [])]
    if len(conditions) != 1 or len(measures) > 1 or key is None or sketch.displayed:
        return
    condition = conditions[0]
    reading.conditions.remove(condition)
    if measures:
        value = measures[0].value
        if value is None or measures[0].functions or not is_countable(value):
            return
        part = Figure("sum", value, where=condition.expression, label=f"{value.label} of these")
        figure = Figure("sum", label="share", parts=(part, Figure("sum", value)))
        yield _ranked_groups(reading, key, figure, ranking.word not in LOW, ranking, owner), IMPLIED_COST
        return
    column = condition.column
    # A row of which it is not known whether it meets the condition counts neither way.
    if column is not None and column.column.missing > 0:
        reading.conditions.append(Condition(build.is_present(column.expression), column))
    condition_value = Value(condition.expression, "condition met", "boolean", column)
    figure = Figure("share_true", condition_value, label="share")
    yield _ranked_groups(reading, key, figure, ranking.word not in LOW, ranking, owner), IMPLIED_COST


def _by_adjective(
    sketch: Sketch, reading: QuestionReading, ranking: Ranking, owner: Mention
) -> Iterator[tuple[Plan, float]]:
    """`the weight of the fastest car`: things ranked by what the adjective means, with another measure."""
    [detail] = sketch.measures
    if detail.functions or detail.divisor or sketch.pending.functions or detail.value is None:
        return
    meant = _ranking_of_adjective(replace(sketch, measures=()), reading)
    measure = meant.measure if meant else None
    if measure is None or measure.value is None or not ranks_rows(reading, owner, measure):
        return
    descending = is_ranked_down(ranking, measure.value)
    details = [detail.value, *(m.value for m in sketch.displayed if m.value)]
    ranking = replace(ranking, measure=measure)
    yield _ranked_rows(reading, measure.value, descending, ranking, owner, details), 0.0


def _ranking_of_adjective(sketch: Sketch, reading: QuestionReading) -> Ranking | None:
    """The superlative of an adjective that means a measure: `oldest`, `cheapest`."""
    pending = sketch.pending
    word = pending.superlative
    if not word:
        return None
    ranking = Ranking(word, -1, None, pending.superlative_count, pending.ordinal)
    if "frequency" in sketch.flags or sketch.measures:
        return ranking
    if word in ("most", "least"):
        return ranking if sketch.heads or sketch.displayed else None
    names = ADJECTIVES.get(word, "").split()
    if word in SIZES and len({find_measure(reading.copy(), [name], word) for name in names} - {None}) > 1:
        return None  # the biggest town by its area or its population
    if names == ["date"]:
        reference = date_reference(reading)
    else:
        reference = find_measure(reading, names, word) if names else find_asked(reading, word)
    if reference is None and names == ["age"]:
        reference = find_birth(reading)
    if reference is None:
        return None
    measure = Mention(-1, reading.text.items[0], make_value(reference), reference.table)
    return replace(ranking, measure=replace(measure, functions=pending.functions))


def _owner(sketch: Sketch, ranking: Ranking) -> Mention | None:
    """The noun whose things are ranked."""
    own_place = ranking.measure.place if ranking.measure else -1
    nouns = [m for m in (*sketch.heads, *sketch.rows) if m.place != own_place]
    owner = min(nouns, key=lambda mention: mention.place, default=None)
    subject = sketch.displayed[0] if sketch.displayed and owner is None else None
    if subject is not None and (subject.place < own_place or own_place < 0):
        return in_days(subject)
    return owner


def _unused(sketch: Sketch, owner: Mention | None) -> int:
    """The number of nouns that a ranking neither ranks nor shows."""
    return sum(owner is None or mention.place != owner.place for mention in sketch.displayed)


def _by_count(
    sketch: Sketch, reading: QuestionReading, ranking: Ranking, owner: Mention | None, cost: float
) -> Iterator[tuple[Plan, float]]:
    """Groups ranked by their number of rows."""
    subject = ranking.measure
    if owner is None and sketch.displayed and not reading.keys:
        owner = sketch.displayed[0]
    if subject is None and owner is not None and owner.is_rows and len(sketch.heads) + len(sketch.rows) > 1:
        subject = owner
        owner = next(m for m in (*sketch.heads, *sketch.rows) if m is not subject)
    if owner is None:
        return
    table = subject.table if subject else (owner.table if owner.value else "")
    key = owner.value or group_of(reading, owner, table or owner.table)
    if key is None:
        return
    rows = subject or next((m for m in sketch.rows if m is not owner), None)
    figure, base = counted_figure(reading, rows) if rows else (Figure("count", label="rows"), None)
    cost += UNUSED_COST * _unused(sketch, owner)
    yield _ranked_groups(reading, key, figure, ranking.word not in LOW, ranking, owner, base), cost


def _by_measure(
    sketch: Sketch,
    reading: QuestionReading,
    ranking: Ranking,
    measure: Mention,
    owner: Mention | None,
    cost: float,
) -> Iterator[tuple[Plan, float]]:
    value = measure.value
    if value is None:
        return
    descending = is_ranked_down(ranking, value)
    has_function = names_function(sketch, measure)
    if measure.divisor is not None:
        yield from _by_ratio(sketch, reading, ranking, measure, owner, descending, cost)
        return
    if owner and not has_function and _asks_for_extreme(sketch, ranking, measure, owner):
        yield plan_figures(reading, [Figure("max" if descending else "min", value)], Order()), cost
        return
    repeated = repeated_name(reading, owner, measure.table) if owner and owner.is_rows else None
    is_detail = owner is not None and is_attribute(owner, reading.text.items)
    if owner and not has_function and repeated is None and (is_detail or ranks_rows(reading, owner, measure)):
        is_adverb = ranking.place < 0
        cost += ASKED_GROUP_COST * (is_adverb and any(is_asked_group(m, reading) for m in sketch.displayed))
        nouns = [m for m in (*sketch.heads, *sketch.displayed) if is_detail or m.place != owner.place]
        details = [m.value for m in nouns if m.value]
        yield _ranked_rows(reading, value, descending, ranking, owner, details), cost
        return
    cost += UNUSED_COST * _unused(sketch, owner) if owner is not None or has_function else 0.0
    if owner is None:
        yield from _without_owner(sketch, reading, ranking, measure, descending, cost)
        return
    key = make_value(repeated) if repeated else owner.value or group_of(reading, owner, measure.table)
    if key is None:
        return
    figure = _figure(sketch, measure, value)
    if not has_function:
        word = "total" if figure.function == "sum" else figure.function
        # `who paid the most`: of persons the total is meant
        is_natural = figure.function == "mean" and ranking.place < 0 and ranking.word in OF_MEANS
        # Revenue is a total by its meaning, whatever stores its parts.
        is_amount = sketch.interrogative == "who" or bool({value.label, measure.item.word} & TOTAL_NOUNS)
        is_natural = is_natural or (figure.function == "sum" and is_amount)
        cost += VAGUE_GROUP_COST * is_vague(owner)
        note = reading.note if is_natural else reading.assume
        note(f"The {word} of `{value.label}` is taken for each `{key.label}`.")
        cost += IMPLIED_COST
    yield _ranked_groups(reading, key, figure, descending, ranking, owner), cost


def _by_ratio(
    sketch: Sketch,
    reading: QuestionReading,
    ranking: Ranking,
    measure: Mention,
    owner: Mention | None,
    descending: bool,
    cost: float,
) -> Iterator[tuple[Plan, float]]:
    """Rows by their own ratio, and groups by that of their totals: `the highest revenue per click`."""
    divisor = measure.divisor.value if measure.divisor else None
    if owner is None or measure.value is None:
        return
    cost += UNUSED_COST * _unused(sketch, owner)
    if divisor is not None and ranks_rows(reading, owner, measure):
        value = divide(measure.value, divisor)
        yield _ranked_rows(reading, value, descending, ranking, owner), cost
    elif key := owner.value or group_of(reading, owner, measure.table):
        yield (
            _ranked_groups(reading, key, _figure(sketch, measure, measure.value), descending, ranking, owner),
            cost,
        )


def _without_owner(
    sketch: Sketch,
    reading: QuestionReading,
    ranking: Ranking,
    measure: Mention,
    descending: bool,
    cost: float,
) -> Iterator[tuple[Plan, float]]:
    """A superlative of a measure without the noun that it ranks: a row, a group, or the extreme value."""
    value = measure.value
    if value is None:
        return
    has_function = names_function(sketch, measure)
    details = [m.value for m in sketch.displayed if m.value]
    is_adjective = ranking.word in ADJECTIVES or ranking.word in ("top", "bottom")
    asks_rows = (
        is_adjective
        or sketch.interrogative in _ASKS_FOR_ROWS
        or ranking.count is not None
        or ranking.ordinal > 1
    )
    asks_value = _asks_for_extreme(sketch, ranking, measure, None)
    if has_function and reading.keys:
        key = reading.keys.pop()
        figure = _figure(sketch, measure, value)
        yield _ranked_groups(reading, key, figure, descending, ranking, None), cost + IMPLIED_COST
    elif (asks_rows or details) and not has_function and not asks_value:
        yield _ranked_rows(reading, value, descending, ranking, measure, details), cost
    elif not has_function:
        extreme: AggregateFunction = "max" if descending else "min"
        period = next((key.value for key in sketch.keys if key.item.word in ADVERBS), None)
        if period in reading.keys and period is not None and is_added_up(measure):
            reading.keys.remove(period)  # `highest monthly revenue`
            yield plan_two_levels(reading, Figure("sum", value), period, extreme, None), cost
            return
        yield plan_figures(reading, [Figure(extreme, value)], Order()), cost


def _asks_for_extreme(sketch: Sketch, ranking: Ranking, measure: Mention, owner: Mention | None) -> bool:
    """Tell if the extreme value itself is asked for, and not whose it is: `the age of the oldest passenger`."""
    is_single = ranking.count is None and ranking.ordinal == 1 and ranking.word not in ("top", "bottom")
    is_named = measure.place >= 0 and (owner is None or (owner.is_rows and measure.place < owner.place))
    others = [mention for mention in (*sketch.heads, *sketch.displayed) if mention is not owner]
    is_value = sketch.interrogative not in _ASKS_FOR_ROWS and not sketch.shows
    return is_single and is_named and is_value and not others and ranking.word in ADJECTIVES


def _figure(sketch: Sketch, measure: Mention, value: Value) -> Figure:
    if measure.divisor is not None:
        return figures_of(sketch, measure)[0]
    functions = measure.functions or sketch.pending.functions
    if functions:
        return figures_by_name(functions[0], value)[0]
    if sketch.default_function:
        return Figure(sketch.default_function, value)  # type: ignore[arg-type]
    column = value.reference.column if value.reference else None
    if column is not None and sketch.pending.superlative in LASTING and is_time(column):
        return Figure("mean", value)  # `which ward keeps people longest`
    return Figure(default_function(column, measure.item.word) if column else "sum", value)


def _ranked_rows(
    reading: QuestionReading,
    value: Value,
    descending: bool,
    ranking: Ranking,
    subject: Mention | None,
    details: Sequence[Value] = (),
) -> Plan:
    measure = ranking.measure.item if ranking.measure else None
    names = [subject.value.label] if subject and subject.value else []
    # `which horses are the oldest` asks for those of the highest age, `the oldest horses` for an order.
    is_behind = subject is not None and noun_behind(ranking, reading.text.items) == subject.item
    is_listed = not reading.keys and (ranking.place >= 0 or is_behind)
    count = count_ranked(ranking, measure, subject.item if subject and is_listed else None, names)
    return rank_rows(reading, value, descending, count, ranking.ordinal, details)


def _ranked_groups(
    reading: QuestionReading,
    key: Value,
    figure: Figure,
    descending: bool,
    ranking: Ranking,
    owner: Mention | None,
    base: str | None = None,
) -> Plan:
    """The first groups by a figure, of all rows or within each of other groups."""
    items = reading.text.items
    # Behind `who` stands a verb, whose ending is no plural: `who handles the most requests`.
    is_noun = owner is not None and items[owner.place - 1].text not in ("who", "that")
    subject = owner.item if owner and is_noun else None
    count = count_ranked(ranking, noun_behind(ranking, items), subject, [key.label])
    outer = [*reading.keys]
    if not outer and ranking.ordinal == 1:
        return rank_groups(reading, [key], figure, descending, count, base)
    draft = start_plan(reading, [*outer, key, *values_of([figure])], base)
    draft.present([figure])
    draft.group([*outer, key], [figure])
    within = [draft.name_of(value) for value in outer]
    name = draft.name_of(key)
    # The second largest is the next lower figure, even where two groups share the first place.
    function: WindowFunction = "dense_rank" if ranking.ordinal > 1 else "rank"
    draft.steps.append(build.window("rank", function, within=within, order=[(figure.name, descending)]))
    rank = build.column("rank")
    if ranking.ordinal > 1:
        draft.keep(build.compare("=", rank, build.literal(ranking.ordinal)))
    else:
        draft.keep(build.compare("<=", rank, build.literal(count)))
    draft.steps.append(
        build.sort(*((label, False) for label in within), (figure.name, descending), (name, False))
    )
    draft.select([*within, name, figure.name])
    return draft.plan()

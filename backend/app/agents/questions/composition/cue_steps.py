"""Steps of a sketch over cues: what a word of grammar changes in it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from app.agents.goals.tokenizer import words
from app.agents.questions.composition.cues import ADVERBS, Cue, find_cues
from app.agents.questions.composition.further_facts import asks_further, further_steps
from app.agents.questions.composition.number_bounds import NumberBound, unit_number
from app.agents.questions.composition.sketch import NOTHING, Mention, Ranking, Sketch
from app.agents.questions.grammar_words import MONEY_SIGNS, ORDINALS
from app.agents.questions.grouping import period_value
from app.agents.questions.items import QuestionItem
from app.agents.questions.number_conditions import find_measure
from app.agents.questions.ordering import MAX_ASKED_ROWS
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import Condition, NotUnderstood, QuestionReading
from app.plans import build

Places = list[int]
Effect = Callable[[Sketch, Cue, Places], Sketch | None]
WEAK_CUE_COST = 0.15
"""Cost of a word that is more often no cue than one: a bare `number`, `over` as `per`."""
WEAK_CUES = frozenset(
    {"number", "less", "more", "compare", "compared", "over", "within", "used", "v", "name", "find", "names"}
)
_LONG_ADJECTIVES = {"expensive": ("priciest", "cheapest"), "recent": ("latest", "earliest")}
"""Superlatives of one word for `most expensive` and `least expensive`."""
_COUNTED_SUPERLATIVES = frozenset({"busiest", "calmest", "quietest", "rarest", "scarcest", "commonest"})
"""Superlatives of the number of rows."""


def cue_steps(sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    """Yield the sketches in which the phrase at the sketch's place is a cue."""
    for cue in find_cues(items, sketch.place):
        places = [*range(sketch.place, sketch.place + cue.size)]
        if cue.kind == "period":
            stored = items[sketch.place].values
            is_value = cue.size == 1 and bool(stored) and stored[0].score >= MIN_STORED_SCORE
            for period in _period_steps(sketch, cue, places, reading):
                yield replace(period, cost=period.cost + STORED_PERIOD_COST * is_value)
            continue
        if cue.kind == "sign" and not _bounds_number(items, places[-1] + 1):
            continue
        if cue.kind == "trend":
            yield from _trend_steps(sketch, cue, places, reading)
            continue
        if cue.kind == "zero":
            yield from _free_steps(sketch, cue, places, reading)
            continue
        if cue.kind == "ask" and asks_further(sketch, cue):
            yield from further_steps(sketch, cue, places, reading)
            continue
        if cue.kind == "missing":
            yield from _missing_steps(sketch, places)
            continue
        step = _EFFECTS[cue.kind](sketch, cue, places)
        if step is not None:
            cost = WEAK_CUE_COST if cue.argument in WEAK_CUES else 0.0
            yield replace(step, cost=step.cost + cost)


STORED_PERIOD_COST, MIN_STORED_SCORE = 0.4, 0.9
"""Cost of a period for a word that a column stores, and the score of such a value: `monthly` of `billing`."""
TREND_COST = 0.15
"""Cost of the period of a course in time, which the question does not say."""


def _trend_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """`over time`: the figure of each period, a month unless one is units; a running total has days."""
    if "cumulative" in sketch.flags:
        yield sketch.advance(places)
        return
    units = {"over the years": "year", "over the weeks": "week"}
    try:
        value = period_value(reading, units.get(cue.argument, "month"), PhraseMatch(places))
    except NotUnderstood:
        return
    if value is None:
        return
    mention = Mention(
        places[0], reading.text.items[places[0]], value, value.reference.table if value.reference else ""
    )
    step = sketch.advance(places, TREND_COST, keys=(*sketch.keys, mention), last="key")
    yield step.with_note(f"The course in time is shown by {value.label}.")


_PRICES = ("price", "fare", "cost", "fee", "amount")
"""Names of columns that are zero for what is free."""
_DELAYS = ("delay", "lateness")
_STATES_OF_ZERO: dict[str, tuple[tuple[str, ...], build.ComparisonSign]] = {
    "paid": (_PRICES, ">"),
    **dict.fromkeys(("late", "delayed"), (_DELAYS, ">")),
    "punctual": (_DELAYS, "<="),
}
"""Words that say of a number that it is zero or not, with the names of such numbers: `late` of a `delay`."""
FREE_COST = 0.05
"""Cost of a condition on a price that only `free` or `paid` tells."""


def _free_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """`free` as a price of zero, and `paid` as one above, where some rows have no more than zero."""
    names, sign = _STATES_OF_ZERO.get(cue.argument, (_PRICES, "="))
    reference = find_measure(reading.copy(), names, cue.argument)
    low = reference.column.low if reference else None
    if reference is None or not isinstance(low, int | float) or sketch.pending.is_negated:
        return
    if low > 0 or (low < 0 and names is _PRICES):
        return
    expression = build.compare(sign, reference.expression, build.literal(0))
    condition = Condition(expression, reference, place=places[0])
    step = sketch.advance(places, FREE_COST, conditions=(*sketch.conditions, condition), last="value")
    yield step.with_note(f"`{cue.argument}` is read by `{reference.column.name}`.")


_SIDES: dict[str, build.ComparisonSign] = {"negative": "<", "positive": ">", "zero": "="}
"""Signs of comparisons with zero; of others the number is unequal to it."""


def _side(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`negative amounts`: a bound of the noun behind it."""
    bound = NumberBound(_SIDES.get(cue.argument, "!="), 0.0, tuple(places))
    return sketch.advance(places, pending=replace(sketch.pending, bound=bound))


def _missing_steps(sketch: Sketch, places: Places) -> Iterator[Sketch]:
    """`missing` before its column, or behind it: `the cause is unknown`."""
    yield sketch.advance(places, pending=replace(sketch.pending, is_missing=True))
    if sketch.last == "measure" and sketch.measures and not sketch.measures[-1].functions:
        last, rest = sketch.measures[-1], replace(sketch, measures=sketch.measures[:-1])
    elif sketch.last == "displayed" and sketch.displayed:
        last, rest = sketch.displayed[-1], replace(sketch, displayed=sketch.displayed[:-1])
    else:
        return
    reference = last.value.reference if last.value else None
    if reference is None or reference.column.missing == 0:
        return
    condition = Condition(build.is_missing(reference.expression), reference, place=places[0])
    yield rest.advance(places, conditions=(*sketch.conditions, condition), last="value")


def _bounds_number(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if a number stands behind a comparison, past the sign of a currency."""
    while place < len(items) and items[place].text in (*MONEY_SIGNS, "the", "about"):
        place += 1
    if place >= len(items):
        return False
    item = items[place]
    return not item.role and (
        item.kind == "number" or item.text == "one" or unit_number(items, place) is not None
    )


def _count(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    if sketch.last == "frequency":
        return sketch.advance(places)  # `the most common number of rooms`
    outer = sketch.pending.functions[-1] if sketch.pending.functions else sketch.outer_function
    pending = replace(sketch.pending, functions=())
    return sketch.advance(places, counts=True, outer_function=outer, pending=pending)


def _amount(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, flags=sketch.flagged("amount"))


EXTENT_COST = 0.1
"""Cost of `length of` before the noun of a measure, which adds nothing to it."""


def _moment(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`when was the last injury`: the first or last time of some rows."""
    if sketch.interrogative != "when":
        return None
    is_first = "first" in cue.argument or "earliest" in cue.argument
    return sketch.advance(places, flags=sketch.flagged("first moment" if is_first else "last moment"))


def _extent(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, EXTENT_COST)


def _ask(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, interrogative=sketch.interrogative or cue.argument.split()[-1])


def _show(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, shows=True)


def _key(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, pending=replace(sketch.pending, key_word=cue.argument))


def _order_by(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    pending = sketch.pending
    ordering = replace(
        NOTHING, orders=True, superlative=pending.superlative, superlative_count=pending.superlative_count
    )
    return sketch.advance(places, pending=ordering)


def _tally(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`status codes by frequency`: the number of rows of each value, the most first."""
    nouns = (*sketch.displayed, *sketch.measures)
    if sketch.last not in ("displayed", "measure") or sketch.rows or sketch.keys or len(nouns) != 1:
        return None
    if nouns[0].functions:
        return None
    return sketch.advance(places, displayed=(), measures=(), keys=nouns, counts=True, order="down", last="key")


def _negate(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, pending=replace(sketch.pending, is_negated=not sketch.pending.is_negated))


def _exclude_last(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    if not sketch.conditions:
        return None
    *others, last = sketch.conditions
    negated = replace(last, expression=build.negate(last.expression), is_compared=False)
    return sketch.advance(places, conditions=(*others, negated))


def _versus(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, link="versus", flags=sketch.flagged("versus"))


def _share(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    flags = sketch.flagged("share", "rate") if cue.argument in ("rate", "rates") else sketch.flagged("share")
    return sketch.advance(places, flags=flags, share_place=places[0])


def _among(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, among_place=places[0])


def _flag(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, flags=sketch.flagged(cue.kind))


def _frequency(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    word = sketch.pending.superlative
    if word not in ("most", "least"):
        return None
    ranking = Ranking(word, places[0], None, sketch.pending.superlative_count, sketch.pending.ordinal)
    return sketch.advance(
        places, pending=NOTHING, ranking=ranking, flags=sketch.flagged("frequency"), last="frequency"
    )


def _distinct(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, pending=replace(sketch.pending, is_distinct=True))


def _aggregate(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    if cue.argument in sketch.pending.functions:
        return sketch.advance(places)
    own = [cue.argument] if cue.argument.startswith("quantile") else cue.argument.split()
    functions = (*sketch.pending.functions, *own)
    return sketch.advance(places, pending=replace(sketch.pending, functions=functions))


def _postfix(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, default_function=cue.argument)


def _order(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, order=cue.argument)


def _superlative(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    limits = cue.argument in ("top", "bottom") and sketch.ranking and sketch.ranking.count is None
    if sketch.pending.superlative == "top" and sketch.pending.superlative_count and not sketch.ranking:
        # `top 3 heaviest loads`
        return sketch.advance(places, pending=replace(sketch.pending, superlative=cue.argument))
    if sketch.pending.superlative or (sketch.ranking and not limits):
        return None
    count = sketch.pending.number
    if count is not None and not (count == int(count) and 1 <= count <= MAX_ASKED_ROWS):
        return None
    pending = replace(
        sketch.pending,
        superlative=cue.argument,
        superlative_count=int(count) if count is not None else None,
        number=None,
    )
    used = [*places] if count is None else [sketch.pending.number_place, *places]
    step = sketch.advance(used, pending=pending)
    if cue.argument in _COUNTED_SUPERLATIVES:
        return replace(step, flags=step.flagged("frequency"))
    return step


def _sign(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    sign, adjective = cue.argument.split()
    pending = replace(sketch.pending, sign=sign, adjective=adjective)  # type: ignore[arg-type]
    return sketch.advance(places, pending=pending)


def _adjective(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    if sketch.pending.superlative in ("most", "least") and cue.argument in _LONG_ADJECTIVES:
        superlative = _LONG_ADJECTIVES[cue.argument][sketch.pending.superlative == "least"]
        return sketch.advance(places, pending=replace(sketch.pending, superlative=superlative))
    return sketch.advance(
        places, flags=sketch.flagged("compared"), pending=replace(sketch.pending, adjective=cue.argument)
    )


def _ordinal(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, pending=replace(sketch.pending, ordinal=ORDINALS[cue.argument]))


def _period_steps(sketch: Sketch, cue: Cue, places: Places, reading: QuestionReading) -> Iterator[Sketch]:
    """A period groups behind `per` and as `monthly`, and is asked for behind `which` and `busiest`."""
    item = reading.text.items[places[0]]
    is_adverb = item.word in ADVERBS
    is_key = bool(sketch.pending.key_word) or is_adverb or (sketch.last == "key" and bool(sketch.link))
    is_head = (
        bool(sketch.pending.superlative or sketch.interrogative or "frequency" in sketch.flags)
        and not sketch.heads
    )
    if not is_key and not is_head:
        return
    try:
        value = period_value(reading, cue.argument, PhraseMatch(places))
    except NotUnderstood:
        return
    if value is None:
        return
    table = value.reference.table if value.reference else ""
    mention = Mention(places[0], item, value, table)
    if is_adverb and sketch.pending.functions:
        is_spacing = any(cue.argument in words(column.name) for column in reading.scope.tables[0].dates)
        if is_spacing:
            yield sketch.advance(places)
            return
    if is_key:
        pending = replace(sketch.pending, key_word="")
        yield sketch.advance(places, keys=(*sketch.keys, mention), pending=pending, last="key")
    elif is_head:
        yield sketch.advance(places, 0.02, heads=(*sketch.heads, mention), last="head")


_EFFECTS: dict[str, Effect] = {
    "count": _count,
    "amount": _amount,
    "ask": _ask,
    "extent": _extent,
    "moment": _moment,
    "show": _show,
    "key": _key,
    "order_by": _order_by,
    "tally": _tally,
    "negation": _negate,
    "excluded": _exclude_last,
    "versus": _versus,
    "share": _share,
    "among": _among,
    "difference": _flag,
    "excess": _flag,
    "compared": _flag,
    "ratio": _flag,
    "cumulative": _flag,
    "moving": _flag,
    "change": _flag,
    "any": _flag,
    "both": _flag,
    "side": _side,
    "others": _flag,
    "frequency": _frequency,
    "distinct": _distinct,
    "aggregate": _aggregate,
    "postfix": _postfix,
    "order": _order,
    "superlative": _superlative,
    "sign": _sign,
    "adjective": _adjective,
    "ordinal": _ordinal,
}

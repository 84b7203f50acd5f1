"""Steps of a sketch over cues: what a word of grammar changes in it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from app.agents.questions.composition.cues import Cue, find_cues
from app.agents.questions.composition.sketch import NOTHING, Ranking, Sketch
from app.agents.questions.composition.steps.comparison_steps import (
    excess,
    likelihood_steps,
    margin,
    shift,
    versus,
)
from app.agents.questions.composition.steps.denial_steps import denial_steps
from app.agents.questions.composition.steps.implied_measures import free_steps, selling_steps, takings_steps
from app.agents.questions.composition.steps.period_steps import paced_steps, period_steps, trend_steps
from app.agents.questions.composition.steps.second_interrogatives import asks_further, further_steps
from app.agents.questions.conditions.number_bounds import NumberBound, unit_number
from app.agents.questions.grammar_words import MONEY_SIGNS, ORDINALS
from app.agents.questions.items import QuestionItem
from app.agents.questions.ordering import MAX_ASKED_ROWS
from app.agents.questions.question_reading import Condition, QuestionReading, is_measurable
from app.plans import build

Places = list[int]
Effect = Callable[[Sketch, Cue, Places], Sketch | None]
Branches = Callable[[Sketch, Cue, Places, QuestionReading], Iterator[Sketch]]
WEAK_CUE_COST = 0.15
"""Cost of a word that is more often no cue than one: a bare `number`, `over` as `per`."""
WEAK_CUES = frozenset(
    {
        "nor",
        "number",
        "less",
        "more",
        "compare",
        "compared",
        "over",
        "within",
        "used",
        "v",
        "name",
        "find",
        "names",
    }
)
_LONG_ADJECTIVES = {"expensive": ("priciest", "cheapest"), "recent": ("latest", "earliest")}
"""Superlatives of one word for `most expensive` and `least expensive`."""
_COUNTED_SUPERLATIVES = frozenset({"busiest", "calmest", "quietest", "rarest", "scarcest", "commonest"})
"""Superlatives of the number of rows."""


def cue_steps(sketch: Sketch, reading: QuestionReading, items: Sequence[QuestionItem]) -> Iterator[Sketch]:
    """Yield the sketches in which the phrase at the sketch's place is a cue."""
    for cue in find_cues(items, sketch.place):
        places = [*range(sketch.place, sketch.place + cue.size)]
        # `more than` without a number behind compares two things: `more women than men`.
        if cue.kind == "sign" and not _bounds_number(items, places[-1] + 1):
            continue
        if cue.kind == "extent" and _names_measure(items[sketch.place]):
            continue  # `duration of` a column of durations
        if branches := _BRANCHES.get(cue.kind):
            yield from branches(sketch, cue, places, reading)
            continue
        if cue.kind == "ask" and asks_further(sketch, cue):
            yield from further_steps(sketch, cue, places, reading)
            continue
        if cue.kind == "superlative":
            yield from takings_steps(sketch, cue, places, reading)
        if cue.kind == "likelihood":
            yield from likelihood_steps(sketch, cue, places)
            continue
        if cue.kind == "missing":
            yield from _missing_steps(sketch, places)
            continue
        step = _EFFECTS[cue.kind](sketch, cue, places)
        if step is not None:
            is_weak = cue.argument in WEAK_CUES and not _is_compared(items, places[-1] + 1)
            # `compare the mean before and after 2018`: the groups are there already.
            is_weak = is_weak and not (cue.kind == "compared" and reading.keys)
            cost = WEAK_CUE_COST if is_weak else 0.0
            yield replace(step, cost=step.cost + cost)


def _typical_key(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`how many orders does a customer place`: the mean of the numbers of each customer."""
    if not (sketch.counts or "amount" in sketch.flags) or sketch.keys or sketch.pending.key_word:
        return None
    pending = replace(sketch.pending, key_word="each")
    return sketch.advance(places, pending=pending, flags=sketch.flagged("each"))


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
    # Of a column without gaps nothing is missing, so that `unknown` is rather one of its values.
    if reference is None or reference.column.missing == 0:
        return
    condition = Condition(build.is_missing(reference.expression), reference, place=places[0])
    yield rest.advance(places, conditions=(*sketch.conditions, condition), last="value")


def _is_compared(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if `than` stands behind a comparative, before anything but a number: `pay more than guests`."""
    for than, following in pairwise(items[place : place + MAX_THAN_DISTANCE]):
        if than.text == "than":
            return following.kind != "number"
    return False


MAX_THAN_DISTANCE = 12
"""Words from a comparative to the word behind its `than`."""


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
    is_second = sketch.counts and sketch.link in ("and", ",") and cue.argument.startswith("how many")
    second = places[0] if is_second else sketch.second_count_place
    return sketch.advance(places, counts=True, outer_function=outer, pending=pending, second_count_place=second)


def _amount(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, flags=sketch.flagged("amount"))


MIN_EXTENT_SCORE = 0.6
"""Score of a measure that a word such as `length` means, so that it is no mere `length of` another one."""


def _names_measure(item: QuestionItem) -> bool:
    """Tell if a word means a measure by itself."""
    return any(m.score >= MIN_EXTENT_SCORE and is_measurable(m.column) for m in item.columns[:1])


EXTENT_COST = 0.1
"""Cost of `length of` before the noun of a measure, which adds nothing to it."""


def _moment(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`when was the last injury`: the first or last time of some rows."""
    if sketch.interrogative != "when":
        return _rank_by_time(sketch, cue, places)
    is_first = "first" in cue.argument or "earliest" in cue.argument
    return sketch.advance(places, flags=sketch.flagged("first moment" if is_first else "last moment"))


def _rank_by_time(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`who was hired first`: the row with the first time of the verb before."""
    times = sketch.displayed if sketch.last == "displayed" else sketch.heads if sketch.last == "head" else ()
    is_time = bool(times) and times[-1].value is not None and times[-1].value.type == "datetime"
    if sketch.interrogative not in ("who", "which", "what") or not is_time or sketch.ranking:
        return None
    if cue.argument not in ("first", "last", "earliest", "latest", "most recently"):
        return None
    word = "earliest" if cue.argument in ("first", "earliest") else "latest"
    ranked = sketch.advance(places, ranking=Ranking(word, times[-1].place, times[-1]))
    if sketch.last == "displayed":
        return replace(ranked, displayed=sketch.displayed[:-1], last="measure")
    return replace(ranked, heads=sketch.heads[:-1], last="measure")


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
    if pending.key_word:
        return None  # `quantity per order by category`
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


def _exclude_last(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    if not sketch.conditions:
        return None
    *others, last = sketch.conditions
    negated = replace(last, expression=build.negate(last.expression), is_compared=False)
    return sketch.advance(places, conditions=(*others, negated))


def _share(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    flags = sketch.flagged("share", "rate") if cue.argument in ("rate", "rates") else sketch.flagged("share")
    return sketch.advance(places, flags=flags, share_place=places[0])


def _among(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, among_place=places[0])


def _flag(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    return sketch.advance(places, flags=sketch.flagged(cue.kind))


def _all(sketch: Sketch, cue: Cue, places: Places) -> Sketch | None:
    """`are all jobs finished`: only at the beginning a yes or no is asked for."""
    return None if places[0] else sketch.advance(places, flags=sketch.flagged("all"))


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
    if cue.argument == "stddev" and sketch.pending.functions == ("range",) and places[0] - 1 in sketch.used:
        # `the spread (standard deviation) of the weight`
        return sketch.advance(places, pending=replace(sketch.pending, functions=("stddev",)))
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


_BRANCHES: dict[str, Branches] = {
    "period": period_steps,
    "trend": trend_steps,
    "paced": paced_steps,
    "zero": free_steps,
    "selling": selling_steps,
    "negation": denial_steps,
}
"""Kinds of cues that are tried in several ways, or with the columns of the tables."""
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
    "excluded": _exclude_last,
    "versus": versus,
    "share": _share,
    "among": _among,
    "difference": _flag,
    "excess": excess,
    "compared": _flag,
    "ratio": _flag,
    "cumulative": _flag,
    "moving": _flag,
    "change": _flag,
    "shift": shift,
    "each": _typical_key,
    "any": _flag,
    "all": _all,
    "both": _flag,
    "side": _side,
    "others": _flag,
    "margin": margin,
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

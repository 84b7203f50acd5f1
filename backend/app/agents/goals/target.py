"""Which column a goal means: every column gets a score, and the answer is clear or it is a question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache

from app.agents.goals.columns import named as columns_named_in
from app.agents.goals.goal import Goal
from app.agents.goals.intents import GENERIC
from app.agents.goals.roles import described
from app.agents.goals.stemming import stem, stems, words
from app.agents.goals.tables import Column, Table, mentioned
from app.agents.goals.word_index import WordIndex, word_index

QUOTED, NAMED, WORDS, MEANING, MISSPELT, VALUE, LIKE = 20.0, 9.0, 6.0, 4.0, 4.0, 3.0, 1.5
CLEAR, AHEAD_OF_NEXT = 3.0, 1.25
LONE, NO_RIVAL = 2.0, 0.5
"""Without any rival less is clear enough."""

NAMED_TABLE = 1.3
CALLED_TARGET = frozenset({"target", "label"})
MAYBE_TARGET = frozenset({"y", "class", "outcome", "response"})
"""At either end of a table these are its target; within it `class` may be a cabin class."""

UNITS = frozenset(words("mm cm m km g mg kg ml l s ms min h usd eur gbp pct percent"))
MAX_OPTIONS = 8
MIN_LIKENESS = 0.6
MAX_MISSPELT = 100
"""Words that are compared with every name, letter by letter: 2,000 columns take 0.2 s. A goal of more different
words is a text, in which a misspelt name is not found by likeness."""
_ASKING = frozenset(map(stem, GENERIC))


@dataclass(frozen=True)
class Scored:
    table: Table
    column: Column
    score: float


@dataclass(frozen=True)
class TargetReading:
    """`chosen` when goal and data settle it; else the `options` to ask with, the likeliest first."""

    chosen: Scored | None
    options: tuple[Scored, ...]
    unfit: Column | None = None
    """What the goal names although there is little to learn in it: text, dates, an identifier."""


def find_target(
    goal: Goal, tables: Sequence[Table], wished: str | None = None, excluded: Sequence[str] = ()
) -> TargetReading:
    """The target in any of the tables. A wish (a preference, an answer) that names a column settles it.

    What the goal denies, what may not be used (`excluded`), or what it asks "per", is never the target. A goal
    that only looks, or that names text or an identifier, settles nothing.
    """
    if wished:
        exact = [
            Scored(t, c, QUOTED) for t in tables for c in t.columns if c.name.casefold() == wished.casefold()
        ]
        if exact:
            return TargetReading(exact[0], tuple(exact))
    named = mentioned(tables, goal.text)
    boosted = named if len(named) < len(tables) else []
    left_out = {tuple(words(phrase)) for phrase in goal.excluded}
    denied = {name for table in tables for name in described(goal.roles, table.columns)}
    denied |= {
        name for table in tables for phrase in goal.denied for name in columns_named_in(phrase, table.columns)
    }
    denied |= {
        column.name
        for table in tables
        for column in table.columns
        for phrase in goal.groups
        if stems(column.name) == stems(phrase)
    }
    candidates = [
        Scored(t, c, score(goal, c, t.name) * (NAMED_TABLE if t in boosted else 1.0))
        for t in tables
        for c in t.columns
        if c.name not in denied | set(excluded) and tuple(words(c.name)) not in left_out
    ]
    scored = sorted(_without_parts(goal, _once(candidates, boosted)), key=lambda s: -s.score)
    chosen = _clear(scored) or _called_target(goal, scored)
    options = tuple(_options(scored))
    if chosen and not chosen.column.can_be_target:
        return TargetReading(None, (*options, chosen), chosen.column)
    return TargetReading(None if goal.looks else chosen, options)


def _once(candidates: Sequence[Scored], named: Sequence[Table]) -> list[Scored]:
    """A column of several tables is meant in the one that the goal names, else in the widest and longest."""
    best: dict[str, Scored] = {}
    for one in sorted(
        candidates, key=lambda s: (s.table not in named, -len(s.table.columns), -s.table.rows, s.table.name)
    ):
        best.setdefault(one.column.name.casefold(), one)
    return [one for one in candidates if best[one.column.name.casefold()] is one]


def score(goal: Goal, column: Column, table: str = "") -> float:
    """How strongly the goal names this column as its target. Identifiers and constants hardly count."""
    text = _by_text(goal, column, table)
    fit = 1.0 if column.can_be_target else 0.3
    return fit * text + 0.5 * (goal.kind == "classification" and column.has_few_values and text > 0)


def _by_text(goal: Goal, column: Column, table: str) -> float:
    name, name_stems = words(column.name), _telling(column.name, table)
    if any(words(quoted) == name for quoted in goal.quoted):
        return QUOTED
    said = goal.after_verb or goal.asked
    best = _by_value(goal, column)
    # "Direction from these prices": looking ahead, what is looked at is also what is asked about.
    ahead = goal.inputs if goal.ahead or goal.outlook else ""
    for text, weight in ((said, 1.0), (goal.asked, 0.7), (ahead, 0.9)):
        best = max(best, weight * _in_text(text, name, name_stems, early_counts=text is goal.after_verb))
    return best if best >= MISSPELT else max(best, _by_likeness(said, name))


def _telling(name: str, table: str) -> list[str]:
    """The stems of a name that tell it apart: without its unit, and without what the table is called."""
    told = [stem(word) for word in words(name) if word not in UNITS]
    return [part for part in told if part not in stems(table)] or told or stems(name)


def _by_value(goal: Goal, column: Column) -> float:
    """The goal names one of the column's own values: is it a Gentoo?"""
    if column.is_number:
        return 0.0
    said = set(words(goal.after_verb or goal.asked))
    values = (words(str(value)) for value in column.top)
    return VALUE if any(value and len(value[0]) > 2 and set(value) <= said for value in values) else 0.0


def _by_likeness(text: str, name: list[str]) -> float:
    """A misspelt name, and what merely looks like one: enough to put it first, not to take it."""
    whole = "".join(name)
    matcher = SequenceMatcher(b=whole)  # what it learns of `b` serves for every word
    like = 0.0
    for word in _likely_misspelt(text):
        lengths = len(word) + len(whole)
        if 2 * min(len(word), len(whole)) < max(like, MIN_LIKENESS) * lengths:
            continue
        matcher.set_seq1(word)
        if matcher.quick_ratio() > max(like, MIN_LIKENESS - 0.01):
            like = max(like, matcher.ratio())
    if like >= 0.85 and len(whole) >= 6:
        return MISSPELT * like
    return LIKE * like if like >= MIN_LIKENESS else 0.0


@lru_cache(maxsize=64)
def _likely_misspelt(text: str) -> tuple[str, ...]:
    """Different words that are long enough to be a misspelt name, the first ones of the text."""
    return tuple(dict.fromkeys(word for word in words(text) if len(word) > 3))[:MAX_MISSPELT]


def _in_text(text: str, name: list[str], name_stems: list[str], early_counts: bool) -> float:
    index = word_index(text)
    if not index.words or not name:
        return 0.0
    if (at := index.place(name)) is not None:
        return NAMED + _earliness(at, early_counts)
    if len(name) == 1 and (at := _initials(index, name[0])) is not None:
        return NAMED + _earliness(at, early_counts)
    places = [_part_place(part, index) for part in name_stems]
    weight = sum(weight for weight, _ in places) / len(places)
    if not weight:
        return 0.0
    share = sum(part > 0 for part, _ in places) / len(places)
    return weight + share * _earliness(min(at for part, at in places if part), early_counts)


def _part_place(part: str, index: WordIndex) -> tuple[float, int]:
    """What one word of a name weighs, and where it was said: by itself, or by a word that means the same."""
    if len(part) > 1 and (at := index.stem_place(part)) is not None:
        return WORDS, at
    if len(part) >= 4 and (at := index.prefix_place(part, _ASKING)) is not None:
        return MEANING, at
    at = index.meaning_place(part)
    return (0.0, 0) if at is None else (MEANING, at)


def _place(said: list[str], name: list[str]) -> int | None:
    starts = range(len(said) - len(name) + 1)
    return next((i for i in starts if said[i : i + len(name)] == name), None)


def _initials(index: WordIndex, name: str) -> int | None:
    """Where the initials of neighbouring words spell the name: miles per gallon, mpg."""
    if len(name) < 3:
        return None
    at = index.initials.find(name)
    return at if at >= 0 else None


def _earliness(at: int, counts: bool) -> float:
    """After `predict`, the first thing named is the likelier target."""
    return max(0.0, 3.0 - 0.6 * at) if counts else 0.0


def _without_parts(goal: Goal, candidates: Sequence[Scored]) -> list[Scored]:
    """`sub-category` names the column Sub-Category and not Category as well."""
    index = word_index(goal.asked)
    names = (words(s.column.name) for s in candidates)
    whole = [name for name in names if name and index.place(name) is not None]

    def is_part(name: list[str]) -> bool:
        return any(
            len(name) < len(longer)
            and _place(longer, name) is not None
            and index.count(name) <= index.count(longer)
            for longer in whole
        )

    return [replace(s, score=s.score / 2) if is_part(words(s.column.name)) else s for s in candidates]


def _clear(scored: Sequence[Scored]) -> Scored | None:
    if not scored:
        return None
    first, *others = scored
    rival = next((s.score for s in others), 0.0)
    if first.score < (LONE if rival < NO_RIVAL else CLEAR):
        return None
    return first if first.score >= AHEAD_OF_NEXT * rival or first.score >= QUOTED > rival else None


def _called_target(goal: Goal, scored: Sequence[Scored]) -> Scored | None:
    """The one column that the data calls its target, when the goal asks for a model and names nothing."""
    called = [s for s in scored if _is_called_target(s) and goal.names_nothing(s.table.name)]
    return called[0] if len(called) == 1 else None


def _is_called_target(one: Scored) -> bool:
    name, columns = one.column.name.lower(), one.table.columns
    at_an_end = one.column in (columns[0], columns[-1])
    return one.column.can_be_target and (name in CALLED_TARGET or (name in MAYBE_TARGET and at_an_end))


def _options(scored: Sequence[Scored]) -> list[Scored]:
    """The likeliest first; where the goal says nothing, two values before many, later columns first."""
    possible = [(place, s) for place, s in enumerate(scored) if s.column.can_be_target]
    ranked = sorted(
        possible,
        key=lambda one: (-one[1].score, not _is_called_target(one[1]), one[1].column.distinct != 2, -one[0]),
    )
    return [s for _, s in ranked[:MAX_OPTIONS]]

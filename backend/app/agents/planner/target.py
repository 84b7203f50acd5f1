"""Which column a goal means: every column gets a score, and the answer is clear or it is a question."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.agents.planner.goal import Goal
from app.agents.planner.tables import Column, Table
from app.agents.planner.words import same_meaning, stems, words

QUOTED, NAMED, WORDS, MEANING = 20.0, 9.0, 6.0, 4.0
CLEAR, AHEAD_OF_NEXT = 3.0, 1.25
CONVENTIONAL = ("target", "label", "y", "class", "outcome", "response")
MOST_OPTIONS = 8


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


def find_target(goal: Goal, tables: Sequence[Table], wished: str | None = None) -> TargetReading:
    """The target in any of the tables. A wish (a preference, an answer) that names a column settles it."""
    if wished:
        exact = [
            Scored(t, c, QUOTED) for t in tables for c in t.columns if c.name.casefold() == wished.casefold()
        ]
        if exact:
            return TargetReading(exact[0], tuple(exact))
    scored = sorted(
        (Scored(t, c, score(goal, c)) for t in tables for c in t.columns),
        key=lambda s: -s.score,
    )
    return TargetReading(_clear(scored), tuple(_options(scored)))


def score(goal: Goal, column: Column) -> float:
    """How strongly the goal names this column as its target. Identifiers and constants hardly count."""
    text = _by_text(goal, column)
    fit = 1.0 if column.can_be_target else 0.3
    return fit * text + 0.5 * (goal.kind == "classification" and column.has_few_values and text > 0)


def _by_text(goal: Goal, column: Column) -> float:
    name, name_stems = words(column.name), stems(column.name)
    if any(words(quoted) == name for quoted in goal.quoted):
        return QUOTED
    said = goal.after_verb or goal.asked
    best = 0.0
    # "Direction from these prices": looking ahead, what is looked at is also what is asked about.
    ahead = goal.inputs if goal.ahead or goal.outlook else ""
    for text, weight in ((said, 1.0), (goal.asked, 0.7), (ahead, 0.9)):
        best = max(best, weight * _in_text(text, name, name_stems, early_counts=text is goal.after_verb))
    return best


def _in_text(text: str, name: list[str], name_stems: list[str], early_counts: bool) -> float:
    said, said_stems = words(text), stems(text)
    if not said or not name:
        return 0.0
    if (at := _place(said, name)) is not None:
        return NAMED + _earliness(at, early_counts)
    if len(name) == 1 and (at := _initials(said, name[0])) is not None:
        return NAMED + _earliness(at, early_counts)
    places = [_part_place(part, said_stems) for part in name_stems]
    weight = sum(weight for weight, _ in places) / len(places)
    if not weight:
        return 0.0
    return weight + _earliness(min(at for part, at in places if part), early_counts)


def _part_place(part: str, said: list[str]) -> tuple[float, int]:
    """What one word of a name weighs, and where it was said: by itself, or by a word that means the same."""
    if part in said and len(part) > 1:
        return WORDS, said.index(part)
    close = next((i for i, one in enumerate(said) if same_meaning(one, part)), None)
    return (0.0, 0) if close is None else (MEANING, close)


def _place(said: list[str], name: list[str]) -> int | None:
    starts = range(len(said) - len(name) + 1)
    return next((i for i in starts if said[i : i + len(name)] == name), None)


def _initials(said: list[str], name: str) -> int | None:
    """Where the initials of neighbouring words spell the name: miles per gallon, mpg."""
    if len(name) < 3:
        return None
    at = "".join(word[0] for word in said).find(name)
    return at if at >= 0 else None


def _earliness(at: int, counts: bool) -> float:
    """After `predict`, the first thing named is the likelier target."""
    return max(0.0, 3.0 - 0.6 * at) if counts else 0.0


def _clear(scored: Sequence[Scored]) -> Scored | None:
    if not scored:
        return None
    first, *others = scored
    if first.score >= CLEAR:
        rival = next((s.score for s in others), 0.0)
        return first if first.score >= AHEAD_OF_NEXT * rival or first.score >= QUOTED else None
    named = [s for s in scored if s.column.name.lower() in CONVENTIONAL and s.column.can_be_target]
    return named[0] if len(named) == 1 else None


def _options(scored: Sequence[Scored]) -> list[Scored]:
    """The likeliest first; where the goal says nothing, two values before many, later columns first."""
    possible = [(place, s) for place, s in enumerate(scored) if s.column.can_be_target]
    ranked = sorted(possible, key=lambda one: (-one[1].score, one[1].column.distinct != 2, -one[0]))
    return [s for _, s in ranked[:MOST_OPTIONS]]

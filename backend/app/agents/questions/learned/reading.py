"""Readings of a request by the decoder: its aim and target, and of a question the plans of its programs."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from app.agents.goals.aims.classifier import AIMS, Aim
from app.agents.goals.columns.links import ColumnLinks, link_columns
from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.composition.composer import plan_columns
from app.agents.questions.learned.decoder import WrittenProgram, read_goal, write_programs
from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.learned.open_rankings import open_ranking
from app.agents.questions.plan_meaning import PlanMeaning, meaning_of
from app.agents.questions.programs.equal_programs import asks_nothing, simplest
from app.agents.questions.programs.program import Program
from app.agents.questions.programs.program_plan import plan_of
from app.agents.questions.question_reading import NotUnderstood, QuestionReading
from app.errors import LabError
from app.plans.plan import Plan

MAX_CACHED_QUESTIONS = 32
"""Questions whose programs are kept: more than one process plans at once."""
MIN_LINKED = 0.5
"""Probability from which the links take a word for columns of a plan."""


class LearnedReading(NamedTuple):
    """A plan, the probability that it is what was asked for, and the reading with its notes."""

    plan: Plan
    probability: float
    reading: QuestionReading


class LearnedReadings(NamedTuple):
    """The readings of a question, the likeliest first. `none`: how likely the tables do not hold the answer."""

    readings: tuple[LearnedReading, ...] = ()
    none: float = 0.0
    links: ColumnLinks | None = None
    columns: tuple[str, ...] = ()
    """Names of the columns, in the order of the links."""

    def takes(self, word: str, reading: LearnedReading) -> bool:
        """Tell if the links take a word for columns of a reading's plan."""
        if self.links is None:
            return False
        shares = self.links.shares(lambda link: link.word == word.casefold())
        own = {column.name for column in plan_columns(reading.plan, reading.reading.scope)}
        return sum(float(shares[n]) for n, name in enumerate(self.columns) if name in own) >= MIN_LINKED


def read_question(text: str, tables: Sequence[TableProfile], base: QuestionReading) -> LearnedReadings:
    """Read a question by the decoder. `base`: the scope in which the programs become plans."""
    readings: dict[PlanMeaning, LearnedReading] = {}
    by_program: dict[Program, PlanMeaning] = {}
    none, void = 0.0, 0.0
    write = _write_once if _can_be_kept(tables) else _write
    inputs, programs = write(text, tuple(tables))
    unique = {column.name for _, column in inputs.columns if column.unique and not column.missing}
    for candidate in programs:
        if candidate.program.shows == "none":
            none += candidate.probability
            continue
        if asks_nothing(candidate.program):
            void += candidate.probability
            continue
        reading = _carry_out(candidate, base)
        if reading is None:
            continue
        meaning = meaning_of(reading.plan)
        # Several programs may come to one answer, which is as likely as all of them.
        same = by_program.setdefault(simplest(candidate.program, unique), meaning)
        same = next((other for other in readings if other == same or other.agrees(meaning)), meaning)
        former = readings.get(same)
        if former is not None:
            reading = former._replace(probability=former.probability + reading.probability)
        readings[same] = reading
    # What nobody asks for leaves its share to the others.
    sensible = (entry._replace(probability=entry.probability / (1 - void)) for entry in readings.values())
    likeliest = sorted(sensible, key=lambda entry: -entry.probability)
    links = link_columns(inputs.text, inputs.columns) if likeliest else None
    return LearnedReadings(tuple(likeliest), none, links, tuple(column.name for _, column in inputs.columns))


class LearnedAim(NamedTuple):
    """The aims of a request with their probabilities, and those of the columns to be the target of a model.

    Columns stand by their table's name and their own, as if the target was one of them.
    """

    aims: Mapping[Aim, float]
    targets: Mapping[tuple[str, str], float]


def read_aim(text: str, tables: Sequence[TableProfile]) -> LearnedAim | None:
    """Read what a request asks for by the decoder; None where it is too long, or there is no table."""
    read = _read_aim_once if _can_be_kept(tables) else _read_aim
    return read(text, tuple(tables))


def _read_aim(text: str, tables: tuple[TableProfile, ...]) -> LearnedAim | None:
    inputs = QuestionInputs(text, tables)
    goal = read_goal(inputs)
    if goal is None:
        return None
    aims: dict[Aim, float] = {aim: goal.aims[aim] for aim in AIMS}
    aims["explore"] += goal.aims["segment"]
    targets = {
        (table.name, column.name): sum(goal.aims[aim] * shares[place] for aim, shares in goal.targets.items())
        for place, (table, column) in enumerate(inputs.columns)
    }
    # A target that is a condition or the time between two dates has no column of its own at this step.
    total = sum(targets.values())
    targets = {name: share / total for name, share in targets.items()}
    return LearnedAim(aims, targets)


_read_aim_once = lru_cache(maxsize=MAX_CACHED_QUESTIONS)(_read_aim)


def _can_be_kept(tables: Sequence[TableProfile]) -> bool:
    """Tell if profiles can be looked up: values of nested columns are lists and records."""
    try:
        hash(tuple(tables))
    except TypeError:
        return False
    return True


def _write(text: str, tables: tuple[TableProfile, ...]) -> tuple[QuestionInputs, tuple[WrittenProgram, ...]]:
    inputs = QuestionInputs(text, tables)
    return inputs, tuple(write_programs(inputs))


@lru_cache(maxsize=MAX_CACHED_QUESTIONS)
def _write_once(
    text: str, tables: tuple[TableProfile, ...]
) -> tuple[QuestionInputs, tuple[WrittenProgram, ...]]:
    """Write the programs of a question: several rules of an agent, and agents after it, read the same one."""
    return _write(text, tables)


def _carry_out(candidate: WrittenProgram, base: QuestionReading) -> LearnedReading | None:
    """The plan of a program; None where its parts do not fit the tables."""
    reading = QuestionReading(base.scope, base.text.copy())
    try:
        plan = plan_of(open_ranking(candidate.program, reading.text.items), reading)
    except (NotUnderstood, LabError, ValueError, ArithmeticError):
        return None
    return LearnedReading(plan, candidate.probability, reading)

"""Training programs: questions on the tables of the training goals, with programs that say what they ask for.

A file has a question and its program on each line: `average fare by district => mean(fare), by(district)`. Its
tables are those of the training goals of the same name, or lie beside it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.corpora.goals import Table
from tests.corpora.planned_goals import make_schema
from tests.corpora.program_text import BadProgramError, parse_program
from tests.corpora.training import (
    HELD_OUT_GOALS_DIRECTORY,
    TRAINING_GOALS_DIRECTORY,
    OutlinedTables,
    TrainingTables,
)

from app.agents.goals.tables.profiles import Column, TableProfile, make_table_profile
from app.agents.questions.programs.goal_program import GoalProgram
from app.agents.questions.programs.program import AnyOf, Condition, Denial, Program, ProgramFigure, Test

PROGRAMS_DIRECTORY = Path(__file__).parent / "training" / "programs"
HELD_OUT_PROGRAMS_DIRECTORY = Path(__file__).parent / "training" / "held_out_programs"
"""Programs that nothing is fitted to, on the tables of the held-out goals: they show what carries over."""
ARROW = " => "


@dataclass(frozen=True)
class TrainingPrograms:
    """One file: the profiles of its tables, and its questions with their programs."""

    id: str
    tables: tuple[TableProfile, ...]
    questions: tuple[tuple[str, Program | GoalProgram], ...]


def load_training_programs(directory: Path = PROGRAMS_DIRECTORY) -> Iterator[TrainingPrograms]:
    """Load all files in the order of their names. Raises BadProgramError, with the line, on a malformed one."""
    for path in sorted(directory.glob("*.txt")):
        yield read_programs(path)


def read_programs(path: Path) -> TrainingPrograms:
    """Read a file of programs and the outlines of its tables."""
    tables = _read_tables(path)
    columns = {column.name: column.type for table in tables for column in table.columns}
    questions = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        question, arrow, program = line.rpartition(ARROW)
        try:
            if not arrow:
                raise BadProgramError("a line is `question => program`")
            questions.append((question.strip(), parse_program(program, columns)))
        except BadProgramError as error:
            raise BadProgramError(f"{path.name}:{number}: {error}") from error
    values_by_column = _named_values(program for _, program in questions)
    profiles = (make_table_profile(make_schema(table)) for table in tables)
    return TrainingPrograms(
        path.stem, tuple(_with_values(profile, values_by_column) for profile in profiles), tuple(questions)
    )


def _read_tables(path: Path) -> list[Table]:
    """Read the tables that a file of programs is about."""
    own = path.with_suffix(".json")
    if own.exists():
        return OutlinedTables.model_validate_json(own.read_text(encoding="utf-8"), strict=True).tables
    of_goals = TRAINING_GOALS_DIRECTORY if path.parent == PROGRAMS_DIRECTORY else HELD_OUT_GOALS_DIRECTORY
    text = (of_goals / own.name).read_text(encoding="utf-8")
    return list(TrainingTables.model_validate_json(text, strict=True).tables)


def _with_values(profile: TableProfile, values_by_column: dict[str, list[str]]) -> TableProfile:
    """Add the values that programs name to those of their columns: an outline has no more than five of each."""
    return replace(profile, columns=tuple(_with_named(column, values_by_column) for column in profile.columns))


def _with_named(column: Column, values_by_column: dict[str, list[str]]) -> Column:
    if column.type != "text" or column.name not in values_by_column or column.hint == "datetime":
        return column
    known_values = {str(value).casefold() for value in column.values}
    further = tuple(
        value for value in dict.fromkeys(values_by_column[column.name]) if value.casefold() not in known_values
    )
    return replace(column, values=(*column.values, *further), top=(*column.top, *further))


def _named_values(programs: Iterator[Program | GoalProgram]) -> dict[str, list[str]]:
    values_by_column: dict[str, list[str]] = {}
    for program in programs:
        for test in _tests_of_program(program):
            if test.kind in ("compare", "in") and not test.term.part:
                texts = [value for value in test.values if isinstance(value, str)]
                values_by_column.setdefault(test.term.column, []).extend(texts)
    return values_by_column


def _tests_of_program(program: Program | GoalProgram) -> Iterator[Test]:
    if isinstance(program, GoalProgram):
        for part in (program.target, *program.keys, *program.where):
            if isinstance(part, Test | Denial | AnyOf):
                yield from _tests(part)
        return
    figures = [*program.figures, *(bound.figure for bound in program.having)]
    if program.order is not None and isinstance(program.order.by, ProgramFigure):
        figures.append(program.order.by)
    for figure in figures:
        yield from _tests_of_figure(figure)
    for condition in (*program.where, *program.keys):
        if isinstance(condition, Test | Denial | AnyOf):
            yield from _tests(condition)


def _tests_of_figure(figure: ProgramFigure) -> Iterator[Test]:
    if figure.where is not None:
        yield from _tests(figure.where)
    for part in figure.parts:
        yield from _tests_of_figure(part)


def _tests(condition: Condition) -> Iterator[Test]:
    match condition:
        case Test():
            yield condition
        case Denial(test):
            yield from _tests(test)
        case AnyOf(tests):
            for part in tests:
                yield from _tests(part)

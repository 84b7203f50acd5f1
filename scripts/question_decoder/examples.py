"""Examples of the fit: what the decoder reads of each training request, and the actions that it has to write.

`PYTHONPATH=. python -m scripts.question_decoder.examples FOLDER [--part K --of N]` writes a file for each file
of training programs and of training goals; those that exist are kept. It reads some 25 requests a second.
"""

import argparse
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.corpora.planned_goals import make_schema
from tests.corpora.training import (
    HELD_OUT_GOALS_DIRECTORY,
    TRAINING_GOALS_DIRECTORY,
    TrainingGoal,
    load_training_goals,
)
from tests.corpora.training_programs import (
    HELD_OUT_PROGRAMS_DIRECTORY,
    PROGRAMS_DIRECTORY,
    read_programs,
)

from app.agents.goals.tables.profiles import TableProfile, make_table_profile
from app.agents.questions.learned.date_writing import CannotWriteError
from app.agents.questions.learned.grammar import Action, Machine, as_token
from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.learned.tokens import SHOWS, TOKEN_NUMBERS
from app.agents.questions.learned.writing import frame_of, write_actions
from app.agents.questions.programs.goal_program import GoalProgram
from app.agents.questions.programs.program import Program, ProgramFigure, Term

FITTED, HELD_OUT = "fitted", "held_out"
"""Folders of the examples."""
GOALS_PREFIX = "goals_"
"""Beginning of the names of examples that are goals with labels instead of programs."""
UNSEEN_BY_LINKS = ("x2_", "z4_", "g1_", "g2_", "g3_", "g4_")
"""Files of goals that the links and the encoder were not fitted to: of others they know the answers."""
Example = dict[str, Any]
Request = TrainingGoal | tuple[str, Program | GoalProgram]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    arguments = parser.parse_args()
    write_examples(arguments.folder, arguments.part, arguments.of)


def write_examples(folder: Path, part: int, of: int) -> None:
    """Write the examples of every file of programs and goals, held-out ones into a folder of their own."""
    sources = (
        (FITTED, PROGRAMS_DIRECTORY, TRAINING_GOALS_DIRECTORY),
        (HELD_OUT, HELD_OUT_PROGRAMS_DIRECTORY, HELD_OUT_GOALS_DIRECTORY),
    )
    for name, programs, goals in sources:
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number, path in enumerate(sorted(programs.glob("*.txt"))):
            if number % of == part:
                file = read_programs(path)
                write_file(folder / name / f"{file.id}.pickle", file.tables, file.questions)
        for number, goals_file in enumerate(load_training_goals(goals)):
            if number % of == part and (name == HELD_OUT or goals_file.id.startswith(UNSEEN_BY_LINKS)):
                tables = tuple(make_table_profile(make_schema(table)) for table in goals_file.tables)
                write_file(folder / name / f"{GOALS_PREFIX}{goals_file.id}.pickle", tables, goals_file.goals)


def write_file(path: Path, tables: Sequence[TableProfile], requests: Sequence[Request]) -> None:
    if path.exists():
        return
    path.write_bytes(pickle.dumps(make_examples(path.stem, tables, requests)))


def make_examples(name: str, tables: Sequence[TableProfile], requests: Sequence[Request]) -> dict[str, Any]:
    examples = []
    inputs = QuestionInputs("", tables)
    for request in requests:
        text = request.goal if isinstance(request, TrainingGoal) else request[0]
        if isinstance(request, TrainingGoal) and request.aim == "other_language":
            continue
        inputs = QuestionInputs(text, tables)
        if not inputs.can_be_read:
            continue
        try:
            if isinstance(request, TrainingGoal):
                examples.append(make_goal_example(inputs, request))
            else:
                examples.append(make_example(inputs, write_actions(request[1], inputs)))
        except CannotWriteError as error:
            print(f"{name}: {text}: {error}", flush=True)
    half = np.float16
    return {
        "name": name,
        "columns": inputs.column_vectors().astype(half),
        "column_facts": inputs.column_facts().astype(half),
        "tables": [table.name for table, _ in inputs.columns],
        "examples": examples,
    }


def make_goal_example(inputs: QuestionInputs, goal: TrainingGoal) -> Example:
    """Return the example of a goal, whose program ends where its labels do."""
    if goal.aim == "question":
        shows = [as_token(name) for name in SHOWS if name != "none"]
        return make_example(inputs, shows[:1], {0: shows[1:]})
    aim = {"explain_drivers": "drivers", "not_served": "unserved"}.get(goal.aim, goal.aim)
    if aim not in ("predict", "drivers", "forecast"):
        return make_example(inputs, write_actions(GoalProgram(aim), inputs))
    if not goal.targets and aim != "forecast":
        return make_example(inputs, [as_token(f"goal_{aim}")])
    target = Term(goal.targets[0]) if goal.targets else ProgramFigure("count")
    excluded = tuple(map(Term, goal.excluded)) if aim != "forecast" else ()
    actions = write_actions(GoalProgram(aim, target, excluded), inputs)
    places = {column.name: place for place, (_, column) in reversed([*enumerate(inputs.columns)])}
    also = [Action("column", places[name]) for name in goal.targets[1:]]
    if goal.conditions or goal.groups:
        actions = actions[: -1 if aim != "forecast" else -2]
    return make_example(inputs, actions, {1: also})


def make_example(
    inputs: QuestionInputs, actions: list[Action], also: dict[int, list[Action]] | None = None
) -> Example:
    """Return what the decoder reads of a question, and after each action those that may follow.

    `also`: by the place of an action, others that are right as well.
    """
    machine, steps = Machine(frame_of(inputs)), []
    for action in actions:
        allowed = machine.allowed()
        tokens = [TOKEN_NUMBERS[name] for name in allowed.tokens]
        steps.append((machine.stack[-1], tokens, allowed.columns, allowed.nodes, allowed.words))
        machine.advance(action)
    relations, half = inputs.relations(), np.float16
    return {
        "actions": actions,
        "also": also or {},
        "steps": steps,
        "names": relations.names.astype(half),
        "values": relations.values.astype(half),
        "words": inputs.word_vectors().astype(half),
        "nodes": inputs.node_vectors().astype(half),
        "node_facts": inputs.node_facts().astype(half),
        "owners": inputs.owners(),
    }


if __name__ == "__main__":
    main()

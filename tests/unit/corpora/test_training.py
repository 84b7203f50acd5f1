"""Structure of the training goals: format, columns that exist, counts, and nothing of the corpus of goals."""

from collections import Counter

import pytest
from tests.corpora.goals import load_goals
from tests.corpora.planned_goals import make_schema
from tests.corpora.training import (
    HELD_OUT_GOALS_DIRECTORY,
    TRAINING_GOALS_DIRECTORY,
    TrainingTables,
    load_training_goals,
)

from app.agents.goals.tables.profiles import make_table_profile

# Counts that have landed, so that a file that is lost is noticed: raised when files are added.
MIN_TABLES, MIN_DOMAINS, MIN_GOALS = 880, 770, 15000
MIN_HELD_OUT_GOALS = 730
MIN_GOALS_BY_AIM = {
    "predict": 7085,
    "explain_drivers": 3010,
    "forecast": 815,
    "question": 2810,
    "not_served": 545,
}


@pytest.fixture(scope="module")
def files() -> list[TrainingTables]:
    return load_training_goals()


def test_files_are_valid(files: list[TrainingTables]) -> None:
    assert [file.id for file in files] == sorted(path.stem for path in TRAINING_GOALS_DIRECTORY.iterdir())
    for file in files:
        columns = {column.name for table in file.tables for column in table.columns}
        for goal in file.goals:
            assert goal.column_names() <= columns, (file.id, goal.goal)


def test_outlines_are_read_as_profiles(files: list[TrainingTables]) -> None:
    for file in files:
        for table in file.tables:
            profile = make_table_profile(make_schema(table))
            assert [column.name for column in profile.columns] == [column.name for column in table.columns]


def test_counts_are_kept(files: list[TrainingTables]) -> None:
    by_aim = Counter(goal.aim for file in files for goal in file.goals)
    assert len(files) >= MIN_TABLES
    assert len({file.source.made for file in files}) >= MIN_DOMAINS
    assert by_aim.total() >= MIN_GOALS
    assert not {aim: by_aim[aim] for aim, count in MIN_GOALS_BY_AIM.items() if by_aim[aim] < count}


def test_held_out_goals_are_apart_from_those_that_are_fitted(files: list[TrainingTables]) -> None:
    held_out = load_training_goals(HELD_OUT_GOALS_DIRECTORY)
    texts = {goal.goal.casefold() for file in files for goal in file.goals}
    assert sum(len(file.goals) for file in held_out) >= MIN_HELD_OUT_GOALS
    assert not {file.id for file in files} & {file.id for file in held_out}
    assert not [goal.goal for file in held_out for goal in file.goals if goal.goal.casefold() in texts]


def test_no_goal_occurs_twice(files: list[TrainingTables]) -> None:
    counts = Counter(goal.goal.casefold() for file in files for goal in file.goals)
    assert not [text for text, count in counts.items() if count > 1]


def test_nothing_is_taken_from_the_corpus(files: list[TrainingTables]) -> None:
    corpus = [file for half in ("tuned", "untuned") for file in load_goals(half)]
    texts = {goal.goal.casefold() for file in corpus for goal in file.goals}
    # Counts alone: a failure must not show what the untuned half holds.
    assert len({file.id for file in files} & {file.id for file in corpus}) == 0
    assert sum(goal.goal.casefold() in texts for file in files for goal in file.goals) == 0

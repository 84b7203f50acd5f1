"""The grammar of programs: what it can say, it reads back, and whatever it allows is a program."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.corpora.program_text import parse_program
from tests.corpora.training_programs import load_training_programs

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.learned.action_reading import read_program
from app.agents.questions.learned.date_writing import CannotWriteError
from app.agents.questions.learned.grammar import MAX_ACTIONS, Action, Machine
from app.agents.questions.learned.inputs import QuestionInputs
from app.agents.questions.learned.tokens import GOALS, TOKEN_NUMBERS, TOKENS
from app.agents.questions.learned.writing import frame_of, write_actions
from app.agents.questions.programs.goal_program import GoalProgram

TRIPS = TableProfile(
    "trips",
    400,
    (
        Column("trip_no", "integer", "id", 400, unique=True),
        Column("city", "text", "category", 3, top=("Leeds", "York", "Hull"), values=("Leeds", "York", "Hull")),
        Column("started", "datetime", "datetime", 390),
        Column("ended", "datetime", "datetime", 390),
        Column("fare", "number", "numeric", 200, low=2.5, high=80.0),
        Column("km", "number", "numeric", 200, low=0.2, high=60.0),
        Column("member", "boolean", "boolean", 2),
        Column("remark", "text", "text", 300, values=("lost bag", "wet seat")),
    ),
)
GOAL_TOKENS = {TOKEN_NUMBERS[f"goal_{name}"] for name in GOALS}
TYPES = {column.name: column.type for column in TRIPS.columns}


@pytest.mark.parametrize(
    ("question", "program"),
    [
        ("how many trips", "count()"),
        ("average fare by city", "mean(fare), by(city)"),
        ("fare per km in york", "sum(fare) / sum(km), where(city == 'York')"),
        ("which city earns most", "sum(fare), by(city), top(1, sum(fare))"),
        ("share of members", "share(member == True)"),
        ("trips longer than 2 hours", "rows(), where(hours(started, ended) > 2)"),
        ("busiest weekday", "count(), by(weekday(started)), top(1, count())"),
        ("cities with more than 50 trips", "groups(), by(city), having(count() > 50)"),
        ("trips per day on average", "over(mean, count()), by(day(started))"),
        ("fares of the last 30 days", "sum(fare), where(last(started, 30, 'day'))"),
        ("fares above the average", "rows(), where(fare > mean(fare))"),
        ("remarks about a lost bag", "rows(), where(contains(remark, 'lost bag'))"),
        ("90th percentile of the fare", "quantile(fare, 0.9)"),
        ("members or trips above 10 km", "count(), where(any_of(member == True, km > 10))"),
        ("how much more do members pay", "mean(fare, member == True) - mean(fare, member == False)"),
        ("what colour are the bikes", "none()"),
    ],
)
def test_what_is_written_is_read_back(question: str, program: str) -> None:
    inputs = QuestionInputs(question, [TRIPS])
    parsed = parse_program(program, TYPES)
    assert read_program(write_actions(parsed, inputs), inputs) == parsed


@pytest.mark.parametrize(
    ("goal", "program", "actions"),
    [
        ("what will it cost", "predict(fare)", "goal_predict fare end end"),
        ("fare of members without km", "predict(fare), without(km), where(member == True)",
         "goal_predict fare km end test_== member true end"),
        ("will it be a long one", "predict(km > 20)", "goal_predict test_> km number_20 end end"),
        ("what makes it dear", "drivers(fare)", "goal_drivers fare end end"),
        ("trips of a city next week", "forecast(count()), by(city)", "goal_forecast figure_count city end end"),
        ("kinds of trips", "segment()", "goal_segment"),
    ],
)  # fmt: skip
def test_what_goals_ask_for_is_written(goal: str, program: str, actions: str) -> None:
    inputs = QuestionInputs(goal, [TRIPS])
    written = write_actions(parse_program(program, TYPES), inputs)
    names = [
        TOKENS[action.place] if action.kind == "token" else TRIPS.columns[action.place].name
        for action in written
    ]
    assert names == actions.split()


@pytest.mark.parametrize(
    ("question", "program", "meant"),
    [
        ("trips since May 2023", "count(), where(started >= '2023-05-01')", ("2023-05-01",)),
        ("trips after May 2023", "count(), where(started > '2023-05-31')", ("2023-06-01",)),
        ("trips in 2023", "count(), where(year(started) == 2023)", ("2023-01-01", "2023-12-31")),
        (
            "trips from May 2023 to June 2023",
            "count(), where(between(started, '2023-05-01', '2023-06-30'))",
            ("2023-05-01", "2023-06-30"),
        ),
    ],
)
def test_dates_are_those_of_the_question(question: str, program: str, meant: tuple[str, ...]) -> None:
    inputs = QuestionInputs(question, [TRIPS])
    read = read_program(write_actions(parse_program(program, TYPES), inputs), inputs)
    assert [test.values for test in read.where if hasattr(test, "values")] == [meant]


def test_values_that_nothing_stands_for_cannot_be_written() -> None:
    inputs = QuestionInputs("trips above the usual", [TRIPS])
    with pytest.raises(CannotWriteError, match="no number 37"):
        write_actions(parse_program("count(), where(km > 37)", TYPES), inputs)


@pytest.mark.parametrize("seed", range(40))
def test_whatever_the_grammar_allows_is_a_program(seed: int) -> None:
    chosen = random.Random(seed)
    inputs = QuestionInputs("trips of members over 5 km in York in May 2023 on a friday", [TRIPS])
    machine = Machine(frame_of(inputs))
    actions: list[Action] = []
    while not machine.is_done and len(actions) < 4 * MAX_ACTIONS:
        allowed = machine.allowed()
        ends = (
            [Action("token", TOKEN_NUMBERS["end"])] if "end" in allowed.tokens and chosen.random() < 0.5 else []
        )
        every = [
            *(Action("token", TOKEN_NUMBERS[name]) for name in allowed.tokens),
            *(Action("column", place) for place in allowed.columns),
            *(Action("node", place) for place in allowed.nodes),
            *(Action("word", place) for place in allowed.words),
        ]
        # Of goals the decoder reads the aim and the target; their programs are those that it is fitted to.
        every = [action for action in every if action.place not in GOAL_TOKENS or action.kind != "token"]
        if not (ends or every):
            return  # nothing in the question fits: the decoder drops what it began
        action = chosen.choice(ends or every)
        machine.advance(action)
        actions.append(action)
    # `the first -5` says no program, and is dropped by the decoder.
    with suppress(ValueError):
        assert not machine.is_done or read_program(actions, inputs).shows


def test_the_training_programs_can_be_written() -> None:
    written = failed = 0
    for number, file in enumerate(load_training_programs()):
        if number % 40:
            continue
        for question, program in file.questions:
            inputs = QuestionInputs(question, file.tables)
            try:
                actions = write_actions(program, inputs)
            except CannotWriteError:
                failed += 1
                continue
            written += 1
            if isinstance(program, GoalProgram):
                continue
            again = read_program(actions, inputs)
            assert write_actions(again, inputs) == actions
    assert written > 30 * failed


def test_tables_without_columns_are_not_read() -> None:
    assert not QuestionInputs("how many", [replace(TRIPS, columns=())]).can_be_read

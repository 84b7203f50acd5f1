"""Two readings of a question are settled: by rules where they are sure, else by a decoder that is."""

from dataclasses import replace

import pytest
from tests.corpora.program_text import parse_program
from tests.unit.agents.questions.test_grammar import TRIPS, TYPES

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.agreement import MAX_UNCONFIRMED, MAX_YIELDING, settle
from app.agents.questions.claimed_words import unclaimed_words
from app.agents.questions.composition.composer import plan_columns
from app.agents.questions.learned.reading import LearnedReading, LearnedReadings
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.parsed_plans import describe_reading
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.agents.questions.phrases import QuestionItems
from app.agents.questions.plan_meaning import meaning_of
from app.agents.questions.programs.program_plan import plan_of
from app.agents.questions.question_reading import QuestionReading
from app.agents.questions.tables.scope import QuestionScope
from app.plans import build
from app.plans.plan import DatasetSource, Plan


def reading_of(program: str, probability: float = 1.0) -> LearnedReading:
    parsed = parse_program(program, TYPES)
    reading = QuestionReading(QuestionScope((TRIPS,)), QuestionItems([]))
    return LearnedReading(plan_of(parsed, reading), probability, reading)


def by_rules(program: str, confidence: float = 0.85) -> ParsedQuestion:
    entry = reading_of(program)
    return describe_reading(entry.plan, entry.reading, confidence)


def plan_for(program: str) -> Plan:
    return reading_of(program).plan


def test_a_plan_that_both_come_to_is_surer() -> None:
    learned = LearnedReadings((reading_of("mean(fare), by(city)", 0.8),))
    settled = settle(by_rules("mean(fare), by(city)"), learned)
    assert isinstance(settled, ParsedQuestion)
    assert settled.confidence > 0.9


def test_a_sure_plan_that_the_decoder_does_not_write_is_less_sure() -> None:
    learned = LearnedReadings((reading_of("sum(km), by(city)", 0.99),))
    settled = settle(by_rules("mean(fare), by(city)", MAX_YIELDING), learned)
    assert isinstance(settled, ParsedQuestion)
    assert (settled.confidence, settled.is_by_decoder) == (MAX_UNCONFIRMED, False)
    assert settled.plan == plan_for("mean(fare), by(city)")


def test_a_less_sure_plan_yields_to_a_sure_one_of_the_decoder() -> None:
    learned = LearnedReadings((reading_of("sum(km), by(city)", 0.99),))
    settled = settle(by_rules("mean(fare), by(city)", 0.7), learned)
    assert isinstance(settled, ParsedQuestion)
    assert settled.is_by_decoder


def test_of_two_plans_of_which_neither_is_sure_both_are_offered() -> None:
    learned = LearnedReadings((reading_of("sum(km), by(city)", 0.5),))
    settled = settle(by_rules("mean(fare), by(city)", 0.7), learned)
    assert isinstance(settled, UnparsedQuestion)
    assert {reading.plan.model_dump_json() for reading in settled.readings} == {
        plan_for(program).model_dump_json() for program in ("sum(km), by(city)", "mean(fare), by(city)")
    }


def test_the_decoder_has_no_say_in_a_plan_that_no_program_asks_for() -> None:
    learned = LearnedReadings((reading_of("sum(km), by(city)", 0.99),))
    variance = reading_of("std(fare)")
    text = variance.plan.model_dump_json().replace('"stddev"', '"variance"')
    by_variance = describe_reading(Plan.model_validate_json(text), variance.reading, 0.7)
    settled = settle(by_variance, learned)
    assert isinstance(settled, ParsedQuestion)
    assert settled.plan == by_variance.plan


def test_a_plan_that_passes_over_a_word_does_not_speak_against_rules() -> None:
    learned = LearnedReadings((reading_of("sum(km), by(city)", 0.99),))
    settled = settle(by_rules("mean(fare), by(city)", 0.7), learned, ["purple"])
    assert isinstance(settled, ParsedQuestion)
    assert settled.plan == plan_for("mean(fare), by(city)")


def test_a_sure_decoder_answers_what_rules_do_not_understand() -> None:
    learned = LearnedReadings(
        (reading_of("mean(fare), by(city)", 0.97), reading_of("sum(fare), by(city)", 0.02))
    )
    settled = settle(UnparsedQuestion("It is not understood."), learned)
    assert isinstance(settled, ParsedQuestion)
    assert settled.is_by_decoder


def test_a_word_that_nobody_knows_is_not_passed_over() -> None:
    learned = LearnedReadings((reading_of("count(), by(city)", 0.99),))
    settled = settle(UnparsedQuestion("Nothing is known of 'purple'."), learned, ["purple"])
    assert isinstance(settled, UnparsedQuestion)
    assert [reading.plan for reading in settled.readings] == [plan_for("count(), by(city)")]


def test_readings_of_both_are_offered_in_turn_and_each_once() -> None:
    rules = (by_rules("sum(km)"), by_rules("mean(fare)"))
    learned = LearnedReadings((reading_of("mean(fare)", 0.5), reading_of("max(fare)", 0.3)))
    settled = settle(UnparsedQuestion("It is not understood.", readings=rules), learned)
    assert isinstance(settled, UnparsedQuestion)
    offered = [reading.plan for reading in settled.readings]
    assert offered == [plan_for("mean(fare)"), plan_for("sum(km)"), plan_for("max(fare)")]


def test_what_rules_know_to_be_open_or_impossible_stays_so() -> None:
    learned = LearnedReadings((reading_of("mean(fare)", 0.99),))
    refusal = UnparsedQuestion("June has no day 31.", is_settled=True)
    assert settle(refusal, learned) is refusal


def test_a_plan_of_which_the_decoder_finds_nothing_in_the_tables_is_less_sure() -> None:
    settled = settle(by_rules("mean(fare)"), LearnedReadings(none=0.98))
    assert isinstance(settled, ParsedQuestion)
    assert settled.confidence == MAX_UNCONFIRMED


@pytest.mark.parametrize(
    "question",
    [
        "top 0 cities by fare",
        "trips of the last 1000000000 days",
        "trips before 9999-12-31",
        "fare above " + "9" * 400,
        "top half of the cities by fare",
        "trips in the last half year",
        "fare by city, " + "of trips that were long and dear " * 20 + "only in Hull",
        "\u2776 total fare by city",
    ],
)
def test_odd_questions_are_read_or_asked_about(question: str) -> None:
    parsed = parse_question(question, [TRIPS])
    assert isinstance(parsed, ParsedQuestion | UnparsedQuestion)


def test_tables_with_nested_values_are_read() -> None:
    nested = Column("tags", "text", "text", 300, values=(["a", "b"], {"c": 1}))
    trips = replace(TRIPS, columns=(*TRIPS.columns, nested))
    parsed = parse_question("average fare by city", [trips])
    assert isinstance(parsed, ParsedQuestion)


def test_a_question_that_is_too_long_is_not_read_in_part() -> None:
    text = "total fare by city " + "of long trips " * 40 + "only in Hull"
    parsed = parse_question(text, [TRIPS])
    assert not (isinstance(parsed, ParsedQuestion) and parsed.is_by_decoder)


@pytest.mark.parametrize("question", ["trips on 31 June 2023", "hello there", "you are wonderful"])
def test_no_answer_is_made_up(question: str) -> None:
    assert isinstance(parse_question(question, [TRIPS]), UnparsedQuestion)


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("mean(fare), by(city)", "mean(fare), by(city), sort_desc(mean(fare))", True),
        ("corr(fare, km)", "corr(km, fare)", True),
        ("rows(), where(city == 'York')", "rows(trip_no, fare), where(city == 'York')", True),
        ("count(), where(city == 'York', km > 5)", "count(), where(km > 5, city == 'York')", True),
        ("count(), where(city in ('York',))", "count(), where(city == 'York')", True),
        ("mean(fare), by(city)", "sum(fare), by(city)", False),
        ("count(), where(present(remark))", "count()", False),
        ("mean(fare), count(km > 5)", "mean(fare), count(km > 9)", False),
        ("share(km > 5)", "share(km > 9)", False),
        ("count(), where(km > 5)", "count(), where(km >= 5)", False),
        ("mean(fare), by(city)", "mean(fare)", False),
        ("rows(), top(3, fare)", "rows(), top(5, fare)", False),
    ],
)
def test_plans_of_one_meaning(first: str, second: str, is_same: bool) -> None:
    assert meaning_of(plan_for(first)).agrees(meaning_of(plan_for(second))) is is_same


@pytest.mark.parametrize(
    ("question", "program", "words"),
    [
        ("average fare in york", "mean(fare)", ["york"]),
        ("average fare in york", "mean(fare), where(city == 'York')", []),
        ("average fare in york", "mean(fare), where(city == 'York', member == False)", ["false"]),
        ("average fare", "mean(fare), where(city == 'Hull')", ["hull"]),
        ("average fare per city", "mean(fare), by(city)", []),
        ("average fare and km", "mean(fare)", ["km"]),
        ("average fare of each member", "mean(fare), by(member)", []),
        ("bottom 2 cities by fare", "mean(fare), by(city), bottom(1, mean(fare))", ["2"]),
        ("bottom 2 cities by fare", "mean(fare), by(city), bottom(2, mean(fare))", []),
    ],
)
def test_words_and_conditions_of_a_plan_belong_together(question: str, program: str, words: list[str]) -> None:
    items = mark_items(question, [TRIPS]).items
    entry = reading_of(program)
    columns = [*plan_columns(entry.plan, entry.reading.scope)]
    assert unclaimed_words(entry.plan, items, columns) == words


def test_a_plan_of_the_yes_of_a_column_that_denies_the_word_is_not_taken() -> None:
    cars = TableProfile("cars", 6, (Column("accident_free", "boolean", "boolean", 2),))
    condition = build.compare("=", build.column("accident_free"), build.literal(True))
    plan = Plan(source=DatasetSource(kind="dataset", table="cars"), steps=[build.keep(condition)])
    for question, words in (("cars with an accident", ["accident"]), ("accident free cars", [])):
        assert unclaimed_words(plan, mark_items(question, [cars]).items, cars.columns) == words

"""The rules that find conditions in a question, in their order: a phrase that one takes is not read again."""

from app.agents.questions.conditions.missing_conditions import parse_missing, parse_statuses
from app.agents.questions.conditions.number_conditions import (
    parse_comparisons,
    parse_equal_numbers,
    parse_pairs,
    parse_ranges,
)
from app.agents.questions.conditions.statistic_comparisons import (
    parse_adjective_comparisons,
    parse_deviations,
    parse_relative,
    parse_top_shares,
)
from app.agents.questions.conditions.text_conditions import parse_contained, parse_text_matches
from app.agents.questions.conditions.value_conditions import parse_flags, parse_literals, parse_values
from app.agents.questions.question_reading import QuestionReading


def parse_bounds(reading: QuestionReading) -> None:
    """Parse conditions of fixed phrases: parts of texts, missing values, states and bounds of numbers."""
    for rule in (
        parse_text_matches,
        parse_missing,
        parse_statuses,
        parse_deviations,
        parse_top_shares,
        parse_adjective_comparisons,
        parse_relative,
        parse_pairs,
    ):
        rule(reading)


def parse_conditions(reading: QuestionReading) -> None:
    """Parse conditions on values; dates come before."""
    for rule in (
        parse_bounds,
        parse_ranges,
        parse_comparisons,
        parse_equal_numbers,
        parse_values,
        parse_literals,
        parse_flags,
        parse_contained,
    ):
        rule(reading)

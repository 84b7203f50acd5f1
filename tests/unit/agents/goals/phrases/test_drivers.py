"""Goals that ask what a target goes with, and the rewriting that names their target."""

import pytest

from app.agents.goals.phrases.drivers import asks_for_drivers, name_driver_target


@pytest.mark.parametrize(
    "goal",
    [
        "What drives rents?",
        "help me understand what influences the yield",
        "Which factors matter for attendance?",
        "Why do patients miss their appointments?",
        "who cancels, and why",
        "key drivers of demand",
        "Which variables have the biggest impact on wait_min?",
        "Explain the fuel use",
        "What makes flights late?",
        "what moves the price of copper",
        "What reduces waste?",
        "Does rain affect attendance?",
        "How does soil influence the yield",
        "On what does the yield depend?",
        "What correlates with attendance?",
        "feature importance for yield",
        "which characteristics made survival more likely",
        "What are the reasons for cancellations",
    ],
)
def test_goals_that_ask_for_drivers(goal: str) -> None:
    assert asks_for_drivers(goal)


@pytest.mark.parametrize(
    "goal",
    [
        "Predict the rent",
        "Which drivers will have an accident?",
        "How many reasons for leaving are there?",
        "What is the mean yield by soil?",
        "Which store has the highest sales?",
        "What are the most common causes of delay?",
        "Forecast demand for the next 12 weeks",
        "Which customers will leave?",
        "Which model makes the best forecasts?",
        "Find a feature set and train an explainable model of wait_min",
        "",
    ],
)
def test_goals_that_ask_for_something_else(goal: str) -> None:
    assert not asks_for_drivers(goal)


@pytest.mark.parametrize(
    ("goal", "target"),
    [
        ("Which factors matter most for the rent of a flat?", "rent of a flat"),
        ("which features are important for predicting wait_min", "wait_min"),
        ("Which variables have the biggest impact on `Wait (min)`?", "`Wait (min)`"),
        ("What explains differences in yield?", "yield"),
        ("Why are some flats more expensive than others?", "What makes flats expensive"),
        ("What drives rents?", "What drives rents"),
        ("what predicts the rent", "What drives the rent"),
    ],
)
def test_the_target_becomes_the_object_of_a_verb(goal: str, target: str) -> None:
    assert target in name_driver_target(goal)


def test_a_pronoun_leaves_the_clause_that_names_the_target() -> None:
    assert name_driver_target("Predict the rent and explain what drives it").strip() == "Predict the rent and"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("which leads will convert", False),
        ("what leads to churn", True),
        ("which habits lead to good grades", True),
    ],
)
def test_leads_are_drivers_only_where_they_lead_to_something(text: str, expected: bool) -> None:
    assert asks_for_drivers(text) is expected

"""Requests that are not served, and goals in other languages."""

from dataclasses import asdict

import pytest
from tests.corpora.conversations import run_planner

from app.agents.assistant.brief import ChatBrief
from app.agents.assistant.offline_rules import decide
from app.agents.goals.refusals import unserved_requests
from app.agents.goals.refusals.languages import describe_language_refusal, foreign_language
from app.agents.goals.refusals.unserved_requests import find_unserved
from app.agents.planner.output import Plan

from ...conftest import conversation


@pytest.mark.parametrize(
    ("goal", "what"),
    [
        ("always send an email when the price drops", "messages"),
        ("Can you notify the night shift?", "messages"),
        ("Please remind me every Monday", "appointments"),
        ("Put a note in my calendar", "appointments"),
        ("Buy 100 shares of it", "trades"),
        ("fetch the newest rows from the supplier's page", "web"),
        ("Delete the rows without a price", "stored"),
        ("What is the meaning of life?", "chat"),
        ("I want you to translate the comments", "chat"),
    ],
)
def test_a_request_that_is_not_served_is_named(goal: str, what: str) -> None:
    unserved = find_unserved(goal)
    assert unserved
    assert what in unserved.sentence


@pytest.mark.parametrize(
    ("goal", "is_told"),
    [("always send an email when the price drops", True), ("Buy 100 shares of it", False)],
)
def test_what_a_workflow_does_is_told_with_its_place(goal: str, is_told: bool) -> None:
    price = {"name": "price", "type": "number", "hint": "numeric", "distinct": 90, "min": 1.0, "max": 9.0}
    planned = run_planner(goal, [{"table": "prices", "rows": 100, "columns": [price]}])
    assert isinstance(planned, Plan)
    assert not planned.is_understood
    assert ("labcrew chat" in planned.notes[0]) == is_told


@pytest.mark.parametrize(
    "goal",
    [
        "Who will buy again?",
        "We sell shoes and pay for returns. Which orders come back?",
        "text length by category",
        "How many orders were placed?",
        "order value of new customers",
        "Will the client book a second night?",
    ],
)
def test_a_goal_about_such_events_is_served(goal: str) -> None:
    assert find_unserved(goal) is None


@pytest.mark.parametrize(
    ("goal", "language"),
    [
        ("Welche Kunden werden uns verlassen?", "German"),
        ("Quels sont les clients qui vont partir ?", "French"),
        ("\u00bfCu\u00e1ntos pedidos se cancelaron en mayo?", "Spanish"),
        ("Quanto ser\u00e1 o pre\u00e7o do im\u00f3vel no pr\u00f3ximo ano?", "Portuguese"),
        ("Quali clienti non pagheranno la rata?", "Italian"),
        ("Sage den Betrag voraus", "German"),
        ("Pr\u00e9dire le montant", "French"),
        ("Predice el importe", "Spanish"),
        ("Preveja o valor", "Portuguese"),
        ("Prevedi il prezzo", "Italian"),
        ("Which customers will leave us?", None),
        ("Predict Umsatz per Filiale", None),
        ("I expect hard frost, i.e. cold nights", None),
        ("Make a classifier", None),
        ("", None),
        ("total clicks per advert in August 2023", None),
    ],
)
def test_a_language_is_told_by_its_stop_words(goal: str, language: str | None) -> None:
    assert foreign_language(goal) == language


@pytest.mark.parametrize(
    "goal",
    [
        "Welche Kunden werden uns verlassen?",
        "Sage den Betrag voraus",
        "Predice el importe",
        "Combien de clients ?",
    ],
)
def test_sessions_and_conversations_refuse_a_language_by_the_same_sentence(goal: str) -> None:
    amount = {"name": "amount", "type": "number", "hint": "numeric", "distinct": 90, "min": 1.0, "max": 9.0}
    table = {"table": "invoices", "rows": 100, "columns": [amount]}
    refusal = describe_language_refusal(goal)
    assert refusal
    planned = run_planner(goal, [table])
    assert isinstance(planned, Plan)
    assert not planned.is_understood
    assert planned.notes[0] == refusal
    assert decide(conversation(asdict(ChatBrief(goal, [table])))).text == refusal


def test_the_requests_of_a_text_are_looked_for_once_however_many_clauses_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def count(text: str) -> bool:
        calls.append(text)
        return False

    monkeypatch.setattr(unserved_requests, "has_request", count)
    text = "amounts by day, " * 500
    assert find_unserved(text) is None
    assert calls == [text]


@pytest.mark.parametrize(
    "goal",
    [
        "what if we raised the price by 10 percent",
        "What happens when it rains?",
        "if we doubled the price, what would the sales be",
        "how much would sales drop if we closed on mondays",
    ],
)
def test_what_would_happen_is_not_computed(goal: str) -> None:
    columns = [
        {"name": name, "type": "number", "hint": "numeric", "distinct": 90, "min": 1.0, "max": 9.0}
        for name in ("price", "sales")
    ]
    planned = run_planner(goal, [{"table": "shops", "rows": 100, "columns": columns}])
    assert isinstance(planned, Plan)
    assert not planned.is_understood
    assert "other circumstances" in planned.notes[0]

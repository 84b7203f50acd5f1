"""A chat model that ignores what the user requires never delivers a model against it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.fast_families import FAST_FAMILIES
from tests.scripted_chat import ScriptedChat, by_policy, messages_of, output_of, serving

from app.agents.runtime.conversation import read_conversation
from app.agents.state import LabState, SessionState, read_state
from app.llm.config import ChatConfig
from app.sessions.in_memory import MemoryDrive, MemoryJournal

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
QUICK = {"time_budget_s": 60, "deterministic": True, "seed": 3, "clarify": "never", **FAST_FAMILIES}
LIMIT_S = 3
"""Seconds that every study may take: too few for a round of tuning, which a budget of 60 s has time for."""

Change = Callable[[str, dict[str, Any]], tuple[str, dict[str, Any]]]
Calls = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Study:
    """A goal, its requirements as words and as settings of a plan, and the SELECT that evades them.

    `forgotten`: the plan's settings as a model has them that ignores the requirements.
    """

    table: str
    goal: str
    target: str
    words: str
    settings: dict[str, Any]
    evasive_sql: str
    forbidden: set[str]
    forgotten: dict[str, Any] = field(default_factory=dict)
    families: tuple[str, ...] = ()


PENGUINS = Study(
    "penguins",
    "Predict the body mass of penguins",
    "body_mass_g",
    "Do not use the island. Judge it by mae, with ridge regression. Take at most 3 seconds.",
    {"exclude": ["island"], "metric": "mae", "families": ["Ridge"]},
    "SELECT *, island AS place, upper(island) FROM penguins",
    {"island", "place", "upper(island)"},
    {"metric": "r2"},
    ("Ridge",),
)
TITANIC = Study(
    "titanic_all",
    "Predict who of the Titanic survived",
    "survived",
    "Leave the sex out. Judge it by log loss, with logistic regression. "
    "A missed survivor costs five times as much as a false alarm. Take at most 3 seconds.",
    {
        "exclude": ["sex"],
        "metric": "log_loss",
        "families": ["LogisticRegression"],
        "costs": {"false_alarm": 1, "missed": 5},
    },
    "SELECT *, sex AS kind, upper(sex) FROM titanic_all",
    {"sex", "kind", "upper(sex)"},
    {"metric": "accuracy", "costs": {"false_alarm": 1, "missed": 1}},
    ("LogisticRegression",),
)
SALES = Study(
    "shop",
    "Predict the takings",
    "takings",
    "Predict it 4 days ahead. Do not use the rain. Judge it by mae, with ridge regression. "
    "Take at most 3 seconds.",
    {"exclude": ["rain"], "metric": "mae", "families": ["Ridge"], "horizon": 4, "time_column": "day"},
    "SELECT *, rain AS water, rain + 1 FROM shop",
    {"rain", "water", "(rain + 1)"},
    {"metric": "rmse", "horizon": 1, "time_column": "day"},
    ("Ridge",),
)
STUDIES = {"columns of rows": PENGUINS, "costs": TITANIC, "horizon": SALES}
SOURCES = ("preferences", "words", "answer", "edited plan", "request")
MATRIX = [
    *(("columns of rows", source) for source in SOURCES),
    *((study, source) for study in ("costs", "horizon") for source in ("preferences", "answer", "edited plan")),
]
"""Studies with the sources of their requirements. What words say is read alike, so that two sources of them
suffice for the others; every setting and source is a test of tests/unit/agents/planner."""
QUESTION = "Is there anything that I must know?"


def careless(study: Study) -> Change:
    """Return the calls of a model that forgets every requirement."""

    def change(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        match name:
            case "Plan":
                empty = {"exclude": [], "families": [], "model": None, "costs": None, "time_limit_s": None}
                return name, {**arguments, **empty, **study.forgotten}
            case "Retrieved":
                return name, {**arguments, "exclude": []}
            case "fetch_dataset":
                return "execute_sql", {"sql": study.evasive_sql, "keep": True}
            case "train_regression_model":
                candidates = [{"estimator": estimator} for estimator in ("baseline", "Ridge", "LightGBM")]
                return name, {**arguments, "candidates": candidates}
            case "train_classification_model":
                names = ("baseline", "LogisticRegression", "LightGBM")
                return name, {**arguments, "candidates": [{"estimator": estimator} for estimator in names]}
            case "Verdict":
                return name, {**arguments, "chosen": "Ensemble", "tune": True}
        return name, arguments

    return change


def sales(days: int = 260) -> pd.DataFrame:
    """Daily sales with a week's rhythm, and rain that tells a part of them."""
    rng = np.random.default_rng(0)
    rain = rng.gamma(2, 2, days).round(2)
    rhythm = 10 * np.sin(2 * np.pi * np.arange(days) / 7)
    day = pd.date_range("2025-01-01", periods=days)
    return pd.DataFrame(
        {"day": day, "rain": rain, "takings": (80 + rhythm - rain + rng.normal(size=days)).round(2)}
    )


async def run_careless(
    lab: Any, study: Study, goal: str, preferences: dict[str, Any], answers: dict[str, Any], folder: Path
) -> tuple[MemoryDrive, SessionState]:
    path = DATA / f"{study.table}.csv"
    if study is SALES:
        path = folder / "shop.csv"
        sales().to_csv(path, index=False)
    await lab.upload(path)
    change, is_asking = careless(study), "tool:0.0" in answers

    def tampered(asked: dict[str, Any], place: int) -> AIMessage:
        if is_asking and output_of(asked) == "Plan":
            plan = {"tables": [study.table], "target": study.target, "steps": ["Go."]}
            ask = ("ask_user", {"question": QUESTION, "free_text": True})
            return _message([ask] if place == 0 else [change("Plan", plan)])
        message = by_policy(asked, place)
        return _message([change(call["name"], call["args"]) for call in message.tool_calls], message.text)

    with serving(ScriptedChat(tampered)) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"})
        journal = MemoryJournal(answers=answers)
        drive: MemoryDrive = lab.drive(goal, {**QUICK, **preferences}, journal, config)
        state = await drive.run()
    assert "__interrupt__" not in state
    return drive, read_state(cast("LabState", state))


def _message(calls: Calls, text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=[tool_call(name=name, args=args, id=None) for name, args in calls])


def delivered(drive: MemoryDrive) -> dict[str, Any]:
    """Return the facts of the model that the hold-out was opened for."""
    [final] = [done.value for call, done in drive.journal.recorded if call.name == "final_evaluation"]
    [fit] = [d.meta["fit"] for d in drive.journal.artifacts if d.kind == "model" and d.name == final["model"]][
        -1:
    ]
    return {**fit, "final_metric": final["metric"]}


def inputs(fit: dict[str, Any]) -> set[str]:
    return {column["name"] for column in fit["schema"]}


@pytest.mark.parametrize(("name", "source"), MATRIX, ids=[" by ".join(case) for case in MATRIX])
async def test_a_delivered_model_meets_every_requirement(lab, tmp_path: Path, name: str, source: str) -> None:
    study, preferences, answers = STUDIES[name], dict[str, Any](), dict[str, Any]()
    goal, limited = study.goal, {**study.settings, "time_limit_s": LIMIT_S}
    match source:
        case "preferences":
            preferences = {**study.settings, "time_budget_s": LIMIT_S}
        case "words":
            goal = f"{study.goal}. {study.words}"
        case "answer":
            answers = {"tool:0.0": study.words}
        case "edited plan":
            preferences = {"review_plan": True}
            answers = {"review:0": {"decision": "edit", "plan": limited}}
        case "request":
            preferences = {"review_plan": True}
            answers = {"review:0": study.words, "review:1": "go on"}
    drive, state = await run_careless(lab, study, goal, preferences, answers, tmp_path)
    fit = delivered(drive)
    assert not inputs(fit) & study.forbidden
    assert (fit["metric"], fit["final_metric"]) == (study.settings["metric"],) * 2
    assert fit["estimator"] in study.families
    assert state.problem.horizon == study.settings.get("horizon")
    if costs := study.settings.get("costs"):
        assert state.problem.costs == (costs["false_alarm"], costs["missed"])
    assert state.training_preferences.time_budget_s == LIMIT_S
    assert "hyperparameter_tuning" not in {node for node, _ in drive.journal.steps.values()}


@pytest.mark.parametrize("asking", ["Prepared", "Verdict"])
async def test_an_answer_to_a_later_agent_leaves_columns_out(lab, asking: str) -> None:
    """An answer after the fits leads to fits without the column, under its other names too."""
    await lab.upload(DATA / "penguins.csv")
    change = careless(PENGUINS)

    def tampered(asked: dict[str, Any], place: int) -> AIMessage:
        is_first = sum(message["role"] == "assistant" for message in asked["messages"]) == 0
        ask = ("ask_user", {"question": QUESTION, "free_text": True})
        if output_of(asked) == asking == "Prepared":
            source = "def transform(frame, state):\n    return frame[[]].assign(home=frame['island'])\n"
            write = ("write_features", {"columns": ["island"], "source": source, "name": "homes"})
            return _message([ask, write] if is_first else [("Prepared", {"frame": "homes"})])
        if output_of(asked) == asking and is_first and '"island"' not in _excluded(asked):
            return _message([ask])
        message = by_policy(asked, place)
        return _message([change(call["name"], call["args"]) for call in message.tool_calls], message.text)

    with serving(ScriptedChat(tampered)) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"})
        journal = MemoryJournal(answers={"tool:0.0": "Do not use the island."})
        drive: MemoryDrive = lab.drive(PENGUINS.goal, {**QUICK, "time_budget_s": LIMIT_S}, journal, config)
        assert "__interrupt__" not in await drive.run()
    assert not inputs(delivered(drive)) & PENGUINS.forbidden
    nodes = [node for node, _ in drive.journal.steps.values()]
    assert nodes.count("model_training") == (2 if asking == "Verdict" else 1)


def _excluded(asked: dict[str, Any]) -> str:
    """Return the columns that the problem of the brief excludes, as JSON."""
    brief = read_conversation(messages_of(asked["messages"])).brief
    return json.dumps(brief["problem"]["exclude"])


@pytest.mark.parametrize("model", ["single", "interpretable"])
async def test_a_wished_kind_of_model_is_never_an_ensemble(lab, tmp_path: Path, model: str) -> None:
    preferences = {"model": model, "time_budget_s": LIMIT_S}
    drive, _ = await run_careless(lab, PENGUINS, PENGUINS.goal, preferences, {}, tmp_path)
    linear, any_family = ("Ridge",), ("Ridge", "LightGBM")
    assert delivered(drive)["estimator"] in (linear if model == "interpretable" else any_family)

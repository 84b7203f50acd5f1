"""The report of a forecast that was traded: the verdict first, every figure a claim."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.modeling.markets.backtest import TradingTerms
from app.modeling.markets.backtest_report import backtest_report
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.table.json_values import to_json_value
from app.recorded_call import RecordedCall
from app.reporting import html, markdown
from app.reporting.compose import compose
from app.reporting.document.inline_elements import plain_text
from app.reporting.figure_choice import backtest_figures
from app.reporting.figures.drawing import draw
from app.reporting.pages.answer import headline
from app.reporting.verification import verify_report

from .conftest import drawn_figures, make_draft

BARS = 900
PROBLEM = Problem(
    "close",
    ProblemKind.REGRESSION,
    "rmse",
    time_column="ts",
    horizon=3,
    group_column="coin",
    outlook=Outlook.CHANGE,
)


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    """Two coins, and a model that says nothing of them."""
    chance = np.random.default_rng(0)
    times = pd.date_range("2025-01-01", periods=BARS, freq="h")
    coins = [
        pd.DataFrame({"ts": times, "coin": coin, "close": 9 * np.exp(np.cumsum(chance.normal(0, 0.01, BARS)))})
        for coin in ("BTC", "ETH")
    ]
    table = pd.concat(coins).sort_values(["ts", "coin"]).reset_index(drop=True)
    train, holdout = table.iloc[:1400], table.iloc[1400:].reset_index(drop=True)
    rows = np.arange(700, 1400)
    said = {name: (rows, chance.normal(0, 0.01, len(rows))) for name in ("a", "b")}
    guessed = chance.normal(0, 0.01, len(holdout))
    made: dict[str, Any] = to_json_value(
        backtest_report(train, holdout, PROBLEM, TradingTerms(5, 1), guessed, said, "a")[0]
    )
    return made


@pytest.fixture
def traded(titanic: list[RecordedCall], facts: dict[str, Any]) -> list[RecordedCall]:
    last = next(call for call in reversed(titanic) if call.tool == "final_evaluation")
    call = replace(last, key="tool:0.3", tool="backtest_model", result=facts)
    place = titanic.index(last) + 1
    return [*titanic[:place], call, *titanic[place:]]


def test_no_edge_is_the_headline(traded, facts):
    assert not facts["edge"]
    assert plain_text(headline(make_draft(traded))).startswith("No edge after costs: ")


def test_every_number_of_the_section_is_a_claim_and_every_figure_has_its_place(traded, facts):
    figures = [each for each in drawn_figures(traded) if each.name.startswith("backtest_")]
    draft = make_draft(traded, figures=figures)
    report = compose(draft)
    [section] = [each for each in report.blocks if each.kind == "trading"]
    images = {each.name: b"<svg></svg>" for each in figures}
    page, text = html.render(report.lay_out(), images), markdown.render(report.lay_out())
    verdict = verify_report(report.to_json(), draft.calls, page, text)
    assert verdict.passes, verdict.mismatches
    assert len(section.elements[-1].pictures) == len(figures) == 4
    for said in ("buy and hold", "persistence", "drift", "calm", "wild", "ETH", "basis points", "Do not trade"):
        assert said in text


def test_a_backtest_recorded_by_another_node_is_ignored(traded):
    moved = [replace(call, node="data_analysis") if call.tool == "backtest_model" else call for call in traded]
    assert "trading" not in {block.kind for block in compose(make_draft(moved)).blocks}


def test_a_backtest_has_all_its_figures(facts):
    made = backtest_figures(facts, "close")
    assert [each.kind for each in made] == [
        "backtest_price",
        "backtest_signal",
        "backtest_equity",
        "backtest_drawdown",
    ]
    assert all(draw(each.kind, each.facts).svg.startswith(b"<?xml") for each in made)


def test_bars_by_coin_sum_to_the_total(facts):
    """Coins share the capital equally, so nothing is earned that no coin earned."""
    assert {each["coin"] for each in facts["by_coin"]} == {"BTC", "ETH"}
    assert sum(each["bars"] for each in facts["by_regime"] if each["kind"] == "trend") == facts["bars"]

"""The table of results that a chat model reads in place of the facts of fits."""

import json
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from app.agents.runtime.context_trimming import MAX_MESSAGE_CHARACTERS, trim_messages
from app.agents.runtime.conversation import from_data_block, make_brief_message, to_data_block
from app.agents.runtime.results_table import tabulate
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import FitSummary


def fit(name: str, *scores: float | None, **facts: Any) -> dict[str, Any]:
    present = [score for score in scores if score is not None]
    return {
        "name": name,
        "estimator": "LightGBM",
        "metric": "rmse",
        "greater_is_better": False,
        "score": sum(present) / len(present),
        "fold_scores": list(scores),
        "fold_count": len(present),
        "folds": {"kind": "random", "count": len(scores), "seed": 1},
        "fit_s": 1.23456789,
        "calibration": {"x": list(range(300))},
        **facts,
    }


def test_a_row_has_the_difference_to_the_best_on_the_folds_of_both_and_its_error() -> None:
    best, other, single = tabulate(
        [fit("a", 1.0, 2.0, 3.0), fit("b", 1.5, 2.5, 3.8), fit("c", 4.0, None, None)]
    )
    assert "behind" not in best
    assert (other["behind"], other["behind_error"]) == (0.6, 0.1)
    assert (single["behind"], single["behind_error"]) == (3.0, None)


def test_all_candidates_and_all_folds_reach_a_chat_model() -> None:
    fits = [fit(f"c{n}", *(n + k / 7 for k in range(5)), recipe=[{"op": "log1p"}]) for n in range(24)]
    message = ToolMessage(to_data_block({"fits": fits, "left_out": []}), tool_call_id="1")
    assert len(message.text) > MAX_MESSAGE_CHARACTERS
    [brief, _, sent] = trim_messages([make_brief_message({"fits": fits}), AIMessage(""), message], 128_000)
    assert isinstance(brief, HumanMessage)
    for shown in (brief, sent):
        table: Any = from_data_block(shown.text)
        assert [row["name"] for row in table["fits"]] == [entry["name"] for entry in fits]
        assert all(len(row["fold_scores"]) == 5 for row in table["fits"])
        assert "calibration" not in json.dumps(table)
        assert table["fits"][0]["operations"] == ["log1p"]
        assert parse_facts(FitSummary, table["fits"][3]).fit_s == 1.23457

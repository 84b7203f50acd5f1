"""A study as a search: proposed features are kept, dropped or refused, and the evaluation sends work back."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.scripted_chat import ScriptedChat, by_policy, messages_of, output_of, serving

from app.agents.runtime.conversation import read_conversation
from app.llm.config import ChatConfig

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

GOAL = "Predict struck"
PREFERENCES = {
    "time_budget_s": 20,
    "deterministic": True,
    "seed": 3,
    "clarify": "never",
    "exclude": ["outcome"],
    "families": ["LightGBM"],
}
COLUMNS = ["east", "north"]
USEFUL = """
import numpy as np

def transform(frame, state):
    return frame[[]].assign(stripe=np.floor(6 * (frame["east"] + frame["north"])) % 2)
"""
USELESS = """
def transform(frame, state):
    return frame[[]].assign(twice=2 * frame["east"])
"""
LEAKING = """
def transform(frame, state):
    return frame[[]].assign(hint=frame["outcome"] + 1)
"""
ANALYST = [
    [
        ("write_features", {"columns": ["outcome"], "source": LEAKING, "name": "leak"}),
        ("write_features", {"columns": ["east"], "source": USELESS, "name": "useless"}),
    ],
    [("Prepared", {"frame": "useless", "notes": ["Twice the east might help."]})],
]
SECOND_ANALYST = [
    [("write_features", {"columns": COLUMNS, "source": USEFUL, "name": "stripes"})],
    [("Prepared", {"frame": "stripes"})],
]
ERRORS = "[len(errors), errors['error'].mean(), sorted(set(errors.columns) - {'p_0', 'p_1'})]"
REASON = "The errors lie in diagonal stripes: make a feature of them."


def searcher(asked: dict[str, Any], place: int) -> AIMessage:
    """The analyst proposes; the evaluator sends the work back once; the others follow their policies."""
    conversation = read_conversation(messages_of(asked["messages"]))
    brief, turn = conversation.brief, sum(m["role"] == "assistant" for m in asked["messages"])
    match output_of(asked):
        case "Prepared":
            script = SECOND_ANALYST if brief["fits"] else ANALYST
            return _calls(*script[turn])
        case "Verdict" if brief["can_return"] and not any(REASON in note["text"] for note in brief["notes"]):
            name = brief["fits"][-1]["name"]
            if turn == 0:
                return _calls(("evaluate_model", {"model": name}))
            if turn == 1:
                return _calls(("run_python", {"code": ERRORS}))
            verdict = {"chosen": name, "back_to": "feature_engineering", "reason": REASON}
            return _calls(("Verdict", verdict))
    return by_policy(asked, place)


def _calls(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage(
        "", tool_calls=[tool_call(name=name, args=arguments, id=None) for name, arguments in calls]
    )


def stripes(rows: int = 900) -> pd.DataFrame:
    """Diagonal stripes that trees do not find among so few points; `outcome` gives them away."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(size=(rows, 3)).round(4), columns=[*COLUMNS, "depth"])
    inside = np.floor(6 * (table["east"] + table["north"])) % 2 > 0
    struck = inside ^ (rng.random(rows) < 0.1)
    return table.assign(outcome=np.where(struck, 5, 7), struck=np.where(struck, "yes", "no"))


async def test_features_are_kept_dropped_or_refused_and_the_work_goes_back_with_a_reason(lab, tmp_path: Path):
    stripes().to_csv(tmp_path / "strikes.csv", index=False)
    await lab.upload(tmp_path / "strikes.csv")
    with serving(ScriptedChat(searcher)) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"})
        drive = lab.drive(GOAL, PREFERENCES, chat=config)
        result = drive.spec.result(await drive.run())
    recorded = [(call, done) for call, done in drive.journal.recorded if call.kind == "tool"]
    [refused] = [done.value for call, done in recorded if call.name == "write_features" and done.failed]
    assert refused["error"]["type"] == "refused_by_policy"
    assert "'outcome'" in refused["error"]["message"]
    gains = [done.value for call, done in recorded if call.name == "score_features"]
    assert [(gain["frame"], gain["verdict"]) for gain in gains] == [("useless", "dropped"), ("stripes", "kept")]
    frames = [call.request["frame"] for call, _ in recorded if call.name == "train_classification_model"]
    assert frames == ["train", "stripes"]
    nodes = [node for node, _ in drive.journal.steps.values()]
    assert nodes.count("feature_engineering") == nodes.count("model_training") == 2
    assert result["holdout"]["value"] > 0.85
    [seen] = [done.value["result"] for call, done in recorded if call.name == "run_python"]
    [evaluated] = [done.value for call, done in recorded if call.name == "evaluate_model"]
    assert seen[0] == evaluated["rows"]
    assert 0.3 < seen[1] < 0.6  # half of the stripes are guessed wrong
    assert seen[2] == ["depth", "east", "error", "north", "row", "truth"]
    names = [entry["name"] for entry in result["leaderboard"]]
    assert {"LightGBM", "LightGBM-2"} <= set(names)
    notes = [note["text"] for note in result["notes"]]
    assert REASON in notes
    assert any("`useless` are dropped" in note for note in notes)

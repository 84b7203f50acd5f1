"""Agents that write Python: a chat model over HTTP makes learnable what was not, and what peeks is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.patience import HANG_GUARD_S
from tests.scripted_chat import ScriptedChat, by_policy, output_of, serving

from app.agents.roster import assemble_crew
from app.errors import Unavailable
from app.llm.config import ChatConfig
from app.sandbox.computation_runner import ComputationFailed
from app.sandbox.exchange.contract import Computation, Limits
from app.sessions.in_memory import MemoryJournal
from app.tools.toolsets import Toolsets

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

GOAL = "Predict struck"
QUICK = {"time_budget_s": 10, "deterministic": True, "seed": 3, "clarify": "never"}
COLUMNS = ["east", "north"]

STRIPES = """
import numpy as np

def transform(frame, state):
    return frame[[]].assign(stripe=np.floor(6 * (frame["east"] + frame["north"])) % 2)
"""
READS_THE_HOLDOUT = """
import pandas as pd

def transform(frame, state):
    return frame.assign(answer=pd.read_parquet("holdout.parquet")["struck"])
"""
USES_OTHER_ROWS = """
def transform(frame, state):
    return frame.assign(beside=(frame["east"] + frame["north"]).rank())
"""
NEAREST = """
from sklearn.neighbors import KNeighborsClassifier

def fit(X, y):
    return KNeighborsClassifier(25, algorithm="brute").fit(X, y)

def predict_proba(X, state):
    return state.predict_proba(X)
"""
ESCAPES = "def fit(X, y):\n    return fit.__globals__\ndef predict_proba(X, state):\n    return X"

ANALYST = [
    ("write_features", {"columns": COLUMNS, "source": READS_THE_HOLDOUT, "name": "peek"}),
    ("write_features", {"columns": COLUMNS, "source": USES_OTHER_ROWS, "name": "peek"}),
    ("write_features", {"columns": COLUMNS, "source": STRIPES, "name": "stripes"}),
    ("Prepared", {"frame": "stripes"}),
]
CANDIDATES = [{"estimator": name} for name in ("baseline", "LightGBM", "Near")]
TRAINER = [
    ("write_estimator", {"name": "Escape", "source": ESCAPES, "frame": "stripes"}),
    ("write_estimator", {"name": "Near", "source": NEAREST, "frame": "stripes"}),
    ("train_classification_model", {"frame": "stripes", "candidates": CANDIDATES, "folds": [0]}),
    ("Trained", {"notes": []}),
]
SCRIPTS = {"Prepared": ANALYST, "Trained": TRAINER}


def coder(asked: dict[str, Any], place: int) -> AIMessage:
    """Analyst and trainer follow their scripts, the others their policies."""
    script = SCRIPTS.get(output_of(asked))
    if script is None:
        return by_policy(asked, place)
    said = sum(message["role"] == "assistant" for message in asked["messages"])
    name, arguments = script[said]
    return AIMessage("", tool_calls=[tool_call(name=name, args=arguments, id=None)])


def stripes(rows: int = 900) -> pd.DataFrame:
    """Diagonal stripes, too narrow for trees to find among so few points; a tenth of them is noise."""
    rng = np.random.default_rng(0)
    made = pd.DataFrame(rng.uniform(size=(rows, 3)).round(4), columns=[*COLUMNS, "depth"])
    inside = np.floor(6 * (made["east"] + made["north"])) % 2 > 0
    return made.assign(struck=np.where(inside ^ (rng.random(rows) < 0.1), "yes", "no"))


def refusals(journal: MemoryJournal, tool: str) -> list[str]:
    return [done.summary for call, done in journal.recorded if call.name == tool and done.failed]


async def test_code_that_agents_write_is_tried_approved_judged_delivered_and_told(lab, tmp_path: Path) -> None:
    stripes().to_csv(tmp_path / "strikes.csv", index=False)
    await lab.upload(tmp_path / "strikes.csv")
    without = lab.drive(GOAL, QUICK)
    before = without.spec.result(await without.run())
    approvals = {f"approve:tool:{turn}.0": "approve" for turn in range(3)}
    with serving(ScriptedChat(coder)) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"})
        crew = assemble_crew(config, Toolsets(approve=["write_features"]))
        drive = lab.drive(GOAL, QUICK, MemoryJournal(approvals), crew=crew)
        result = drive.spec.result(await drive.run())
    journal = drive.journal

    reads, peeks = refusals(journal, "write_features")
    assert "read_parquet" in reads
    assert "no files" in reads
    assert "other" in peeks
    [escape] = refusals(journal, "write_estimator")
    assert "__globals__" in escape
    asked = [question.about for question in journal.questions if question.kind == "approval"]
    assert [about["tool"] for about in asked] == ["write_features"] * 3
    assert STRIPES in asked[2]["preview"]

    assert before["holdout"]["value"] < 0.7
    assert result["holdout"]["value"] > 0.85
    assert "Near" in {fit["name"] for fit in result["leaderboard"]}

    told = {draft.name: draft.digest for draft in journal.artifacts}
    card = (await read(lab, told["model_card.md"])).decode()
    assert STRIPES.strip().splitlines()[-1] in card
    notebook = json.loads(await read(lab, told["notebook.ipynb"]))
    sources = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert "code=define" in sources
    assert repr(STRIPES.strip().splitlines()[-1]) in sources

    model = next(draft for draft in reversed(journal.artifacts) if draft.kind == "model")
    points = [{"east": east, "north": 0.0, "depth": 0.5} for east in (0.08, 0.25, 0.42, 0.58)]
    work = Computation("models.predict.predict", {"rows": points}, trusted=False)
    said: Any = (await lab.computer.run(work, {"model": model.digest})).value
    assert [each["prediction"] for each in said["predictions"]] == ["no", "yes", "no", "yes"]
    with pytest.raises(Unavailable, match="only in cells for untrusted work"):
        await lab.computer.run(Computation("models.predict.predict", {"rows": points}), {"model": model.digest})


async def read(lab: Any, digest: str) -> bytes:
    return b"".join([piece async for piece in lab.blobs.open(digest)])


async def test_code_that_never_ends_or_takes_all_memory_is_stopped_and_said(lab, tmp_path: Path) -> None:
    stripes(60).to_parquet(tmp_path / "train.parquet")
    problem = {"target": "struck", "kind": "classification", "metric": "roc_auc", "classes": ["no", "yes"]}
    for body, code, time_s in (
        ("while True:\n        pass", "computation_timed_out", 2.0),
        ("x = [0] * 10**12", "computation_out_of_memory", HANG_GUARD_S),
    ):
        source = f"def transform(frame, state):\n    {body}"
        params = {"problem": problem, "name": "x", "columns": COLUMNS, "source": source}
        with pytest.raises(ComputationFailed, match="limit") as ended:
            await lab.computer.run(
                Computation("preparation.custom_code.write_features", params, trusted=False),
                {"frame": tmp_path / "train.parquet"},
                Limits(time_s=time_s),
            )
        assert ended.value.code == code

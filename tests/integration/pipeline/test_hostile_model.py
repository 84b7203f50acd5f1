"""Models that go on for ever, say nothing, or say far too much: the session still comes to its end."""

from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from tests.fast_families import FAST_FAMILIES
from tests.scripted_chat import ScriptedChat, by_policy, output_of, serving

from app.agents.roster import make_roles
from app.agents.runtime.journal_middleware import AgentLimits
from app.llm.config import ChatConfig

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
GOAL = "Which species is a penguin?"
QUICK = {"time_budget_s": 3, "deterministic": True, "seed": 3, **FAST_FAMILIES}


def calls(*wanted: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage(
        "", tool_calls=[tool_call(name=name, args=arguments, id=None) for name, arguments in wanted]
    )


HABITS = {
    "the same calls for ever": calls(("sudo", {"command": "true"}), ("perform_eda", {"frame": "none"})),
    "empty answers": AIMessage(""),
    "fifty calls at a time": calls(*[("list_files", {})] * 50),
    "a flood of arguments": calls(("write_file", {"name": "a.md", "text": "x" * 300_000})),
    "a flood of words": AIMessage("word " * 60_000),
}
EVERYONE = {role.output.__name__ for role in make_roles().values()}
SLOW = ("a flood of arguments", "a flood of words")
"""What takes seconds to send is said by one agent, twice; anything else by all, for ever."""
LARGEST = 300_000
"""Characters of a request: what was too long comes back to nobody."""


@pytest.mark.parametrize("habit", HABITS)
async def test_every_agent_that_behaves_badly_is_bounded_and_its_work_is_done(habit: str, lab) -> None:
    await lab.upload(DATA / "penguins.csv")
    heard: Counter[str] = Counter()
    sizes: list[int] = []

    def answer(asked: dict[str, Any], place: int) -> AIMessage:
        heard[output_of(asked)] += 1
        sizes.append(sum(len(str(message)) for message in asked["messages"]))
        bad = heard["Prepared"] < 3 if habit in SLOW else True
        who = {"Prepared"} if habit in SLOW else EVERYONE
        return HABITS[habit] if bad and output_of(asked) in who else by_policy(asked, place)

    with serving(ScriptedChat(answer)) as chat:
        config = ChatConfig(
            "openai:scripted", chat.base_url, {"openai": "test"}, streaming=True, max_tokens=4096
        )
        drive = lab.drive(GOAL, QUICK, chat=config)
        result = drive.spec.result(await drive.run())
    assert result["model"]
    assert result["report"]["checked_claims"] > 0
    assert max(heard.values()) <= AgentLimits().model_calls
    assert max(sizes) < LARGEST
    tools = Counter(step for step, key in drive.journal.calls if key.startswith("tool:"))
    assert max(tools.values()) <= 2 * AgentLimits().tool_calls

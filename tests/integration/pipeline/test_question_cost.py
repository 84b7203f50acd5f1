"""Chat calls and prompt tokens of a question, with a scripted model that knows the right calls."""

import pytest
from tests.scripted_chat import ScriptedChat, serving
from tests.suite_model import SuiteModel, prompt_tokens

from app.cli.api_client.responses import SessionResult
from app.cli.scoring.answer_checks import SessionOutcome, find_misses
from app.cli.scoring.suite import Item, read_suite
from app.llm.config import ChatConfig

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUITE = read_suite("hundred")
_HARD = [item for item in SUITE.items if item.level == "hard"]
PART = [*_HARD[::7], *SUITE.items[3::40]]
"""Every seventh hard question and three others: programs, frames of groups, single values and texts. All
hundred are run by the commands of tests/suite_model.py."""
MAX_CALLS = 3
"""The plan, the program, the answer."""
MAX_PROMPT_TOKENS = 9_000
"""Prompt tokens of all calls: what a provider is sent, at four bytes a token."""


@pytest.mark.parametrize("item", PART, ids=[item.id for item in PART])
async def test_a_right_program_is_a_right_answer_in_three_calls_with_short_schemas(lab, item: Item) -> None:
    path = SUITE.files[item.tables[0]]
    await lab.upload(path, path.stem.replace("-", "_"))
    with serving(ScriptedChat(answer=SuiteModel(SUITE))) as chat:
        config = ChatConfig("openai:scripted", chat.base_url, {"openai": "test"})
        drive = lab.drive(item.goal, chat=config)
        result = SessionResult.model_validate(drive.spec.result(await drive.run()))
    assert find_misses(item.expect, SessionOutcome("completed", result)) == []
    assert [call.name for call, outcome in drive.journal.recorded if outcome.failed] == []
    tokens = [prompt_tokens(request) for request in chat.requests]
    assert len(chat.requests) == MAX_CALLS
    assert sum(tokens) <= MAX_PROMPT_TOKENS

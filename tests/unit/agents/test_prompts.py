"""Prompts tell the tools that a chat model is offered, so that none of their schemas is sent for nothing."""

import pytest

from app.agents.roster import make_roles
from app.tools.registry import agent_tools

UNEXPLAINED = {"ask_user", "list_files", "read_file", "write_file", "edit_file"}
"""Tools of several agents, whose own description is enough."""
ROLES = make_roles()


def offered_tools(part: str) -> set[str]:
    """Return the tools that a part of the crew's work is offered; without a list, all tools of its agent."""
    return set(ROLES[part].tools or agent_tools(ROLES[part].name)) - UNEXPLAINED


@pytest.mark.parametrize("part", ROLES)
def test_a_prompt_names_every_tool_that_its_part_is_offered(part: str) -> None:
    prompt = ROLES[part].prompt
    assert {name for name in offered_tools(part) if f"`{name}`" not in prompt} == set()

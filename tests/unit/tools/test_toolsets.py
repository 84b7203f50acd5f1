"""An operator's file narrows the tools of each agent."""

import pytest

from app.agents.roster import assemble_crew
from app.errors import InvalidInput
from app.llm.config import ChatConfig
from app.tools.toolsets import load_toolsets

TOML = 'data_analyst = ["perform_eda"]\nreporter = []\n'
JSON = '{"data_analyst": ["perform_eda"], "reporter": []}'


@pytest.mark.parametrize(("name", "text"), [("tools.toml", TOML), ("tools.json", JSON)])
def test_an_agent_keeps_only_the_tools_that_the_file_names(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    toolsets = load_toolsets(tmp_path / name)
    assert list(toolsets.for_agent("data_analyst")) == ["perform_eda"]
    assert list(toolsets.for_agent("reporter")) == []
    assert "list_datasets" in toolsets.for_agent("planner")


def test_agents_work_with_the_restricted_tools(tmp_path):
    (tmp_path / "tools.toml").write_text(TOML)
    crew = assemble_crew(ChatConfig(), load_toolsets(tmp_path / "tools.toml"))
    assert list(crew["data_analysis"].tools) == ["perform_eda"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("data_analyst = [", "not a table of lists"),
        ("data_analyst = 3", "not a table of lists"),
        ('nobody = ["perform_eda"]', "there is no agent 'nobody'"),
        ('data_analyst = ["perform_ed"]', "the nearest are perform_eda"),
        ('data_analyst = ["execute_sql"]', "data_analyst has no tool 'execute_sql'"),
        ('approve = ["execute_chat_program"]', "approve has no tool 'execute_chat_program'"),
        ("[tools.edit_fil]", "tools has no tool 'edit_fil'; the nearest are edit_file"),
        ('[tools.edit_file]\napproval = "sometimes"', "'always' or 'never'"),
        ("[tools.edit_file]\ntime_limit_s = 0", "greater than 0"),
    ],
)
def test_an_invalid_file_is_refused_with_its_path(tmp_path, text, said):
    path = tmp_path / "tools.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput) as error:
        load_toolsets(path)
    assert str(path) in error.value.detail
    assert said in error.value.detail


RULES = """
[tools.edit_file]
approval = "never"
description = "Change a text."
time_limit_s = 20

[tools.execute_sql]
approval = "always"

[tools.write_file]
enabled = false
"""


def test_rules_of_single_tools_hold_for_every_agent_that_has_them(tmp_path):
    path = tmp_path / "tools.toml"
    path.write_text(RULES)
    toolsets = load_toolsets(path)
    for agent in ("assistant", "reporter"):
        tools = toolsets.for_agent(agent)
        edit = tools["edit_file"]
        assert (edit.needs_approval, edit.description, edit.time_limit_s) == (False, "Change a text.", 20)
        assert "write_file" not in tools
    assert toolsets.for_agent("assistant")["execute_sql"].needs_approval
    assert load_toolsets(None).for_agent("assistant")["edit_file"].needs_approval


def test_tools_to_approve_are_named_as_their_agents_know_them(tmp_path):
    path = tmp_path / "tools.toml"
    path.write_text('approve = ["execute_python"]')
    assert load_toolsets(path).for_agent("assistant")["execute_python"].needs_approval


def test_a_missing_file_is_refused_with_its_path(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_toolsets(tmp_path / "missing.toml")

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
        ('analyst = ["perform_eda"]', "there is no agent 'analyst'"),
        ('data_analyst = ["perform_ed"]', "the nearest are perform_eda"),
        ('data_analyst = ["execute_sql"]', "data_analyst has no tool 'execute_sql'"),
    ],
)
def test_an_invalid_file_is_refused_with_its_path(tmp_path, text, said):
    path = tmp_path / "tools.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput) as error:
        load_toolsets(path)
    assert str(path) in error.value.detail
    assert said in error.value.detail


def test_a_missing_file_is_refused_with_its_path(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_toolsets(tmp_path / "missing.toml")

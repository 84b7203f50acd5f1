"""A tool's signature is its schema."""

from typing import Annotated

import pytest
from pydantic import Field

from app.sessions.step_scope import CallResult
from app.tools.agent_names import EVERY_AGENT
from app.tools.context.tool_context import ToolContext
from app.tools.registry import REGISTRY, agent_tools, tool
from app.tools.toolsets import Toolsets

DESIGNED = {
    "data_retrieval": {
        "list_datasets",
        "get_dataset_schema",
        "fetch_dataset",
        "execute_sql",
        "fetch_price_data",
        "get_available_coins",
        "get_data_statistics",
    },
    "data_analyst": {"perform_eda", "clean_data", "calculate_technical_indicators", "create_features"},
    "model_trainer": {"train_classification_model", "train_regression_model", "cross_validate_model"},
    "model_evaluator": {
        "evaluate_model",
        "compare_models",
        "feature_importance",
        "tune_hyperparameters",
        "build_ensemble",
        "add_folds",
    },
    "reporter": {"generate_summary", "create_comparison_report", "generate_recommendations"},
}


@pytest.mark.parametrize("agent", DESIGNED)
def test_every_agent_has_its_tools_and_can_ask(agent):
    assert set(Toolsets().for_agent(agent)) >= DESIGNED[agent] | {"ask_user"}


def test_no_agent_can_touch_the_hold_out():
    for agent in EVERY_AGENT:
        assert not {"lock_holdout", "final_evaluation"} & set(agent_tools(agent))


def test_the_order_of_tools_does_not_depend_on_what_was_imported_first():
    for agent in EVERY_AGENT:
        assert list(agent_tools(agent)) == sorted(agent_tools(agent))


def test_every_tool_has_a_description():
    assert [spec.name for spec in REGISTRY.values() if len(spec.description) < 20] == []


def test_the_signature_is_the_schema_and_the_context_is_hidden():
    @tool(agents=())
    async def sample(ctx: ToolContext, rows: Annotated[int, Field(ge=1)], name: str = "x") -> CallResult:
        """Takes a sample."""
        return CallResult(value={"rows": rows, "name": name})

    try:
        schema = REGISTRY["sample"].arguments.model_json_schema()
    finally:
        del REGISTRY["sample"]
    assert set(schema["properties"]) == {"rows", "name"}
    assert schema["required"] == ["rows"]
    assert schema["properties"]["rows"]["minimum"] == 1
    assert schema["additionalProperties"] is False


async def test_a_tool_stays_callable_as_a_function():
    @tool(agents=())
    async def plain(ctx: ToolContext, word: str) -> CallResult:
        """Says a word."""
        return CallResult(value=word)

    del REGISTRY["plain"]
    assert (await plain(None, "hello")).value == "hello"  # type: ignore[arg-type]

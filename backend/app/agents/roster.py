"""The agents of the crew: one line for each role."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from app.agents.assistant import offline_rules as assistant
from app.agents.assistant.output import Reply
from app.agents.context import Crew
from app.agents.data_analyst import offline_rules as data_analyst
from app.agents.data_analyst.output import Analysis, Answer, Prepared
from app.agents.data_retrieval import offline_rules as data_retrieval
from app.agents.data_retrieval.output import Retrieved
from app.agents.model_evaluator import offline_rules as model_evaluator
from app.agents.model_evaluator.output import Tuned, Verdict
from app.agents.model_trainer import offline_rules as model_trainer
from app.agents.model_trainer.output import Trained
from app.agents.planner import offline_rules as planner
from app.agents.planner.output import Plan
from app.agents.reporter import offline_rules as reporter
from app.agents.reporter.output import Reported
from app.agents.runtime.agent_loop import Agent, AgentRole
from app.agents.runtime.journal_middleware import AgentLimits
from app.llm.config import ChatConfig
from app.llm.providers import open_usable_models, prompt_caching
from app.llm.retry_policy import RetryPolicy
from app.tools.toolsets import Toolsets

FILES = ("list_files", "read_file", "write_file", "edit_file")
STAGE_TOOLS: Mapping[str, tuple[str, ...]] = {
    "data_analysis": ("perform_eda", "run_python", "ask_user", *FILES),
    "answering": (
        "answer_by_sql",
        "answer_by_program",
        "find_unusual_rows",
        "find_row_groups",
        "run_python",
        "ask_user",
    ),
    "feature_engineering": (
        "clean_data",
        "create_features",
        "calculate_technical_indicators",
        "write_features",
        "score_features",
        "run_python",
        "ask_user",
    ),
    "model_evaluation": (
        "build_ensemble",
        "compare_models",
        "evaluate_model",
        "feature_importance",
        "run_python",
        "ask_user",
    ),
    "hyperparameter_tuning": ("add_folds", "tune_hyperparameters", "ask_user"),
}
"""Tools that a chat model is offered in one part of an agent's work: schemas of others would only cost tokens.
Parts that are not listed have all tools of their agent."""


@cache
def read_prompt(agent: str, stage: str | None = None) -> str:
    """Read the system prompt: the part common to all agents, the agent's own, and that of one of its stages."""
    here = files("app.agents")
    names = ("crew.md", f"{agent}/prompt.md", *([f"{agent}/{stage}.md"] if stage else []))
    return "\n".join((here / name).read_text() for name in names)


def _make_role(
    agent: str, output: Any, decide: Any, part: str = "", stage: str | None = None
) -> AgentRole[Any]:
    return AgentRole(agent, read_prompt(agent, stage), output, decide, STAGE_TOOLS.get(part, ()))


def make_roles() -> Mapping[str, AgentRole[Any]]:
    """Return all roles by task name. Two agents have several tasks."""
    return {
        "planner": _make_role("planner", Plan, planner.decide),
        "data_retrieval": _make_role("data_retrieval", Retrieved, data_retrieval.decide),
        "data_analysis": _make_role(
            "data_analyst", Analysis, data_analyst.decide_analysis, "data_analysis", "analysis"
        ),
        "answering": _make_role("data_analyst", Answer, data_analyst.decide_answer, "answering", "answer"),
        "feature_engineering": _make_role(
            "data_analyst", Prepared, data_analyst.decide_features, "feature_engineering", "features"
        ),
        "model_trainer": _make_role("model_trainer", Trained, model_trainer.decide),
        "model_evaluation": _make_role(
            "model_evaluator", Verdict, model_evaluator.decide_evaluation, "model_evaluation", "evaluation"
        ),
        "hyperparameter_tuning": _make_role(
            "model_evaluator", Tuned, model_evaluator.decide_tuning, "hyperparameter_tuning", "tuning"
        ),
        "reporter": _make_role("reporter", Reported, reporter.decide),
    }


def assemble_crew(chat: ChatConfig, toolsets: Toolsets, limits: AgentLimits | None = None) -> Crew:
    """Build the agents on the configured chat models, each with the tools that the operator allows."""
    limits = limits or AgentLimits(thought_s=chat.turn_timeout_s)
    retry_policy = RetryPolicy(chat.timeout_s, chat.max_retries + 1)
    return {
        part: Agent(
            role,
            open_usable_models(chat, role.name, role.decide),
            toolsets.for_agent(role.name),
            limits,
            retry_policy,
            prompt_caching(chat, role.name),
            chat.prices,
        )
        for part, role in make_roles().items()
    }


def assemble_assistant(chat: ChatConfig, toolsets: Toolsets, limits: AgentLimits | None = None) -> Agent[Reply]:
    """Build the assistant of conversations, who is no member of the crew and ends with words."""
    prompt = (files("app.agents") / "assistant" / "prompt.md").read_text()
    limits = limits or AgentLimits(thought_s=chat.turn_timeout_s)
    role = AgentRole("assistant", prompt, Reply, assistant.decide, ends_with_words=True)
    return Agent(
        role,
        open_usable_models(chat, role.name, role.decide),
        toolsets.for_agent(role.name),
        limits,
        RetryPolicy(chat.timeout_s, chat.max_retries + 1),
        prompt_caching(chat, role.name),
        chat.prices,
    )

"""The agents of the crew: one line for each role."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

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
from app.llm.providers import open_chat_models, prompt_caching
from app.llm.retry_policy import RetryPolicy
from app.tools.toolsets import Toolsets


@cache
def read_prompt(agent: str) -> str:
    """Read the system prompt: the part common to all agents, then the agent's own."""
    here = files("app.agents")
    return f"{(here / 'crew.md').read_text()}\n{(here / agent / 'prompt.md').read_text()}"


def _make_role(agent: str, output: Any, decide: Any) -> AgentRole[Any]:
    return AgentRole(agent, read_prompt(agent), output, decide)


def make_roles() -> Mapping[str, AgentRole[Any]]:
    """Return all roles by task name. Two agents have several tasks."""
    return {
        "planner": _make_role("planner", Plan, planner.decide),
        "data_retrieval": _make_role("data_retrieval", Retrieved, data_retrieval.decide),
        "data_analysis": _make_role("data_analyst", Analysis, data_analyst.decide_analysis),
        "answering": _make_role("data_analyst", Answer, data_analyst.decide_answer),
        "feature_engineering": _make_role("data_analyst", Prepared, data_analyst.decide_features),
        "model_trainer": _make_role("model_trainer", Trained, model_trainer.decide),
        "model_evaluation": _make_role("model_evaluator", Verdict, model_evaluator.decide_evaluation),
        "hyperparameter_tuning": _make_role("model_evaluator", Tuned, model_evaluator.decide_tuning),
        "reporter": _make_role("reporter", Reported, reporter.decide),
    }


def assemble_crew(chat: ChatConfig, toolsets: Toolsets, limits: AgentLimits | None = None) -> Crew:
    """Build the agents on the configured chat models, each with the tools that the operator allows."""
    retry_policy = RetryPolicy(chat.timeout_s, chat.max_retries + 1)
    return {
        part: Agent(
            role,
            open_chat_models(chat, role.name, role.decide),
            toolsets.for_agent(role.name),
            limits,
            retry_policy,
            prompt_caching(chat, role.name),
            chat.prices,
        )
        for part, role in make_roles().items()
    }

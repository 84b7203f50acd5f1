"""Who is in the crew: one line for each part an agent plays."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from app.agents.context import Crew
from app.agents.data_analyst import offline as data_analyst
from app.agents.data_analyst.output import Analysis, Answer, Prepared
from app.agents.data_retrieval import offline as data_retrieval
from app.agents.data_retrieval.output import Retrieved
from app.agents.model_evaluator import offline as model_evaluator
from app.agents.model_evaluator.output import Tuned, Verdict
from app.agents.model_trainer import offline as model_trainer
from app.agents.model_trainer.output import Trained
from app.agents.planner import offline as planner
from app.agents.planner.output import Plan
from app.agents.reporter import offline as reporter
from app.agents.reporter.output import Reported
from app.agents.runtime.loop import Agent, Role
from app.agents.runtime.recording import AgentLimits
from app.llm.config import ChatConfig
from app.llm.providers import caching, open_chat_models
from app.llm.retry_policy import Patience
from app.tools.toolsets import Toolsets


@cache
def prompt(agent: str) -> str:
    """What every member of the crew is told, and then what this one is."""
    here = files("app.agents")
    return f"{(here / 'crew.md').read_text()}\n{(here / agent / 'prompt.md').read_text()}"


def _role(agent: str, output: Any, decide: Any) -> Role[Any]:
    return Role(agent, prompt(agent), output, decide)


def roles() -> Mapping[str, Role[Any]]:
    """Every part by the name of what it does; two agents play several parts."""
    return {
        "planner": _role("planner", Plan, planner.decide),
        "data_retrieval": _role("data_retrieval", Retrieved, data_retrieval.decide),
        "data_analysis": _role("data_analyst", Analysis, data_analyst.decide_analysis),
        "answering": _role("data_analyst", Answer, data_analyst.decide_answer),
        "feature_engineering": _role("data_analyst", Prepared, data_analyst.decide_features),
        "model_trainer": _role("model_trainer", Trained, model_trainer.decide),
        "model_evaluation": _role("model_evaluator", Verdict, model_evaluator.decide_evaluation),
        "hyperparameter_tuning": _role("model_evaluator", Tuned, model_evaluator.decide_tuning),
        "reporter": _role("reporter", Reported, reporter.decide),
    }


def assemble(chat: ChatConfig, toolsets: Toolsets, bounds: AgentLimits | None = None) -> Crew:
    """The crew on the chosen chat model, each with the tools that the operator leaves it."""
    patience = Patience(chat.timeout_s, chat.max_retries + 1)
    return {
        part: Agent(
            role,
            open_chat_models(chat, role.name, role.decide),
            toolsets.for_agent(role.name),
            bounds,
            patience,
            caching(chat, role.name),
            chat.prices,
        )
        for part, role in roles().items()
    }

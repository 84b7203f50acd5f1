"""The outcome of parsing a question."""

from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from app.plans.plan import Plan


class ParsedQuestion(BaseModel):
    """A question as a query plan.

    `description`: the plan in a sentence. `interpretations`: notes on words with several possible meanings.
    `columns`: the columns that it names, the main one first. `confidence`: estimated probability that the plan
    is what was asked for.
    """

    model_config = ConfigDict(frozen=True)

    plan: Plan
    description: str
    tables: tuple[str, ...]
    columns: tuple[str, ...] = ()
    interpretations: tuple[str, ...] = ()
    confidence: float = 0.9


@dataclass(frozen=True)
class UnparsedQuestion:
    """The reason why a question was not understood, and similar questions that are."""

    reason: str
    options: tuple[str, ...] = field(default=())

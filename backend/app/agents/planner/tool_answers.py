"""Values of the tools that the planner calls, validated where they are read from a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from app.agents.runtime.conversation import ConversationView, UserAnswer


class ListedDataset(BaseModel):
    table: str


class DatasetListing(BaseModel):
    """The value of `list_datasets`."""

    datasets: list[ListedDataset]

    @property
    def table_names(self) -> list[str]:
        return [dataset.table for dataset in self.datasets]


class PriceListingRow(BaseModel):
    """Stored bars of one coin at one interval; `first` and `last` are the times of its outermost bars."""

    coin: str
    bars: int
    interval: str | None = None
    first: datetime | None = None
    last: datetime | None = None


class PriceListing(BaseModel):
    """The value of `get_available_coins`."""

    coins: list[PriceListingRow]


@dataclass(frozen=True)
class AnsweredQuestion:
    question: str
    answer: str


def read_user_answers(view: ConversationView[Any]) -> tuple[AnsweredQuestion, ...]:
    """Return the answers of the user with their questions, oldest first."""
    return tuple(
        AnsweredQuestion(str(completed.arguments.get("question", "")), completed.read(UserAnswer).answer)
        for completed in view.successes("ask_user")
    )


def answers_to(question: str, answers: Sequence[AnsweredQuestion]) -> list[str]:
    """Return the answers to questions that begin with this text; the rest of a question explains it."""
    return [entry.answer for entry in answers if entry.question.startswith(question)]


def answer_to(question: str, answers: Sequence[AnsweredQuestion]) -> str | None:
    """Return the first answer to a question that begins with this text."""
    return next(iter(answers_to(question, answers)), None)

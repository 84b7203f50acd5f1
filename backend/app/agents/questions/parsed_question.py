"""The outcome of parsing a question."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from app.charts.chart_request import ChartRequest
from app.plans.plan import Plan


class ParsedQuestion(BaseModel):
    """A question as a query plan.

    `description`: the plan in a sentence. `interpretations`: notes on words with several possible meanings.
    `columns`: the columns that it names, the main one first. `confidence`: estimated probability that the plan
    is what was asked for. `chart`: the chart of its rows, where it asks for one. `is_by_decoder`: the fitted
    decoder alone read it, and rules do not account for all of its words.
    """

    model_config = ConfigDict(frozen=True)

    plan: Plan
    description: str
    tables: tuple[str, ...]
    columns: tuple[str, ...] = ()
    interpretations: tuple[str, ...] = ()
    confidence: float = 0.9
    chart: ChartRequest | None = None
    is_by_decoder: bool = False


@dataclass(frozen=True)
class UnparsedQuestion:
    """The reason why a question was not understood.

    `readings`: what it may mean, the likeliest first. `options`: other questions that are understood.
    `is_settled`: rules know that no rows answer it, or that a word of it means several columns.
    """

    reason: str
    options: tuple[str, ...] = ()
    readings: tuple[ParsedQuestion, ...] = ()
    is_settled: bool = False

    def find_reading(self, description: str) -> ParsedQuestion | None:
        """Return the reading of this description, in which a user who chose it is sure."""
        matches = (reading for reading in self.readings if reading.description == description)
        return next((reading.model_copy(update={"confidence": 1.0}) for reading in matches), None)

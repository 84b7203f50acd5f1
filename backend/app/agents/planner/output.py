"""The output of the planner."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.persons.person_table import PersonTable
from app.agents.goals.row_search import RowSearch
from app.agents.goals.series.select_sql import Cut, PeriodAggregation
from app.agents.goals.tables.column_formula import Derivation
from app.agents.planner.stages import STAGES, Stage
from app.agents.questions.parsed_question import ParsedQuestion
from app.json_types import JsonValue
from app.llm.prompt_schema import PromptSchema
from app.modeling.problem.kinds import OutlookName, ProblemKindName

ColumnType = Literal["number", "category", "text", "boolean", "datetime", "day_first", "month_first"]
"""Types of columns, for ambiguous dates also the order of day and month."""
MistakeSide = Literal["false_alarm", "missed"]
ModelChoice = Literal["ensemble", "single", "interpretable"]


class Understanding(BaseModel):
    """The reading of a goal, to be shown before time is spent.

    `examples`: values of the target. `confidence`: estimated probability that the reading is the user's.
    `alternatives`: other columns that the goal could mean.
    """

    model_config = ConfigDict(extra="forbid")

    text: str
    examples: list[str] = Field(default_factory=list)
    confidence: float = Field(ge=0, le=1)
    alternatives: list[str] = Field(default_factory=list)


class Trading(BaseModel):
    """Trading terms of a price forecast: costs of one trade in basis points of its value."""

    model_config = ConfigDict(extra="forbid")

    fee_bps: float = Field(ge=0, le=1000)
    slippage_bps: float = Field(default=0.0, ge=0, le=1000)
    long_only: bool = False


class TradeBarriers(BaseModel):
    """Price changes at which a trade ends before its horizon, as shares of the price; 0 for none."""

    model_config = ConfigDict(extra="forbid")

    take_profit: float = Field(default=0.0, ge=0, lt=1)
    stop_loss: float = Field(default=0.0, ge=0, lt=1)


class Plan(BaseModel):
    """The plan: the target, the tables that it is predicted from, the metric, and the steps in plain words.

    Leave a field null if the data shall decide. `horizon` counts rows ahead; with `every_step` each row
    until then is forecast ("the next 14 days"), not the last alone ("in 14 days"). `meets`: "new" if the
    model will predict for entities (customers, patients) without any rows so far, "known" if not.
    `exclude` names columns that must not be used. `column_types` corrects the types of columns whose
    values mislead. `tables` are names that list_datasets returned. With `source` prices they are not
    used: `coins`, the bars' `interval` ("5m", "1h", "1d"), `start` and `end` (ISO 8601) name the bars to
    fetch. `trading`: the terms on which a forecast of a price is traded; ask the user for those that the
    goal does not name. With `barriers` a trade is long and ends at its profit or its loss, at the latest
    at the `horizon`. `aggregation`: rows are transactions that are counted, summed or averaged by period
    first; `horizon` then counts periods. `persons`: a table of persons is made of their
    transactions; `target` is then the date of one, and `time_column`, `group_column` and `horizon` stay null.
    `filter`: only rows that meet all of these conditions are used
    ("only for the coast"). `derivation`: the target is computed from `target` and another column of the row
    ("how many days from the application to the permit"); a `cut` is then one of the computed value. `outlook`
    volatility is that of a price from now to the horizon, and is not traded.
    `wants_drivers`: the goal asks what the target goes with ("what drives price?", "why do customers leave?");
    the model is then a means, and the answer is the list of drivers.
    `time_limit_s`: seconds that the session may take, if the user names a limit.
    `model` and `families` name the models to fit, if the user wants certain ones. `stages` are the stages
    of the session: all, unless the user wants fewer.
    `question`: for a goal that asks for figures of the stored rows and for no model, the question that is
    answered from the tables; `target` is then the column that it is mainly about.
    """

    model_config = ConfigDict(extra="forbid")

    source: Literal["datasets", "prices"] = "datasets"
    tables: list[str] = Field(default_factory=list, max_length=20)
    join: bool = False
    coins: list[str] = Field(default_factory=list, max_length=100)
    interval: str | None = Field(default=None, pattern=r"^[1-9]\d{0,3}[mhdw]$")
    start: str | None = None
    end: str | None = None
    trading: Trading | None = None
    question: str | None = Field(default=None, max_length=4000)
    # Left out of the schema, since a chat model gives the question in words: the analyst then parses it.
    parsed_question: SkipJsonSchema[ParsedQuestion | None] = None
    """The question as the offline planner understood it, with the interpretations that the user agreed to."""
    # Left out for the same reason: the analyst has a tool for each search.
    row_search: SkipJsonSchema[RowSearch | None] = None
    """What the question looks for among the rows, instead of figures: unusual rows, or groups of similar
    ones."""
    target: str = Field(min_length=1)
    kind: ProblemKindName | None = None
    metric: str | None = None
    positive_class: str | int | float | bool | None = None
    time_column: str | None = None
    group_column: str | None = None
    horizon: int | None = Field(default=None, ge=1)
    every_step: bool = False
    outlook: OutlookName | None = None
    barriers: TradeBarriers | None = None
    derivation: Derivation | None = None
    cut: Cut | None = None
    aggregation: PeriodAggregation | None = None
    persons: PersonTable | None = None
    filter: list[RowCondition] = Field(default_factory=list, max_length=20)
    meets: Literal["new", "known"] | None = None
    costs: dict[MistakeSide, float] | None = None
    column_types: dict[str, ColumnType] = Field(default_factory=dict)
    exclude: list[str] = Field(default_factory=list)
    wants_drivers: bool = False
    time_limit_s: float | None = Field(default=None, ge=1, le=86_400)
    model: ModelChoice | None = None
    families: list[str] = Field(default_factory=list, max_length=20)
    stages: list[Stage] = Field(default_factory=lambda: [*STAGES], max_length=len(STAGES))
    understanding: SkipJsonSchema[Understanding | None] = None
    is_understood: SkipJsonSchema[bool] = True
    """False for a goal that cannot be carried out as it is worded; `notes` say why and what can be done."""
    steps: list[str] = Field(default_factory=list, max_length=20)
    notes: list[str] = Field(default_factory=list, max_length=20)

    @field_validator("parsed_question", mode="before")
    @classmethod
    def _drop_former_form(cls, value: object) -> object:
        """Drop a question in the form before query plans: the analyst parses its text again."""
        return None if isinstance(value, dict) and "plan" not in value else value

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """Make the schema as a chat model is sent it, unless another `schema_generator` is asked for."""
        # LangChain takes this of the class itself, with no place for an option.
        return super().model_json_schema(*args, **{"schema_generator": PromptSchema, **options})

    @property
    def target_name(self) -> str:
        """Name of what is predicted: the target column, or what is computed from it."""
        return self.derivation.name if self.derivation else self.target

    @property
    def coin(self) -> str | None:
        return self.coins[0] if self.coins else None

    def problem_request(self) -> dict[str, JsonValue]:
        """Return the fields of the problem that the plan determines, before the data completes it."""
        fields = (
            "target",
            "kind",
            "metric",
            "positive_class",
            "time_column",
            "group_column",
            "horizon",
            "outlook",
            "barriers",
            "exclude",
            "costs",
            "column_types",
        )
        request: dict[str, JsonValue] = self.model_dump(mode="json", include=set(fields))
        if self.every_step:
            request["every_step"] = True
        return {name: value for name, value in request.items() if value not in (None, [], {})}

    def goal_with_entities(self, goal: str) -> str:
        """Return the goal with the user's answer about new or known entities."""
        return f"{goal} {_MEETS[self.meets]}" if self.meets else goal


_MEETS = {"new": "They are new to us.", "known": "We know them."}

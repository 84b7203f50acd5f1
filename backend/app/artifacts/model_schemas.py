"""Requests and responses of the model endpoints."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from app.json_types import JsonScalar
from app.modeling.facts.problem_summary import ProblemSummary

MAX_REQUEST_ROWS = 1_000
"""More rows: upload them as a dataset."""


class IntervalView(BaseModel):
    """A score with its 95% interval; no bounds where too few rows allow none."""

    value: float | None
    low: float | None
    high: float | None


class ModelView(BaseModel):
    """A trained model and how well it did in cross-validation."""

    id: UUID
    session_id: UUID | None
    name: str = Field(examples=["XGBoost-t3"])
    estimator: str = Field(examples=["XGBoost"])
    problem: ProblemSummary
    metric: str = Field(examples=["roc_auc"])
    greater_is_better: bool
    score: float | None = Field(description="Cross-validated.")
    std: float | None = Field(description="Over folds.")
    folds: int | None = Field(
        default=None,
        description="Folds that `score` is the mean of. A leaderboard may have measured it on more since.",
    )
    fold_count: int | None = Field(default=None, description="Folds that were planned.")
    chosen: bool = Field(description="Its session chose it and judged it on the hold-out.")
    holdout: IntervalView | None = Field(description="Score on the hold-out; only for the chosen model.")
    goal: str | None = Field(default=None, description="Goal of its session.")
    datasets: list[str] = Field(default_factory=list, description="Names of its session's datasets.")
    size_bytes: int
    digest: str = Field(description="SHA-256 of the model's file (skops).")
    created_at: datetime


class SchemaColumnView(BaseModel):
    """One raw input column."""

    name: str
    type: str = Field(description="number, boolean, category, text, datetime or empty.")
    required: bool
    missing_allowed: bool
    categories: list[str] | None = Field(
        description="Values of a category; of a boolean the words for no and yes of its file, where it has any."
    )
    minimum: float | str | None
    maximum: float | str | None


class RecipeStep(BaseModel):
    """One operation of a recipe; its settings stand beside `op` and `columns`."""

    model_config = ConfigDict(extra="allow", json_schema_serialization_defaults_required=True)

    op: str = Field(examples=["impute"])
    columns: list[str] | None = None


class ModelDetail(ModelView):
    """Everything that is known of a model, and the rows that it takes."""

    model_config = ConfigDict(populate_by_name=True)

    columns: list[SchemaColumnView] = Field(alias="schema")
    metrics: dict[str, dict[str, float | None]] = Field(
        description="Cross-validated; of two classes that of a probability from 0.5 on, not from `threshold`."
    )
    threshold: float | None = Field(
        description="Probability from which the model predicts the positive class; chosen on out-of-fold rows."
    )
    hyperparameters: dict[str, JsonValue]
    recipe: list[RecipeStep] = Field(description="Operations that make its features out of raw rows.")
    rows: int = Field(description="Labelled training rows.")
    features: int
    versions: dict[str, str]


Integer = Annotated[int, Field(ge=-(2**63), lt=2**63)]
CellText = Annotated[str, Field(max_length=1_000_000)]
Cell = bool | Integer | float | CellText | None
"""A larger integer becomes a float if it can. The limits also refuse half a surrogate pair: it is no text."""


TableFormat = Literal["parquet", "csv"]


class TablePrediction(BaseModel):
    """A table of yours to predict, and how its predictions are written."""

    model_config = ConfigDict(extra="forbid")

    dataset_id: UUID | None = None
    artifact_id: UUID | None = Field(default=None, description="A Parquet artifact: a frame or a table.")
    format: TableFormat = "parquet"
    strict: bool = Field(
        default=False,
        description="Refuse a cell that cannot be read, before anything is computed. Else it is a missing"
        " value, as in training, and `problems` names it.",
    )
    keep_columns: bool = Field(
        default=False,
        description="Write the table's columns before those of its predictions. A forecast of every step has"
        " rows of its own, and is written without them.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        sources = [name for name in self.source_fields() if getattr(self, name) is not None]
        if len(sources) != 1:
            raise ValueError(f"give one of {', '.join(self.source_fields())}")
        return self

    @classmethod
    def source_fields(cls) -> tuple[str, ...]:
        return ("dataset_id", "artifact_id")


class PredictionRequest(TablePrediction):
    """Rows to predict: here, or a table of yours."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"rows": [{"class": "1st", "sex": "female", "age": 29, "name": "Allen"}]}]
        },
    )

    rows: list[dict[CellText, Cell]] | None = Field(default=None, min_length=1, max_length=MAX_REQUEST_ROWS)

    @classmethod
    def source_fields(cls) -> tuple[str, ...]:
        return ("rows", *super().source_fields())


class PredictionWarning(BaseModel):
    kind: str = Field(examples=["unseen_category"])
    column: str
    text: str
    rows: int = Field(description="How many rows it touches.")


class PredictionProblem(BaseModel):
    """A cell that could not be read."""

    row: int = Field(description="Position of the row, from 0.")
    column: str
    value: JsonScalar = Field(examples=["98121-3032"])
    taken_as: JsonScalar = Field(default=None, description="What the model got instead: a missing value.")


class OutsideRow(BaseModel):
    """A row with values outside of the ranges in training, which the score says little of."""

    row: int = Field(description="Position of the row, from 0.")
    columns: list[str] = Field(examples=[["age"]])


class PredictionView(BaseModel):
    """Predictions in the order of the rows; of a table the first 1,000, all of them in the artifact."""

    model_id: UUID
    rows: int
    predictions: list[dict[str, Any]] = Field(
        description="A class with calibrated probabilities, or a number with its interval if it has one.",
        examples=[[{"prediction": 1, "probabilities": {"0": 0.08, "1": 0.92}}]],
    )
    warnings: list[PredictionWarning]
    problems: list[PredictionProblem] = Field(
        default=[], description="Cells that could not be read, 1,000 at most; `warnings` counts all of them."
    )
    outside_training: list[OutsideRow] = Field(
        default=[],
        description="Rows with values outside of the ranges in training, 1,000 at most; `warnings` counts all.",
    )
    forecaster: str | None = Field(
        default=None,
        description="The classical methods that forecast, where they were better than the model; else null.",
    )
    artifact_id: UUID | None = Field(default=None, description="Of a table's predictions.")

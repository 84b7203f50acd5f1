"""Base of the operations of a recipe."""

from typing import Annotated, Any, ClassVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

Columns = Annotated[tuple[str, ...], Field(min_length=1, max_length=2000)]
Share = Annotated[float, Field(ge=0, le=1)]
LookBack = Annotated[int, Field(ge=1, le=2000)]
"""Rows to look back; never ahead. The limit bounds the history that a model stores."""

State = dict[str, Any]
"""Fitted state of an operation: strict JSON, except for arrays and estimators of custom code."""


class Operation(BaseModel):
    """One operation: its fields are its JSON, `fit` learns from training rows, `apply` keeps the rows.

    `needs_order` operations look back over earlier rows: they get rows sorted by time, at most `history_rows()`
    rows of history before them, and the group of each row; they never look across groups. `is_per_step`
    operations make other columns for each step ahead, by `make_columns` instead of `apply`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    needs_order: ClassVar[bool] = False
    is_per_step: ClassVar[bool] = False

    def required_columns(self) -> tuple[str, ...]:
        """Columns that the operation reads."""
        return tuple(getattr(self, "columns", ()))

    def fit(self, frame: pd.DataFrame) -> State:
        return {}

    def fit_apply(
        self, frame: pd.DataFrame, groups: pd.Series | None, target: pd.Series | None
    ) -> tuple[State, pd.DataFrame]:
        """Fit on training rows; return the state and the transformed rows. Only custom code uses the target."""
        state = self.fit(frame)
        return state, self.apply(frame, state, groups)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        raise NotImplementedError

    def history_rows(self) -> int:
        """Rows of history that the operation needs."""
        return 0

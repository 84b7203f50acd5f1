"""What every operation of a recipe is."""

from typing import Annotated, Any, ClassVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

Columns = Annotated[tuple[str, ...], Field(min_length=1, max_length=2000)]
Share = Annotated[float, Field(ge=0, le=1)]
LookBack = Annotated[int, Field(ge=1, le=2000)]
"""Rows to look back; never ahead."""

State = dict[str, Any]
"""What an operation learned from training rows: strict JSON, but for arrays and estimators of written code."""


class Operation(BaseModel):
    """One operation: its fields are its JSON, `fit` learns from training rows, `apply` never changes the rows.

    `ordered` operations look back over earlier rows: they get rows sorted by time, at most `depth()` rows of
    history before them, and the group of each row, which no look back may cross. `by_step` operations say
    something else of each step ahead: where rows ask about several, their `made` is asked once for all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    needs_order: ClassVar[bool] = False
    is_per_step: ClassVar[bool] = False

    def required_columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return tuple(getattr(self, "columns", ()))

    def fit(self, frame: pd.DataFrame) -> State:
        return {}

    def fit_apply(
        self, frame: pd.DataFrame, groups: pd.Series | None, target: pd.Series | None
    ) -> tuple[State, pd.DataFrame]:
        """What it learns from training rows, and these rows with it. Only written code sees the target."""
        state = self.fit(frame)
        return state, self.apply(frame, state, groups)

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        raise NotImplementedError

    def history_rows(self) -> int:
        return 0

"""Raw training rows with everything that is derived from them for fits, computed once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from app.modeling.labels.labels import label_times, label_weights, make_labels, present_value
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.splits.split import Fold, make_folds


@dataclass(frozen=True)
class TrainingSet:
    """Rows to fit and score candidates on. `labels` (rows,) are missing where they are unknown.

    Make it with `from_frame`. Positions of rows count from 0, whatever the index of the frame is.
    """

    frame: pd.DataFrame
    """All raw columns. With a forecast of every step, a row for each origin and step (`prediction_rows`)."""
    problem: Problem
    labels: pd.Series
    folds: Sequence[Fold] = ()

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, problem: Problem, plan: FoldPlan | None = None) -> "TrainingSet":
        """Make the labels, and the folds of the plan. Raises InvalidInput `too_little_data`."""
        labels = make_labels(frame, problem)
        return cls(frame, problem, labels, make_folds(frame, problem, plan, labels) if plan else ())

    @cached_property
    def inputs(self) -> pd.DataFrame:
        """The raw input columns of a model."""
        return select_inputs(self.frame, self.problem)

    @cached_property
    def labelled_rows(self) -> np.ndarray:
        """Positions of the rows with a label."""
        return np.flatnonzero(self.labels.notna().to_numpy())

    @cached_property
    def label_times(self) -> pd.Series:
        """The time at which each row's label is known (rows,)."""
        return label_times(self.frame, self.problem)

    @cached_property
    def weights(self) -> np.ndarray | None:
        """Sample weights (rows,); None if all are equal."""
        return label_weights(self.inputs, self.problem)

    @cached_property
    def targets(self) -> np.ndarray:
        """Targets that models are trained on (rows,): labels, or their differences to the current value."""
        # A model of differences can forecast levels that it never saw; trees cannot extrapolate otherwise.
        start = present_value(self.inputs, self.problem)
        targets: np.ndarray = (self.labels if start is None else self.labels - start).to_numpy()
        return targets

    def select_targets(self, rows: np.ndarray) -> np.ndarray:
        """Return the training targets of labelled rows; classes as integers."""
        selected: np.ndarray = self.targets[rows]
        return selected.astype(int) if self.problem.is_classification else selected

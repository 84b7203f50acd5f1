"""The outputs of a model for the rows of the hold-out, as the final evaluation leaves them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted

ROW, TRUTH, NUMBER = "row", "truth", "prediction"
"""Columns: position in the hold-out (expanded by step, if each step is forecast), label, predicted number."""


def make_outputs(predicted: Predicted, rows: np.ndarray) -> pd.DataFrame:
    """Make the table of outputs: `row`, `truth`, and `prediction` or `p_<position of the class>`.

    `rows`: positions of the labelled rows (rows,). Probabilities are calibrated.
    """
    table = pd.DataFrame({ROW: rows, TRUTH: predicted.truth})
    if predicted.output.ndim == 1:
        return table.assign(**{NUMBER: predicted.output})
    return table.assign(**{f"p_{position}": column for position, column in enumerate(predicted.output.T)})


@dataclass(frozen=True)
class MemberOutputs:
    """A session's hold-out and the outputs of its model for it. `threshold`: None for the problem's own."""

    problem: Problem
    threshold: float | None
    holdout: pd.DataFrame
    outputs: pd.DataFrame

    @property
    def predicted(self) -> Predicted:
        columns = self.outputs.drop(columns=[ROW, TRUTH]).to_numpy(dtype="float64")
        output = columns if self.problem.is_classification else columns[:, 0]
        return Predicted.from_problem(self.problem, self.outputs[TRUTH].to_numpy(), output, self.threshold)

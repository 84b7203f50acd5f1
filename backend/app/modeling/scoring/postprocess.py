"""What a model is given beside its fit, from its out-of-fold rows: calibration, threshold, bounds."""

from typing import Any

import numpy as np

from app.modeling.problem.problem import Outlook, Problem
from app.modeling.scoring.calibration import calibrated, fit_calibration
from app.modeling.scoring.prediction_intervals import fit_intervals
from app.modeling.scoring.scores import Predicted
from app.modeling.scoring.thresholds import AIMS, choose_threshold

FINISHED = ("calibration", "threshold", "threshold_text", "prediction_intervals")


def postprocess(
    truth: np.ndarray,
    output: np.ndarray,
    parts: np.ndarray,
    problem: Problem,
    seed: int = 0,
    ahead: np.ndarray | None = None,
) -> dict[str, Any]:
    """`calibration`, `threshold` and its text, `prediction_intervals`; None where one has no meaning.

    `parts`: the fold of each row; `ahead`: how many rows ahead each asks about, where they differ in it. Rows
    are in the order of the training frame, which is that of time.
    """
    found: dict[str, Any] = dict.fromkeys(FINISHED)
    if not problem.is_classification:
        in_order = problem.time_column is not None
        found["prediction_intervals"] = fit_intervals(truth, output, parts, in_order, seed, ahead)
        return found
    found["calibration"] = fit_calibration(truth, output, parts=parts, seed=seed)
    if problem.is_binary:
        said = Predicted(truth, calibrated(output, found["calibration"]), problem.positive_index)
        chosen = choose_threshold(said, _aim(problem), problem.costs)
        found |= {"threshold": chosen["value"], "threshold_text": chosen["text"]}
    return found


def _aim(problem: Problem) -> str:
    """What the threshold serves. Of a direction neither class is the rare one that F1 is about: the highest F1
    of tosses of a coin calls every one a rise."""
    if problem.outlook is Outlook.DIRECTION and problem.metric not in AIMS:
        return "accuracy"
    return problem.metric

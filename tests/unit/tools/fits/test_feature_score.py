"""The gain of features over folds decides if they are kept."""

import pytest

from app.errors import ToolRefused
from app.tools.fits.feature_score import FoldScores, compute_gain


@pytest.mark.parametrize(
    ("scores", "reference", "verdict"),
    [
        ([0.80, 0.82, 0.81], [0.70, 0.71, 0.72], "kept"),
        ([0.70, 0.72, 0.70], [0.70, 0.71, 0.72], "dropped"),
        ([0.70, 0.71, 0.72], [0.70, 0.71, 0.72], "dropped"),
        ([0.60, 0.61, 0.62], [0.70, 0.71, 0.72], "dropped"),
        ([0.9, None, 0.9], [0.7, 0.7, 0.71], "kept"),
    ],
)
def test_features_are_kept_by_a_gain_beyond_its_error(scores, reference, verdict):
    assert compute_gain(FoldScores("roc_auc", scores), FoldScores("roc_auc", reference)).verdict == verdict


def test_an_error_that_falls_is_a_gain():
    gain = compute_gain(FoldScores("rmse", [1.0, 1.1], False), FoldScores("rmse", [2.0, 2.3], False))
    assert gain.gain == pytest.approx(1.1)


def test_frames_without_a_common_fold_are_refused():
    with pytest.raises(ToolRefused):
        compute_gain(FoldScores("rmse", [1.0, None]), FoldScores("rmse", [None, 1.0]))

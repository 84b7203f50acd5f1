"""AutoGluon's tabular predictor: medium quality, with a time limit."""

from collections.abc import Callable

from autogluon.tabular import TabularPredictor
from benchmarks.quality.contenders.task import ContenderResult, Task, class_names, run_contender

METRICS = {
    "roc_auc": "roc_auc",
    "log_loss": "log_loss",
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
}
"""Errors are negative in its leaderboard."""


def fit(task: Task) -> Callable[[], ContenderResult]:
    predictor = TabularPredictor(
        label=task.target,
        problem_type=task.kind,
        eval_metric=METRICS[task.metric],
        path=str(task.scratch / "models"),
        verbosity=0,
    )
    predictor.fit(task.train, time_limit=task.budget_s, presets="medium_quality", num_cpus=2)
    board = predictor.leaderboard(silent=True)
    best = board.loc[board["model"] == predictor.model_best].iloc[0]
    claim = abs(float(best["score_val"]))
    note = f"{predictor.model_best} of {len(board)}"
    if task.kind == "regression":
        return lambda: ContenderResult(predictor.predict(task.test).to_numpy(), claim=claim, note=note)

    def predict() -> ContenderResult:
        probabilities = predictor.predict_proba(task.test)
        return ContenderResult(probabilities.to_numpy(), class_names(probabilities.columns), claim, note)

    return predict


if __name__ == "__main__":
    run_contender(fit)

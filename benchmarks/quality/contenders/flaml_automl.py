"""FLAML's AutoML with a time budget and otherwise default settings."""

from collections.abc import Callable

from benchmarks.quality.contenders.task import ContenderResult, Task, class_names, run_contender
from flaml import AutoML

METRICS = {"roc_auc": "roc_auc", "log_loss": "log_loss", "rmse": "rmse", "mae": "mae"}


def fit(task: Task) -> Callable[[], ContenderResult]:
    automl = AutoML()
    automl.fit(
        X_train=task.features,
        y_train=task.labels,
        task="regression" if task.kind == "regression" else "classification",
        metric=METRICS[task.metric],
        time_budget=task.budget_s,
        n_jobs=2,
        seed=1,
        verbose=0,
    )
    loss = float(automl.best_loss)
    claim = 1 - loss if task.metric == "roc_auc" else loss
    if task.kind == "regression":
        return lambda: ContenderResult(automl.predict(task.test), claim=claim, note=str(automl.best_estimator))
    return lambda: ContenderResult(
        automl.predict_proba(task.test), class_names(automl.classes_), claim, str(automl.best_estimator)
    )


if __name__ == "__main__":
    run_contender(fit)

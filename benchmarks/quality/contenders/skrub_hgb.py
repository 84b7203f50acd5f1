"""skrub's TableVectorizer and scikit-learn's histogram gradient boosting, both with default settings."""

from collections.abc import Callable

from benchmarks.quality.contenders.task import ContenderResult, Task, class_names, run_contender
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from skrub import tabular_pipeline


def fit(task: Task) -> Callable[[], ContenderResult]:
    regression = task.kind == "regression"
    estimator = HistGradientBoostingRegressor() if regression else HistGradientBoostingClassifier()
    model = tabular_pipeline(estimator)
    model.fit(task.features, task.labels)
    if regression:
        return lambda: ContenderResult(model.predict(task.test))
    return lambda: ContenderResult(model.predict_proba(task.test), class_names(model.classes_))


if __name__ == "__main__":
    run_contender(fit)

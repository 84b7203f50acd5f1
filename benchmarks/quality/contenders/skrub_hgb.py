"""skrub's TableVectorizer and scikit-learn's histogram gradient boosting, both as they come."""

from collections.abc import Callable

from benchmarks.quality.contenders.task import Said, Task, names_of, run
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from skrub import tabular_pipeline


def fit(task: Task) -> Callable[[], Said]:
    regression = task.kind == "regression"
    estimator = HistGradientBoostingRegressor() if regression else HistGradientBoostingClassifier()
    model = tabular_pipeline(estimator)
    model.fit(task.features, task.labels)
    if regression:
        return lambda: Said(model.predict(task.test))
    return lambda: Said(model.predict_proba(task.test), names_of(model.classes_))


if __name__ == "__main__":
    run(fit)

"""The estimators by name: how each is made, what it accepts, and what tuning may try."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from app.errors import InvalidInput
from app.modeling.estimators.custom_estimator import CustomEstimator
from app.modeling.estimators.families.catboost import CatBoost
from app.modeling.estimators.families.learner import aim_of
from app.modeling.estimators.families.lightgbm import LightGBM
from app.modeling.estimators.families.linear import Logistic, RidgePath
from app.modeling.estimators.families.network import Network
from app.modeling.estimators.families.on_log import OnLog
from app.modeling.estimators.families.xgboost import XGBoost
from app.modeling.problem.custom_code import CUSTOM_ESTIMATOR
from app.modeling.problem.names import nearest_names
from app.modeling.problem.problem import Problem, ProblemKind

Hyperparameters = Mapping[str, Any]
BASELINE = "baseline"
ON_LOG = "on_log"
RESERVED = {"n_jobs", "random_state", "verbose", "verbosity", "warm_start", "device", "callbacks"}
RESERVED |= {"classes", "aim"}
"""Set by who runs the fit: threads and seed are not an agent's to choose."""


@dataclass(frozen=True)
class Range:
    """Values that tuning may try, between two bounds, in even or logarithmic steps."""

    low: float
    high: float
    log: bool = False
    whole: bool = False


Choice = tuple[Any, ...]


@dataclass(frozen=True)
class Candidate:
    """One estimator by name. `make(problem, hyperparameters, seed, threads)` gives it unfitted.

    `learns_by_watching`: it finds its own settings and keeps its own time (`families.learner`).
    `rounds`: the hyperparameter of any other that says how many trees it takes, which a time limit may cut.
    """

    name: str
    kinds: tuple[ProblemKind, ...]
    style: str
    defaults: Mapping[str, Any]
    space: Mapping[str, Range | Choice]
    make: Callable[[Problem, dict[str, Any], int, int], Any]
    rounds: str | None = None
    learns_by_watching: bool = False


BOTH = (ProblemKind.CLASSIFICATION, ProblemKind.REGRESSION)


def _baseline(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    if problem.is_classification:
        return DummyClassifier(strategy="prior")
    if problem.horizon:
        return DummyRegressor(strategy="constant", constant=0.0)  # persistence: nothing changes
    return DummyRegressor(**values)


def _logistic(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    return Logistic(_classes(problem), random_state=seed, **values)


def _ridge(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    return RidgePath(_aim(problem), random_state=seed, **values)


def _forest(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    made = RandomForestClassifier if problem.is_classification else RandomForestRegressor
    return made(random_state=seed, n_jobs=threads, **values)


def _extra(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    made = ExtraTreesClassifier if problem.is_classification else ExtraTreesRegressor
    return made(random_state=seed, n_jobs=threads, **values)


def _boosting(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    made = HistGradientBoostingClassifier if problem.is_classification else HistGradientBoostingRegressor
    return made(random_state=seed, early_stopping=False, **values)


def _lightgbm(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    return LightGBM(_classes(problem), _aim(problem), random_state=seed, n_jobs=threads, **values)


def _xgboost(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    return XGBoost(_classes(problem), _aim(problem), random_state=seed, n_jobs=threads, **values)


def _catboost(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    return CatBoost(_classes(problem), _aim(problem), random_state=seed, n_jobs=threads, **values)


def _network(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    return Network(_classes(problem), _aim(problem), random_state=seed, **values)


def _written(problem: Problem, values: dict[str, Any], seed: int, threads: int) -> Any:
    return CustomEstimator(_classes(problem), random_state=seed, **values)


def _classes(problem: Problem) -> int:
    return len(problem.classes or ())


def _aim(problem: Problem) -> str:
    return aim_of(problem.metric, problem.quantile)


_TREES: dict[str, Range | Choice] = {
    "n_estimators": (200, 400),
    "min_samples_leaf": Range(1, 20, log=True, whole=True),
    "max_features": (0.3, 0.5, 0.7, 1.0, "sqrt"),
}
_SAMPLED: dict[str, Range | Choice] = {
    "subsample": Range(0.6, 1.0),
    "colsample_bytree": Range(0.3, 1.0),
    "reg_lambda": Range(0.1, 10, log=True),
}
_LEAVES: dict[str, Range | Choice] = {
    "num_leaves": Range(4, 127, log=True, whole=True),
    "min_child_samples": Range(2, 60, log=True, whole=True),
}
_TREE_DEFAULTS = {"n_estimators": 200, "min_samples_leaf": 2, "max_features": "sqrt"}

CANDIDATES: dict[str, Candidate] = {
    candidate.name: candidate
    for candidate in (
        Candidate(BASELINE, BOTH, "blind", {}, {}, _baseline),
        Candidate(
            "LogisticRegression",
            (ProblemKind.CLASSIFICATION,),
            "linear",
            {},
            {"C": Range(0.001, 100, log=True)},
            _logistic,
            learns_by_watching=True,
        ),
        Candidate(
            "Ridge",
            (ProblemKind.REGRESSION,),
            "linear",
            {},
            {"alpha": Range(0.01, 1000, log=True)},
            _ridge,
            learns_by_watching=True,
        ),
        Candidate("LightGBM", BOTH, "tree", {}, _LEAVES | _SAMPLED, _lightgbm, learns_by_watching=True),
        Candidate(
            "LightGBMExtra",
            BOTH,
            "tree",
            {"extra_trees": True},
            _LEAVES | _SAMPLED,
            _lightgbm,
            learns_by_watching=True,
        ),
        Candidate(
            "CatBoost",
            BOTH,
            "native",
            {},
            {"depth": Range(4, 8, whole=True), "l2_leaf_reg": Range(1, 10, log=True)},
            _catboost,
            learns_by_watching=True,
        ),
        Candidate(
            "Network",
            BOTH,
            "network",
            {},
            {
                "hidden": (48, 96, 192),
                "rate": Range(5e-4, 5e-3, log=True),
                "dropout": Range(0.0, 0.4),
                "decay": Range(1e-3, 1e-1, log=True),
            },
            _network,
            learns_by_watching=True,
        ),
        Candidate("RandomForest", BOTH, "tree", _TREE_DEFAULTS, _TREES, _forest, "n_estimators"),
        Candidate("ExtraTrees", BOTH, "tree", _TREE_DEFAULTS, _TREES, _extra, "n_estimators"),
        Candidate(
            "GradientBoosting",
            BOTH,
            "tree",
            {"max_iter": 100, "learning_rate": 0.05, "max_leaf_nodes": 8, "min_samples_leaf": 20},
            {
                "max_iter": (60, 100, 200),
                "learning_rate": Range(0.02, 0.2, log=True),
                "max_leaf_nodes": Range(4, 63, log=True, whole=True),
                "min_samples_leaf": Range(5, 60, log=True, whole=True),
                "l2_regularization": Range(0.001, 10, log=True),
            },
            _boosting,
            "max_iter",
        ),
        Candidate(
            "XGBoost",
            BOTH,
            "tree",
            {},
            {
                "max_depth": Range(3, 9, whole=True),
                "min_child_weight": Range(1, 20, log=True),
                **_SAMPLED,
            },
            _xgboost,
            learns_by_watching=True,
        ),
        Candidate(CUSTOM_ESTIMATOR, BOTH, "network", {}, {}, _written),
    )
}

_ALIASES = {
    "logistic": "LogisticRegression",
    "logreg": "LogisticRegression",
    "linear": "Ridge",
    "linearregression": "Ridge",
    "rf": "RandomForest",
    "hgb": "GradientBoosting",
    "histgradientboosting": "GradientBoosting",
    "gbm": "GradientBoosting",
    "xgb": "XGBoost",
    "lgb": "LightGBM",
    "mlp": "Network",
    "neuralnetwork": "Network",
    "lgbm": "LightGBM",
    "dummy": BASELINE,
    "naive": BASELINE,
}


def candidate(name: str, kind: ProblemKind) -> Candidate:
    """The candidate of that name for this kind of problem; raises InvalidInput `unknown_estimator`."""
    plain_name = "".join(letter for letter in name.lower() if letter.isalnum())
    plain_name = plain_name.removesuffix("classifier").removesuffix("regressor")
    by_plain = {known.lower(): known for known in CANDIDATES} | _ALIASES
    found = by_plain.get(plain_name)
    fitting = [known.name for known in CANDIDATES.values() if kind in known.kinds]
    if found is None or found not in fitting:
        raise InvalidInput(
            "unknown_estimator",
            f"{name!r} is no estimator for {kind.value}. Choose from {', '.join(fitting)}.",
            estimator=name,
            nearest=nearest_names(name, fitting),
        )
    return CANDIDATES[found]


def make_estimator(
    name: str, problem: Problem, hyperparameters: Hyperparameters, seed: int, threads: int
) -> tuple[Any, str]:
    """The unfitted estimator and the style of its encoding; raises InvalidInput `bad_hyperparameter`.

    `on_log` (families of numbers that learn by watching): learn the logarithm of a positive target.
    """
    found = candidate(name, problem.kind)
    values = dict(hyperparameters)
    on_log = values.pop(ON_LOG, False) and not problem.is_classification and found.learns_by_watching
    estimator = found.make(problem, dict(found.defaults), seed, threads)
    allowed = set(estimator.get_params()) - RESERVED
    if on_log:
        estimator = OnLog(estimator, _aim(problem))
        allowed.add("factor")
    unknown = sorted(set(values) - allowed)
    if unknown:
        raise InvalidInput(
            "bad_hyperparameter",
            f"{found.name} has no hyperparameter {unknown[0]!r}.",
            hyperparameter=unknown[0],
            nearest=nearest_names(unknown[0], sorted(allowed)),
        )
    estimator.set_params(**values)
    return estimator, estimator.style if found.name == CUSTOM_ESTIMATOR else found.style

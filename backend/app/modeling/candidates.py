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
from sklearn.linear_model import LogisticRegression, Ridge
from xgboost import XGBClassifier, XGBRegressor

from app.errors import InvalidInput
from app.modeling.nearest import nearest
from app.modeling.problem import Kind

Hyperparameters = Mapping[str, Any]
BASELINE = "baseline"
RESERVED = {"n_jobs", "random_state", "verbose", "verbosity", "warm_start", "device", "callbacks"}
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
    """One estimator by name. `make(kind, hyperparameters, seed, threads)` gives it unfitted.

    `rounds`: the hyperparameter that says how many trees or iterations it takes, which a time limit may cut.
    """

    name: str
    kinds: tuple[Kind, ...]
    style: str
    defaults: Mapping[str, Any]
    space: Mapping[str, Range | Choice]
    make: Callable[[Kind, dict[str, Any], int, int], Any]
    rounds: str | None = None


BOTH = (Kind.CLASSIFICATION, Kind.REGRESSION)


def _baseline(kind: Kind, values: dict[str, Any], seed: int, threads: int) -> Any:
    return DummyClassifier(strategy="prior") if kind is Kind.CLASSIFICATION else DummyRegressor(**values)


def _logistic(kind: Kind, values: dict[str, Any], seed: int, threads: int) -> Any:
    return LogisticRegression(random_state=seed, **values)


def _ridge(kind: Kind, values: dict[str, Any], seed: int, threads: int) -> Any:
    return Ridge(**values)


def _forest(kind: Kind, values: dict[str, Any], seed: int, threads: int) -> Any:
    made = RandomForestClassifier if kind is Kind.CLASSIFICATION else RandomForestRegressor
    return made(random_state=seed, n_jobs=threads, **values)


def _extra(kind: Kind, values: dict[str, Any], seed: int, threads: int) -> Any:
    made = ExtraTreesClassifier if kind is Kind.CLASSIFICATION else ExtraTreesRegressor
    return made(random_state=seed, n_jobs=threads, **values)


def _boosting(kind: Kind, values: dict[str, Any], seed: int, threads: int) -> Any:
    made = HistGradientBoostingClassifier if kind is Kind.CLASSIFICATION else HistGradientBoostingRegressor
    return made(random_state=seed, early_stopping=False, **values)


def _xgboost(kind: Kind, values: dict[str, Any], seed: int, threads: int) -> Any:
    made = XGBClassifier if kind is Kind.CLASSIFICATION else XGBRegressor
    return made(random_state=seed, n_jobs=threads, tree_method="hist", verbosity=0, **values)


_TREES: dict[str, Range | Choice] = {
    "n_estimators": (200, 400),
    "min_samples_leaf": Range(1, 20, log=True, whole=True),
    "max_features": (0.3, 0.5, 0.7, 1.0, "sqrt"),
}
_TREE_DEFAULTS = {"n_estimators": 200, "min_samples_leaf": 2, "max_features": "sqrt"}

CANDIDATES: dict[str, Candidate] = {
    candidate.name: candidate
    for candidate in (
        Candidate(BASELINE, BOTH, "tree", {}, {}, _baseline),
        Candidate(
            "LogisticRegression",
            (Kind.CLASSIFICATION,),
            "linear",
            {"C": 1.0, "max_iter": 1000},
            {"C": Range(0.001, 100, log=True)},
            _logistic,
        ),
        Candidate(
            "Ridge",
            (Kind.REGRESSION,),
            "linear",
            {"alpha": 10.0},
            {"alpha": Range(0.01, 1000, log=True)},
            _ridge,
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
            {
                "n_estimators": 150,
                "learning_rate": 0.06,
                "max_depth": 4,
                "subsample": 0.8,
                "colsample_bytree": 0.8,
            },
            {
                "n_estimators": (100, 200, 400),
                "learning_rate": Range(0.01, 0.2, log=True),
                "max_depth": Range(2, 8, whole=True),
                "min_child_weight": Range(1, 20, log=True),
                "subsample": Range(0.6, 1.0),
                "colsample_bytree": Range(0.5, 1.0),
                "reg_lambda": Range(0.1, 10, log=True),
            },
            _xgboost,
            "n_estimators",
        ),
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
    "dummy": BASELINE,
    "naive": BASELINE,
}


def candidate(name: str, kind: Kind) -> Candidate:
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
            nearest=nearest(name, fitting),
        )
    return CANDIDATES[found]


def make_estimator(
    name: str, kind: Kind, hyperparameters: Hyperparameters, seed: int, threads: int
) -> tuple[Any, str]:
    """The unfitted estimator and the style of its encoding; raises InvalidInput `bad_hyperparameter`."""
    found = candidate(name, kind)
    estimator = found.make(kind, dict(found.defaults), seed, threads)
    allowed = set(estimator.get_params()) - RESERVED
    unknown = sorted(set(hyperparameters) - allowed)
    if unknown:
        raise InvalidInput(
            "bad_hyperparameter",
            f"{found.name} has no hyperparameter {unknown[0]!r}.",
            hyperparameter=unknown[0],
            nearest=nearest(unknown[0], sorted(allowed)),
        )
    return estimator.set_params(**hyperparameters), found.style

"""Estimators by name, with their constructors, hyperparameters and search spaces."""

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
from app.modeling.estimators.families.learner import choose_aim
from app.modeling.estimators.families.lightgbm import LightGBM
from app.modeling.estimators.families.linear import Logistic, RidgePath
from app.modeling.estimators.families.log_target import LogTargetModel
from app.modeling.estimators.families.network import Network
from app.modeling.estimators.families.xgboost import XGBoost
from app.modeling.facts.code_in_facts import CUSTOM_ESTIMATOR
from app.modeling.problem.kinds import BASELINE, PLAIN, ProblemKind
from app.modeling.problem.name_resolution import nearest_names
from app.modeling.problem.problem import Problem

Hyperparameters = Mapping[str, Any]
ON_LOG = "on_log"
RESERVED_PARAMETERS = {"n_jobs", "random_state", "verbose", "verbosity", "warm_start", "device", "callbacks"}
RESERVED_PARAMETERS |= {"classes", "aim"}
"""Constructor arguments that the fit sets itself, such as threads and seed; agents may not."""


@dataclass(frozen=True)
class SearchRange:
    """Interval of a hyperparameter for tuning; `log`: on a logarithmic scale."""

    low: float
    high: float
    log: bool = False
    is_integer: bool = False


SearchChoices = tuple[Any, ...]


@dataclass(frozen=True)
class EstimatorSpec:
    """One estimator by name. `make(problem, hyperparameters, seed, threads)` returns it unfitted.

    `is_self_tuning`: it chooses settings on validation rows, within a time limit (`families.learner`).
    `rounds_parameter`: of any other, the number of trees, which a time limit may reduce.
    """

    name: str
    kinds: tuple[ProblemKind, ...]
    style: str
    defaults: Mapping[str, Any]
    search_space: Mapping[str, SearchRange | SearchChoices]
    make: Callable[[Problem, dict[str, Any], int, int], Any]
    rounds_parameter: str | None = None
    is_self_tuning: bool = False
    keeps_time: bool = False
    """True for fixed settings with a time limit: the fit learns from fewer rows, or is cut."""


BOTH_KINDS = (ProblemKind.CLASSIFICATION, ProblemKind.REGRESSION)


def _baseline(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    if problem.is_classification:
        # The shares of the classes: the most frequent one alone would have no log loss.
        return DummyClassifier(strategy="prior")
    if problem.horizon:
        return DummyRegressor(strategy="constant", constant=0.0)  # persistence: nothing changes
    return DummyRegressor(**parameters)


def _logistic(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    return Logistic(_classes(problem), random_state=seed, **parameters)


def _ridge(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    return RidgePath(_aim(problem), random_state=seed, **parameters)


def _forest(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    estimator_class = RandomForestClassifier if problem.is_classification else RandomForestRegressor
    return estimator_class(random_state=seed, n_jobs=threads, **parameters)


def _extra(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    estimator_class = ExtraTreesClassifier if problem.is_classification else ExtraTreesRegressor
    return estimator_class(random_state=seed, n_jobs=threads, **parameters)


def _boosting(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    estimator_class = (
        HistGradientBoostingClassifier if problem.is_classification else HistGradientBoostingRegressor
    )
    # Its own early stopping would take rows away from training; folds judge it as it is.
    return estimator_class(random_state=seed, early_stopping=False, **parameters)


def _lightgbm(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    return LightGBM(_classes(problem), _aim(problem), random_state=seed, n_jobs=threads, **parameters)


def _plain(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    # Squared error is the default, also where the absolute error counts: that of the median learns slowly, and
    # the other families have it.
    aim = _aim(problem)
    settings = {**_PLAIN_DEFAULTS, "random_state": seed, "n_jobs": threads, **parameters}
    return LightGBM(_classes(problem), "mean" if aim == "median" else aim, **settings)


def _xgboost(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    return XGBoost(_classes(problem), _aim(problem), random_state=seed, n_jobs=threads, **parameters)


def _catboost(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    return CatBoost(_classes(problem), _aim(problem), random_state=seed, n_jobs=threads, **parameters)


def _network(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    return Network(_classes(problem), _aim(problem), random_state=seed, **parameters)


def _custom(problem: Problem, parameters: dict[str, Any], seed: int, threads: int) -> Any:
    return CustomEstimator(_classes(problem), random_state=seed, **parameters)


def _classes(problem: Problem) -> int:
    return len(problem.classes or ())


def _aim(problem: Problem) -> str:
    aim = choose_aim(problem.metric, problem.quantile)
    # Rates are never negative, but differences to the present value are.
    return "mean" if problem.learns_difference and aim == "poisson" else aim


_TREES: dict[str, SearchRange | SearchChoices] = {
    "n_estimators": (200, 400),
    "min_samples_leaf": SearchRange(1, 20, log=True, is_integer=True),
    "max_features": (0.3, 0.5, 0.7, 1.0, "sqrt"),
}
_SAMPLED: dict[str, SearchRange | SearchChoices] = {
    "subsample": SearchRange(0.6, 1.0),
    "colsample_bytree": SearchRange(0.3, 1.0),
    "reg_lambda": SearchRange(0.1, 10, log=True),
}
_LEAVES: dict[str, SearchRange | SearchChoices] = {
    "num_leaves": SearchRange(4, 127, log=True, is_integer=True),
    "min_child_samples": SearchRange(2, 60, log=True, is_integer=True),
}
_PLAIN_DEFAULTS = {
    "n_estimators": 100,
    "learning_rate": 0.1,
    "min_child_samples": 20,
    "subsample": 1.0,
    "colsample_bytree": 1.0,
    "reg_lambda": 0.0,
    "codes": False,
}
"""The default settings of LightGBM's own scikit-learn interface."""
_TREE_DEFAULTS = {"n_estimators": 200, "min_samples_leaf": 2, "max_features": "sqrt"}

ESTIMATORS: dict[str, EstimatorSpec] = {
    candidate.name: candidate
    for candidate in (
        EstimatorSpec(BASELINE, BOTH_KINDS, "blind", {}, {}, _baseline),
        EstimatorSpec(
            "LogisticRegression",
            (ProblemKind.CLASSIFICATION,),
            "linear",
            {},
            {"C": SearchRange(0.001, 100, log=True)},
            _logistic,
            is_self_tuning=True,
        ),
        EstimatorSpec(
            "Ridge",
            (ProblemKind.REGRESSION,),
            "linear",
            {},
            {"alpha": SearchRange(0.01, 1000, log=True)},
            _ridge,
            is_self_tuning=True,
        ),
        EstimatorSpec(PLAIN, BOTH_KINDS, "tree", {}, {}, _plain, keeps_time=True),
        EstimatorSpec("LightGBM", BOTH_KINDS, "tree", {}, _LEAVES | _SAMPLED, _lightgbm, is_self_tuning=True),
        EstimatorSpec(
            "LightGBMExtra",
            BOTH_KINDS,
            "tree",
            {"extra_trees": True},
            _LEAVES | _SAMPLED,
            _lightgbm,
            is_self_tuning=True,
        ),
        EstimatorSpec(
            "CatBoost",
            BOTH_KINDS,
            "native",
            {},
            {"depth": SearchRange(4, 8, is_integer=True), "l2_leaf_reg": SearchRange(1, 10, log=True)},
            _catboost,
            is_self_tuning=True,
        ),
        EstimatorSpec(
            "Network",
            BOTH_KINDS,
            "network",
            {},
            {
                "hidden": (48, 96, 192),
                "rate": SearchRange(5e-4, 5e-3, log=True),
                "dropout": SearchRange(0.0, 0.4),
                "decay": SearchRange(1e-3, 1e-1, log=True),
            },
            _network,
            is_self_tuning=True,
        ),
        EstimatorSpec("RandomForest", BOTH_KINDS, "tree", _TREE_DEFAULTS, _TREES, _forest, "n_estimators"),
        EstimatorSpec("ExtraTrees", BOTH_KINDS, "tree", _TREE_DEFAULTS, _TREES, _extra, "n_estimators"),
        EstimatorSpec(
            "GradientBoosting",
            BOTH_KINDS,
            "tree",
            {"max_iter": 100, "learning_rate": 0.05, "max_leaf_nodes": 8, "min_samples_leaf": 20},
            {
                "max_iter": (60, 100, 200),
                "learning_rate": SearchRange(0.02, 0.2, log=True),
                "max_leaf_nodes": SearchRange(4, 63, log=True, is_integer=True),
                "min_samples_leaf": SearchRange(5, 60, log=True, is_integer=True),
                "l2_regularization": SearchRange(0.001, 10, log=True),
            },
            _boosting,
            "max_iter",
        ),
        EstimatorSpec(
            "XGBoost",
            BOTH_KINDS,
            "tree",
            {},
            {
                "max_depth": SearchRange(3, 9, is_integer=True),
                "min_child_weight": SearchRange(1, 20, log=True),
                **_SAMPLED,
            },
            _xgboost,
            is_self_tuning=True,
        ),
        EstimatorSpec(CUSTOM_ESTIMATOR, BOTH_KINDS, "network", {}, {}, _custom),
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


def get_estimator_spec(name: str, kind: ProblemKind) -> EstimatorSpec:
    """Look up an estimator by name or alias, case ignored. Raises InvalidInput `unknown_estimator`."""
    plain_name = "".join(letter for letter in name.lower() if letter.isalnum())
    # Names of scikit-learn's and other libraries' classes mean the estimator.
    plain_name = plain_name.removesuffix("classifier").removesuffix("regressor")
    names = {name.lower(): name for name in ESTIMATORS} | _ALIASES
    estimator_name = names.get(plain_name)
    available = [spec.name for spec in ESTIMATORS.values() if kind in spec.kinds]
    if estimator_name is None or estimator_name not in available:
        raise InvalidInput(
            "unknown_estimator",
            f"{name!r} is not an estimator for {kind.value}. Choose from {', '.join(available)}.",
            estimator=name,
            nearest=nearest_names(name, available),
        )
    return ESTIMATORS[estimator_name]


def make_estimator(
    name: str, problem: Problem, hyperparameters: Hyperparameters, seed: int, threads: int
) -> tuple[Any, str]:
    """Make the unfitted estimator; return it with its encoding style. Raises InvalidInput `bad_hyperparameter`.

    `on_log` (self-tuning families, regression): fit the logarithm of a positive target.
    """
    spec = get_estimator_spec(name, problem.kind)
    parameters = dict(hyperparameters)
    on_log = parameters.pop(ON_LOG, False) and not problem.is_classification and spec.is_self_tuning
    estimator = spec.make(problem, dict(spec.defaults), seed, threads)
    allowed = set(estimator.get_params()) - RESERVED_PARAMETERS
    # With its factor set it is a model that an earlier version fitted, and is fitted again as it was.
    if on_log and problem.learns_difference and "factor" not in parameters:
        raise InvalidInput(
            "bad_hyperparameter",
            f"A forecast of {problem.target!r} learns its changes, and falls have no logarithm: leave"
            f" {ON_LOG!r} out.",
            hyperparameter=ON_LOG,
        )
    if on_log:
        estimator = LogTargetModel(estimator, _aim(problem))
        allowed.add("factor")
    unknown = sorted(set(parameters) - allowed)
    if unknown:
        raise InvalidInput(
            "bad_hyperparameter",
            f"{spec.name} has no hyperparameter {unknown[0]!r}.",
            hyperparameter=unknown[0],
            nearest=nearest_names(unknown[0], sorted(allowed)),
        )
    estimator.set_params(**parameters)
    return estimator, estimator.style if spec.name == CUSTOM_ESTIMATOR else spec.style

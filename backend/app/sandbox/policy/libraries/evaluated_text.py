"""Guards of the places inside libraries where text becomes a name, a template or Python."""

import functools
import operator
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from app.sandbox.policy.audit_hook import program_on_stack
from app.sandbox.policy.names.text_guards import (
    check_formula,
    check_name,
    check_template,
    check_text,
    plain_str,
)
from app.sandbox.policy.values.objects import refusal


def _check_formulas(module: ModuleType) -> None:
    """Check each factor of a formula: all that patsy evaluates as Python, for statsmodels too, is made here.

    What patsy evaluates lies in a mapping that a program can change meanwhile, so only text that came from a
    checked factor is evaluated.
    """
    factor, environment = module.EvalFactor, module.EvalEnvironment
    init, prepare, evaluate = factor.__init__, factor.memorize_passes_needed, environment.eval
    checked_texts: set[str] = set()

    @functools.wraps(init)
    def init_checked(self: object, code: Any, *arguments: Any, **options: Any) -> None:
        if program_on_stack():
            check_formula(plain_str(code))
        init(self, code, *arguments, **options)

    @functools.wraps(prepare)
    def prepare_checked(self: Any, state: Any, *arguments: Any, **options: Any) -> Any:
        if program_on_stack():
            check_formula(plain_str(self.code))
        passes = prepare(self, state, *arguments, **options)
        checked_texts.update((state["eval_code"], *state["memorize_code"].values()))
        return passes

    @functools.wraps(evaluate)
    def evaluate_checked(self: object, expr: Any, *arguments: Any, **options: Any) -> Any:
        if program_on_stack() and (type(expr) is not str or expr not in checked_texts):
            raise ValueError("only a formula's own text can be evaluated here")
        return evaluate(self, expr, *arguments, **options)

    factor.__init__ = init_checked
    factor.memorize_passes_needed = prepare_checked
    environment.eval = evaluate_checked


def _check_descriptions(module: ModuleType) -> None:
    """Check whole formulas, before patsy splits them, for errors that say more than its own."""
    from_formula = module.ModelDesc.from_formula.__func__

    @classmethod  # type: ignore[misc]  # it becomes a method of patsy's class
    def from_formula_checked(cls: type, tree_or_string: Any) -> Any:
        if isinstance(tree_or_string, str) and program_on_stack():
            check_formula(plain_str(tree_or_string))
        return from_formula(cls, tree_or_string)

    module.ModelDesc.from_formula = from_formula_checked


def _check_nodes(module: ModuleType) -> None:
    """Check the attributes that `query` and `eval` of pandas read, and what they find."""
    visit = module.BaseExprVisitor.visit_Attribute

    @functools.wraps(visit)
    def visit_checked(self: object, node: Any, **options: Any) -> Any:
        if not program_on_stack():
            return visit(self, node, **options)
        check_text(node.attr)
        term = visit(self, node, **options)
        reason = refusal(term.value)
        if reason is not None:
            raise AttributeError(f"{reason} is not accessible here")
        return term

    module.BaseExprVisitor.visit_Attribute = visit_checked


def _check_fields(module: ModuleType) -> None:
    """Check the attributes in format strings of matplotlib's formatters."""
    get_field = module.Formatter.get_field

    @functools.wraps(get_field)
    def get_field_checked(self: object, field_name: str, *arguments: Any) -> Any:
        if program_on_stack():
            for part in field_name.split(".")[1:]:
                check_name(part.partition("[")[0])
        return get_field(self, field_name, *arguments)

    module.Formatter.get_field = get_field_checked


def _check_getters(module: ModuleType) -> None:
    """Check `importance_getter` of scikit-learn's selectors, a path of attributes as text."""

    def getter(*names: str) -> Callable[[Any], Any]:
        for name in names:
            for part in name.split("."):
                check_name(part)
        return operator.attrgetter(*names)

    setattr(module, "attrgetter", getter)  # noqa: B010 (mypy knows no such name of a module)


def _check_parameters(kind: Any) -> None:
    """Refuse private names of parameters: an estimator reads and sets its parameters as attributes, by name."""
    set_all = kind.set_params

    @functools.wraps(set_all)
    def set_checked(self: object, **parameters: Any) -> Any:
        plain = {plain_str(name): value for name, value in parameters.items()}
        _refuse_private(part for name in plain for part in name.split("__"))
        return set_all(self, **plain)

    kind.set_params = set_checked


def _check_estimators(module: ModuleType) -> None:
    """Check the parameters of every estimator, those of the signature too."""
    names_of = module.BaseEstimator._get_param_names.__func__

    @classmethod  # type: ignore[misc]  # it becomes a method of scikit-learn's class
    def names_checked(cls: type) -> Any:
        names = names_of(cls)
        _refuse_private(names)
        return names

    module.BaseEstimator._get_param_names = names_checked
    _check_parameters(module.BaseEstimator)


def _refuse_private(names: Iterable[str]) -> None:
    for name in names:
        if name.startswith("_") and program_on_stack():
            raise TypeError(f"a parameter of an estimator may not begin with an underscore here: {name!r}")


def _check_templates_of(owner: Any, name: str) -> None:
    """Check the texts that `owner.name` takes, which are templates, while a program runs."""
    fill = getattr(owner, name)

    @functools.wraps(fill)
    def fill_checked(*arguments: Any, **keywords: Any) -> Any:
        if program_on_stack():
            for value in (*arguments, *keywords.values()):
                if isinstance(value, str):
                    check_template(plain_str(value))
        return fill(*arguments, **keywords)

    setattr(owner, name, fill_checked)


def _refuse_text(owner: Any, name: str) -> None:
    """Refuse the text that `owner.name` looks up among the variables of its callers."""
    look_up = getattr(owner, name)

    @functools.wraps(look_up)
    def refuse(*arguments: Any, **keywords: Any) -> Any:
        if program_on_stack():
            raise ValueError("names of arrays as text are not allowed here: give the arrays themselves")
        return look_up(*arguments, **keywords)

    setattr(owner, name, refuse)


def _hide_special_names(kind: Any) -> None:
    """Keep a class that answers attributes by its data from answering special names.

    Libraries ask objects for them: numpy reads memory at the address in `__array_interface__`.
    """
    read = kind.__getattr__

    def read_checked(self: object, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return read(self, name)

    kind.__getattr__ = read_checked


def _let_hold_datasets(module: ModuleType) -> None:
    """Let programs hold the sample data of statsmodels, of a module whose functions they may not."""
    _hide_special_keys(module.Dataset)
    module.Dataset.__module__ = "statsmodels.datasets"


def _hide_special_keys(kind: Any) -> None:
    """Let a mapping whose keys are its attributes answer by `__getattr__`, in place of its `__dict__`."""

    def read(self: Any, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self[name]

    def write(self: Any, name: str, value: object) -> None:
        if name != "__dict__":  # which the initialiser sets to the mapping itself
            self[name] = value

    kind.__getattr__, kind.__setattr__ = read, write
    _hide_special_names(kind)


TEXT_FUNNELS: dict[str, Callable[[ModuleType], None]] = {
    "matplotlib.cbook": lambda module: _check_templates_of(module, "_auto_format_str"),
    "matplotlib.ticker": lambda _: _check_fields(sys.modules["string"]),
    "numpy.matrixlib.defmatrix": lambda module: _refuse_text(module, "_from_string"),
    "pandas.core.computation.expr": _check_nodes,
    "pandas.core.generic": lambda module: _hide_special_names(module.NDFrame),
    "pandas.io.formats.format": lambda module: _check_templates_of(
        module.DataFrameFormatter, "_validate_float_format"
    ),
    "pandas.io.formats.style_render": lambda module: _check_templates_of(module, "_maybe_wrap_formatter"),
    "patsy.desc": _check_descriptions,
    "patsy.eval": _check_formulas,
    "scipy._lib._util": lambda module: _hide_special_names(module._RichResult),
    "sklearn.base": _check_estimators,
    "sklearn.compose._column_transformer": lambda module: _check_templates_of(
        module, "_feature_names_out_with_str_format"
    ),
    "sklearn.feature_selection._base": _check_getters,
    "sklearn.utils._bunch": lambda module: _hide_special_names(module.Bunch),
    "statsmodels.datasets.utils": _let_hold_datasets,
    "statsmodels.stats.inter_rater": lambda module: _hide_special_keys(module.ResultsBunch),
    "statsmodels.tools._decorators": lambda module: _hide_special_keys(module.ResettableCache),
    "statsmodels.tools.tools": lambda module: _hide_special_keys(module.Bunch),
    "xgboost.sklearn": lambda module: _check_parameters(module.XGBModel),
}
"""Modules that take text for more than text, and the guard of each."""

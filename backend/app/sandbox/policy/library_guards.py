"""Functions inside libraries that every way to a hazard passes, replaced by guarded ones in this process.

A cell serves one request and ends, so nothing is restored. Each function does the same as before for the
service's own code: it refuses only while a program's code is on the stack, or what nothing needs.
"""

import functools
import operator
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import joblib

from app.sandbox.policy.audit_hook import program_on_stack
from app.sandbox.policy.objects import deny
from app.sandbox.policy.text_guards import check_formula, check_name, plain_str
from app.sandbox.policy.workbook_guards import WORKBOOK_FUNNELS

_closed_modules: set[str] = set()


def close_funnels() -> None:
    """Guard the functions of modules that are imported by now. Called again after each import of a program."""
    joblib.Memory.__init__ = _init_without_folder
    for name, close in _FUNNELS.items():
        module = sys.modules.get(name)
        if module is not None and name not in _closed_modules and not _is_half_imported(module):
            _closed_modules.add(name)
            close(module)


def _is_half_imported(module: ModuleType) -> bool:
    return bool(getattr(module.__spec__, "_initializing", False))


_memory_init = joblib.Memory.__init__


def _init_without_folder(self: joblib.Memory, location: object = None, *arguments: Any, **options: Any) -> None:
    """Refuse a cache on disk: joblib reads it back as pickles, and a program can write into that folder."""
    if location is not None and program_on_stack():
        raise PermissionError(f"memory={location!r} is not allowed here: nothing is cached on disk")
    _memory_init(self, location, *arguments, **options)


def _check_formulas(module: ModuleType) -> None:
    """Check each factor of a formula: all that patsy evaluates as Python, for statsmodels too, is made here."""
    init = module.EvalFactor.__init__

    @functools.wraps(init)
    def init_checked(self: object, code: Any, *arguments: Any, **options: Any) -> None:
        if program_on_stack():
            check_formula(str(code))
        init(self, code, *arguments, **options)

    module.EvalFactor.__init__ = init_checked


def _check_descriptions(module: ModuleType) -> None:
    """Check whole formulas, before patsy splits them, for errors that say more than its own."""
    from_formula = module.ModelDesc.from_formula.__func__

    @classmethod  # type: ignore[misc]  # it becomes a method of patsy's class
    def from_formula_checked(cls: type, tree_or_string: Any) -> Any:
        if isinstance(tree_or_string, str) and program_on_stack():
            check_formula(plain_str(tree_or_string))
        return from_formula(cls, tree_or_string)

    module.ModelDesc.from_formula = from_formula_checked


def _deny_unpickling(module: ModuleType) -> None:
    for name in ("LikelihoodModelResults", "ResultsWrapper", "Results"):
        load = getattr(getattr(module, name, None), "load", None)
        if load is not None:
            deny(load, f"{module.__name__}.{name}.load")


def _check_nodes(module: ModuleType) -> None:
    """Check the attributes that `query` and `eval` of pandas read."""
    visit = module.BaseExprVisitor.visit_Attribute

    @functools.wraps(visit)
    def visit_checked(self: object, node: Any, **options: Any) -> Any:
        if program_on_stack():
            check_name(node.attr)
        return visit(self, node, **options)

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


def _announce_path(function: Callable[..., Any], position: int, mode: str) -> Callable[..., Any]:
    """Wrap `function`, whose argument at `position` names a file, to raise an audit event for that file.

    Compiled code opens such files itself, and raises no event.
    """

    @functools.wraps(function)
    def announce(*arguments: Any, **options: Any) -> Any:
        values = [
            *arguments[position : position + 1],
            *(options[name] for name in _PATH_PARAMETERS if name in options),
        ]
        for value in values:
            if isinstance(value, str | bytes | os.PathLike):
                sys.audit("open", os.path.expanduser(value), mode, 0)  # noqa: PTH111 (bytes too)
        return function(*arguments, **options)

    return announce


_PATH_PARAMETERS = ("data", "fname", "model_file", "path")
"""Parameters that may name a file which compiled code opens."""


def _announce_parquet(module: ModuleType) -> None:
    module.PyArrowImpl.read = _announce_path(module.PyArrowImpl.read, 1, "r")
    module.PyArrowImpl.write = _announce_path(module.PyArrowImpl.write, 2, "w")


def _announce_xgboost(module: ModuleType) -> None:
    module.DMatrix.__init__ = _announce_path(module.DMatrix.__init__, 1, "r")
    module.DMatrix.save_binary = _announce_path(module.DMatrix.save_binary, 1, "w")
    module.Booster.load_model = _announce_path(module.Booster.load_model, 1, "r")
    module.Booster.save_model = _announce_path(module.Booster.save_model, 1, "w")


_FUNNELS: dict[str, Callable[[ModuleType], None]] = {
    "matplotlib.ticker": lambda _: _check_fields(sys.modules["string"]),
    "pandas.core.computation.expr": _check_nodes,
    "pandas.io.parquet": _announce_parquet,
    "patsy.desc": _check_descriptions,
    "patsy.eval": _check_formulas,
    "statsmodels.base.model": _deny_unpickling,
    "statsmodels.base.wrapper": _deny_unpickling,
    "sklearn.feature_selection._base": _check_getters,
    "xgboost.core": _announce_xgboost,
    **WORKBOOK_FUNNELS,
}

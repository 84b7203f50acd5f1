"""Guards of functions that hand a path to compiled code, which opens the file without an audit event."""

import functools
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from app.sandbox.policy.audit_hook import program_on_stack
from app.sandbox.policy.libraries.memory_guards import protect_handles
from app.sandbox.policy.names.text_guards import plain_str

_PATH_PARAMETERS = ("fmap", "fname", "input_file", "model_file", "path", "source", "target")
"""Parameters that may name a file which compiled code opens."""


def _announce(path: Any, mode: str) -> Any:
    """Raise an audit event for the file that `path` names. Returns the path as the event showed it.

    A subclass of str could show compiled code other characters than the hook.
    """
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if isinstance(path, str):
        path = plain_str(path)
    elif isinstance(path, bytes):
        path = bytes(path)
    elif isinstance(path, list | tuple) and program_on_stack():
        raise TypeError("one file is opened at a time here: give its name, not a list of names")
    else:
        return path  # an open file, which is checked by its methods
    path = os.path.expanduser(path)  # noqa: PTH111 (as the libraries do, bytes too)
    if path:
        sys.audit("open", path, mode, 0)
    return path


def _announce_path(function: Callable[..., Any], position: int, mode: str) -> Callable[..., Any]:
    """Wrap `function`, whose argument at `position` names a file, to raise an audit event for that file."""

    @functools.wraps(function)
    def announce(*arguments: Any, **options: Any) -> Any:
        values = list(arguments)
        if len(values) > position:
            values[position] = _announce(values[position], mode)
        for name in _PATH_PARAMETERS:
            if name in options:
                options[name] = _announce(options[name], mode)
        return function(*values, **options)

    return announce


def _announce_parquet(module: ModuleType) -> None:
    module.PyArrowImpl.read = _announce_path(module.PyArrowImpl.read, 1, "r")
    module.PyArrowImpl.write = _announce_path(module.PyArrowImpl.write, 2, "w")


def _announce_text(module: ModuleType) -> None:
    """Announce files that pyarrow's readers of text open."""
    for name in ("open_csv", "open_json", "read_csv", "read_json"):
        if hasattr(module, name):
            setattr(module, name, _announce_path(getattr(module, name), 0, "r"))


def _announce_matrices(module: ModuleType) -> None:
    """Announce files in the Matrix Market format of scipy."""
    for name, mode in (("_get_read_cursor", "r"), ("_get_write_cursor", "w")):
        setattr(module, name, _announce_path(getattr(module, name), 0, mode))


def _announce_models(module: ModuleType) -> None:
    module.DMatrix.save_binary = _announce_path(module.DMatrix.save_binary, 1, "w")
    module.Booster.load_model = _announce_path(module.Booster.load_model, 1, "r")
    module.Booster.save_model = _announce_path(module.Booster.save_model, 1, "w")
    module.Booster.get_dump = _announce_path(module.Booster.get_dump, 1, "r")
    _announce_settings(module)
    protect_handles(module)


_SETTINGS = {"cache_prefix": "w", "feature_map": "r", "uri": "r"}
"""Settings that name a file in the JSON text that XGBoost's library takes, and how it opens the file."""


def _announce_settings(module: ModuleType) -> None:
    settings = module.make_jcargs

    def announce(**values: Any) -> Any:
        for name, mode in _SETTINGS.items():
            if name in values:
                values[name] = _announce(values[name], mode)
        return settings(**values)

    setattr(module, "make_jcargs", announce)  # noqa: B010 (mypy knows no such name of a module)


def _check_solver_options(module: ModuleType) -> None:
    """Refuse files among the options that scipy passes to HiGHS as they are."""
    solve = module._highs_wrapper

    def solve_checked(*arguments: Any, **keywords: Any) -> Any:
        options = keywords.get("options", arguments[-1] if arguments else None)
        if program_on_stack() and isinstance(options, dict):
            for name, value in options.items():
                if str(name).endswith("_file") and value:
                    raise PermissionError(f"the option {name!r} is not allowed here: it names a file")
        return solve(*arguments, **keywords)

    setattr(module, "_highs_wrapper", solve_checked)  # noqa: B010 (the same)


def _check_hulls(module: ModuleType) -> None:
    """Refuse the options `TI` and `TO` of Qhull, which name files."""
    for name in ("ConvexHull", "Delaunay", "HalfspaceIntersection", "Voronoi"):
        kind = getattr(module, name)
        kind.__init__ = _without_files(kind.__init__)


def _without_files(init: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(init)
    def checked(self: Any, *arguments: Any, **keywords: Any) -> None:
        for value in (*arguments, *keywords.values()):
            if isinstance(value, str | bytes) and any(map(_names_file, str(value).split())):
                raise PermissionError("the options TI and TO of Qhull are not allowed here: they name files")
        init(self, *arguments, **keywords)

    return checked


def _names_file(option: str) -> bool:
    return option.lstrip("b'\"").startswith("T") and ("I" in option or "O" in option)


FILE_FUNNELS = {
    "pandas.io.parquet": _announce_parquet,
    "pyarrow.csv": _announce_text,
    "pyarrow.json": _announce_text,
    "scipy.io._fast_matrix_market": _announce_matrices,
    "scipy.optimize._linprog_highs": _check_solver_options,
    "scipy.optimize._milp": _check_solver_options,
    "scipy.spatial._qhull": _check_hulls,
    "xgboost.core": _announce_models,
    "xgboost.data": _announce_settings,
}
"""Modules whose functions name files to compiled code, and the guard of each."""

"""Functions inside libraries that every way to a hazard passes, replaced by guarded ones in this process.

A cell serves one request and ends, so nothing is restored. Each function does the same as before for the
service's own code: it refuses only while a program's code is on the stack, or what nothing needs.
"""

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import joblib

from app.sandbox.policy.audit_hook import program_on_stack
from app.sandbox.policy.libraries.evaluated_text import TEXT_FUNNELS
from app.sandbox.policy.libraries.file_guards import FILE_FUNNELS
from app.sandbox.policy.libraries.memory_guards import check_windows
from app.sandbox.policy.libraries.workbook_guards import WORKBOOK_FUNNELS
from app.sandbox.policy.values.array_types import check_memory
from app.sandbox.policy.values.objects import deny

_closed_modules: set[str] = set()


def close_funnels() -> None:
    """Guard the functions of modules that are imported by now, and of others when they are imported."""
    joblib.Memory.__init__ = _init_without_folder
    if _LateFunnels not in sys.meta_path:
        sys.meta_path.insert(0, _LateFunnels)
    for name in _FUNNELS:
        module = sys.modules.get(name)
        if module is not None and not _is_half_imported(module):
            _close(name, module)


def _close(name: str, module: ModuleType) -> None:
    if name not in _closed_modules:
        _closed_modules.add(name)
        _FUNNELS[name](module)


def _is_half_imported(module: ModuleType) -> bool:
    return bool(getattr(module.__spec__, "_initializing", False))


class _LateFunnels:
    """Finder of modules that guards those which libraries import while they work, such as styles of pandas."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in _FUNNELS or name in _closed_modules:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_close(module: ModuleType) -> None:
            execute(module)
            _close(name, module)

        setattr(spec.loader, "exec_module", execute_and_close)  # noqa: B010 (mypy takes it for the method of a class)
        return spec


_memory_init = joblib.Memory.__init__


def _init_without_folder(self: joblib.Memory, location: object = None, *arguments: Any, **options: Any) -> None:
    """Refuse a cache on disk: joblib reads it back as pickles, and a program can write into that folder."""
    if location is not None and program_on_stack():
        raise PermissionError(f"memory={location!r} is not allowed here: nothing is cached on disk")
    _memory_init(self, location, *arguments, **options)


def _deny_unpickling(module: ModuleType) -> None:
    for name in ("LikelihoodModelResults", "ResultsWrapper", "Results"):
        load = getattr(getattr(module, name, None), "load", None)
        if load is not None:
            deny(load, f"{module.__name__}.{name}.load")


def _hide_tracebacks(module: ModuleType) -> None:
    """Give functions of a program that an ExitStack calls no traceback."""
    push = module.ExitStack.push

    def push_without(self: Any, exit: Any) -> Any:
        if not program_on_stack() or hasattr(type(exit), "__exit__"):
            return push(self, exit)
        push(self, lambda kind, error, traceback: exit(kind, error, None))
        return exit

    module.ExitStack.push = push_without


_FUNNELS: dict[str, Callable[[ModuleType], None]] = {
    "contextlib": _hide_tracebacks,
    "numpy._core.defchararray": lambda module: check_memory(module.chararray),
    "numpy._core.records": lambda module: check_memory(module.recarray),
    "pandas.core.window.rolling": check_windows,
    "statsmodels.base.model": _deny_unpickling,
    "statsmodels.base.wrapper": _deny_unpickling,
    **FILE_FUNNELS,
    **TEXT_FUNNELS,
    **WORKBOOK_FUNNELS,
}

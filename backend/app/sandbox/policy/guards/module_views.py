"""Modules as programs hold them: a view that has the listed names only.

A program never holds a module itself. A library that reads names of what a program gave it (a proxy, a generic
alias, a wrapper of results) reads them from the view, and so passes the same list.
"""

import sys
import types
from typing import Any

from app.sandbox.policy.allow_lists import MODULES
from app.sandbox.policy.libraries.attribute_names import plain_getattr
from app.sandbox.policy.names.private_names import spelled_name
from app.sandbox.policy.names.text_guards import guard_text_call
from app.sandbox.policy.values.objects import ModuleOfProgram
from app.sandbox.policy.values.substitutes import SUBSTITUTES, check_object

MISSING = object()
"""Default that says that there is none."""


class ModuleView(ModuleOfProgram):
    """The listed names of the imported module of the same name."""

    def __getattr__(self, name: str) -> Any:
        return read_from_module(self, name)

    def __dir__(self) -> list[str]:
        module = sys.modules[self.__name__]
        submodules = [name for name in dir(module) if _is_listed_module(module, name)]
        return sorted({*MODULES[self.__name__], *submodules})


_VIEWS: dict[str, ModuleView] = {}


def view_of(name: str) -> ModuleView:
    """Return the view of an imported module of MODULES, the same one each time."""
    if name not in _VIEWS:
        _VIEWS[name] = ModuleView(name)
    return _VIEWS[name]


def read_from_module(view: ModuleView, name: str, default: Any = MISSING) -> Any:
    """Return a name that the policy lists for this module; never another package's module through it.

    Raises AttributeError for any other name, unless a `default` is given and the module has none of that name.
    """
    full_name = types.ModuleType.__getattribute__(view, "__name__")
    module = sys.modules[full_name]
    is_module = _is_listed_module(module, name)
    if name not in MODULES[full_name] and not is_module:
        if default is not MISSING and not hasattr(module, name):
            return default
        raise AttributeError(f"{full_name}.{spelled_name(name)} is not allowed here")
    value = plain_getattr(module, name)
    if isinstance(value, types.ModuleType):
        if not _is_view_allowed(value):
            raise AttributeError(f"module {value.__name__} is not accessible here")
        return view_of(value.__name__)
    if isinstance(value, type) or not callable(value):
        value = check_object(value)
    else:
        value = SUBSTITUTES.get(id(value), value)
    return guard_text_call(module, name, value) if callable(value) else value


def _is_listed_module(module: types.ModuleType, name: str) -> bool:
    """Return True for a listed module of the same package, which needs no name of its own in the list."""
    value = plain_getattr(module, name, None)
    if not isinstance(value, types.ModuleType) or not _is_view_allowed(value):
        return False
    return value.__name__.partition(".")[0] == module.__name__.partition(".")[0]


def _is_view_allowed(module: types.ModuleType) -> bool:
    return module.__name__ in MODULES and sys.modules.get(module.__name__) is module

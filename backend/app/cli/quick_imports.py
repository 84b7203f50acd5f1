"""Imports of the command line without what takes time and is of no use to a command."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_UNUSED_MODULES = ("httpx._main",)
"""Optional parts of libraries that nobody here calls. httpx's own command line imports two more libraries, for
30 ms of processor time; httpx does without it where it cannot be imported."""

_NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""Variable by which pydantic leaves out its search for plugins, which reads the entry points of each installed
package: 20 ms of processor time in each process. Nobody here has one; the environment can say otherwise."""


@contextmanager
def quick_imports() -> Iterator[None]:
    """Keep the search for garbage off while the block imports: it takes a tenth of the time and finds none.

    Blocks may be nested.
    """
    was_on = gc.isenabled()
    gc.disable()
    os.environ.setdefault(*_NO_PLUGINS)
    for name in _UNUSED_MODULES:
        # As Python documents it: an import of this name raises ModuleNotFoundError.
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # typeshed knows modules only
    try:
        yield
    finally:
        if was_on:
            gc.freeze()  # modules stay: the first search after this would look through all that they made
            gc.enable()


@contextmanager
def hidden(name: str) -> Iterator[None]:
    """Have libraries that can do without the module `name` find none, unless it is imported already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # see above
    try:
        yield
    finally:
        del sys.modules[name]


def postpone(package: str) -> None:
    """Import a package without its own statements, which run when a name that they make is first asked for.

    Modules inside can be imported meanwhile. For a package that imports all of its modules, of which a library
    needs a single small one.
    """
    if package in sys.modules or (spec := find_spec(package)) is None:
        return
    parent, _, name = package.rpartition(".")
    sys.modules[package] = module = _Postponed.of(spec)
    setattr(sys.modules[parent], name, module)


class _Postponed(ModuleType):
    """A package whose statements have not run yet. Then it becomes an ordinary module."""

    @staticmethod
    def of(spec: ModuleSpec) -> ModuleType:
        module = module_from_spec(spec)
        module.__class__ = _Postponed
        return module

    def __getattr__(self, name: str) -> Any:
        # Once, and as an ordinary module: the statements may ask for names that only they make.
        self.__class__ = ModuleType  # type: ignore[assignment]  # as importlib's own lazy loader does
        if self.__spec__ is not None and self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)
        return getattr(self, name)

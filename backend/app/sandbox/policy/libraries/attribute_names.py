"""Attributes that libraries read and set by a name which is data, as `frame.agg(name)` does.

A guard of one function covers that function alone. Libraries take names of attributes in hundreds of places, in
lists, in objects that answer differently at each look, and in fields of other objects. All of these end in
`getattr` and `setattr`, which are replaced in this process: a special name passes only where the library's own
code spells it.
"""

import builtins
import sys
from types import FrameType
from typing import Any

from app.sandbox.policy.allow_lists import DENIED_ATTRIBUTES, EXPRESSIONS, MAGIC_METHODS, SPECIAL_NAMES
from app.sandbox.policy.audit_hook import is_importing, program_on_stack
from app.sandbox.policy.names.text_guards import plain_str

plain_getattr = getattr
"""The interpreter's own, for the guards, which check names themselves."""
plain_setattr = setattr

_HARMLESS = MAGIC_METHODS | SPECIAL_NAMES
_HAZARDS = DENIED_ATTRIBUTES | EXPRESSIONS
_CLASS_MAKERS = ("enum", "functools", "typing")
"""Modules that read special names of classes in loops; what takes such names of a program is replaced."""


def guard_names() -> None:
    """Replace `getattr` and `setattr` of the libraries in this process, which serves programs only."""
    setattr(builtins, "getattr", _read)  # noqa: B010 (the stubs know these names as functions)
    setattr(builtins, "setattr", _write)  # noqa: B010 (the same)


def _read(owner: Any, name: str, /, *default: Any) -> Any:
    if type(name) is not str and isinstance(name, str):
        name = plain_str(name)
    if name in _HAZARDS or (name[:2] == "__" and name not in _HARMLESS):
        _check(name, sys._getframe(1))
    return plain_getattr(owner, name, *default)


def _write(owner: Any, name: str, value: Any, /) -> None:
    if type(name) is not str and isinstance(name, str):
        name = plain_str(name)
    if name[:2] == "__" and name not in _HARMLESS:
        caller = sys._getframe(1)
        # The names that dataclasses sets are its own; those that it reads may be a program's.
        if caller.f_globals.get("__name__") != "dataclasses":
            _check(name, caller)
    plain_setattr(owner, name, value)


def _check(name: str, caller: FrameType) -> None:
    """Raise AttributeError for a special name that is data of a program, not spelled by the calling code."""
    module = caller.f_globals.get("__name__")
    place = (module, caller.f_lineno, name)
    if place in _own_places or module in _CLASS_MAKERS:
        return
    if name in caller.f_code.co_consts:
        _own_places.add(place)
    elif program_on_stack() and not is_importing(caller):
        raise AttributeError(f"{name!r} is not accessible here")


_own_places: set[tuple[object, int, str]] = set()
"""Modules, lines and names that were seen to be spelled: to read the code of a frame is an audit event."""


for _function, _original in ((_read, plain_getattr), (_write, plain_setattr)):
    _function.__name__ = _function.__qualname__ = _original.__name__

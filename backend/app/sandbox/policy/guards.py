"""What compiled code calls instead of reading, writing and importing by itself."""

import _string  # type: ignore[import-not-found]  # what string.Formatter itself uses; no stub
import contextlib
import functools
import importlib
import pkgutil
import string
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

from app.sandbox.policy.allowed import (
    DENIED_OBJECTS,
    IN_PLACE,
    ONLY,
    may_import,
)
from app.sandbox.policy.texts import check_name, watched

_MISSING = object()
_INNARDS = (types.FrameType, types.CodeType, types.TracebackType)
_FIXED = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, *_INNARDS)


def _find_denied() -> dict[int, str]:
    """Identities of DENIED_OBJECTS that this installation has."""
    found = {}
    for path in DENIED_OBJECTS:
        with contextlib.suppress(ImportError, AttributeError):
            found[id(_unbound(pkgutil.resolve_name(path)))] = path
    return found


def _unbound(value: object) -> object:
    """The function of a method: reading a method makes a new object each time."""
    return value.__func__ if isinstance(value, types.MethodType) else value


_DENIED = _find_denied()  # when the zygote imports this, not in every cell


def guarded_import(
    name: str,
    globals: object = None,
    locals: object = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> types.ModuleType:
    """`import` with the policy's list. Each name of a from-import passes the attribute guard."""
    if level or type(name) is not str or not may_import(name):
        raise ImportError(f"import of {name!r} is not allowed here")
    module = importlib.import_module(name)
    for part in fromlist or ():
        if not hasattr(module, part) and may_import(f"{name}.{part}"):
            importlib.import_module(f"{name}.{part}")
        read_attribute(module, part)
    return module if fromlist else sys.modules[name.partition(".")[0]]


def read_attribute(owner: Any, name: str, default: Any = _MISSING) -> Any:
    """`owner.name` if the policy has nothing against name or value."""
    check_name(name)
    if name == "format" and isinstance(owner, str):
        return functools.partial(_format, str(owner))
    if name == "format" and isinstance(owner, type) and issubclass(owner, str):
        return _format
    if isinstance(owner, types.ModuleType):
        return _read_from_module(owner, name, default)
    value = getattr(owner, name) if default is _MISSING else getattr(owner, name, default)
    if isinstance(value, types.ModuleType):
        raise AttributeError(f"{name!r} is not accessible here")
    if callable(value):
        return watched(owner, name, checked(value))
    return checked(value)


def checked(value: Any) -> Any:
    """`value`, unless it is one of the things that no code here may hold."""
    known = id(_unbound(value))
    if known in _DENIED:
        raise AttributeError(f"{_DENIED[known]} is not allowed here")
    if isinstance(value, _INNARDS):
        raise AttributeError(f"a {type(value).__name__} is not accessible here")
    if type(value).__module__ in ("ctypes", "_ctypes"):
        raise AttributeError("ctypes is not allowed here")
    return value


def _read_from_module(module: types.ModuleType, name: str, default: Any) -> Any:
    """Public names of allowed modules; never another package's module or function through this one."""
    full_name = module.__name__
    if not may_import(full_name) or name not in ONLY.get(full_name, (name,)):
        raise AttributeError(f"{full_name}.{name} is not allowed here")
    value = getattr(module, name) if default is _MISSING else getattr(module, name, default)
    if isinstance(value, types.ModuleType):
        same_package = value.__name__.partition(".")[0] == full_name.partition(".")[0]
        if not (same_package and may_import(value.__name__)):
            raise AttributeError(f"module {value.__name__} is not accessible through {full_name}")
        return value
    if not _is_at_home(value):
        raise AttributeError(f"{full_name}.{name} is not allowed here")
    return watched(module, name, checked(value)) if callable(value) else checked(value)


_HAVE_A_HOME = (type, types.FunctionType, types.BuiltinFunctionType)


def _is_at_home(value: object) -> bool:
    """Whether a function or class belongs to something that may be imported, or to the builtins."""
    home = getattr(value, "__module__", None)
    if not isinstance(home, str) or not isinstance(
        value, type | types.FunctionType | types.BuiltinFunctionType
    ):
        return True
    if isinstance(value, type) and issubclass(value, BaseException):
        return True
    root = home.partition(".")[0]
    return root == "builtins" or may_import(root) or may_import(root.lstrip("_")) or root in _ACCELERATORS


_ACCELERATORS = frozenset(
    {"_io", "_struct", "_sre", "_strptime", "_weakrefset", "_csv", "posixpath", "pyarrow"}
)


class _Formatter(string.Formatter):
    """`str.format` whose attribute reads are guarded like any other."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first, rest = _string.formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            value = read_attribute(value, key) if is_attribute else value[key]
        return value, first


def _format(template: str, /, *arguments: Any, **named: Any) -> str:
    return _Formatter().vformat(str(template), arguments, named)


def has_attribute(owner: Any, name: str) -> bool:
    return read_attribute(owner, name, None) is not None or _has(owner, name)


def _has(owner: Any, name: str) -> bool:
    try:
        read_attribute(owner, name)
    except AttributeError:
        return False
    return True


def write_attribute(owner: Any, name: str, value: Any) -> None:
    check_name(name)
    setattr(writable(owner), name, value)


def writable(owner: Any) -> Any:
    """`owner`, if it is data: modules, functions and classes of libraries stay as they are."""
    if isinstance(owner, _FIXED):
        raise TypeError(f"a {type(owner).__name__} cannot be changed here")
    if isinstance(owner, type) and type.__getattribute__(owner, "__module__") != "__main__":
        raise TypeError("classes of libraries cannot be changed here")
    return owner


def read_item(owner: Any, key: Any) -> Any:
    return checked(owner[key])


def change_item(operation: str, owner: Any, key: Any, value: Any) -> None:
    writable(owner)[key] = IN_PLACE[operation](read_item(owner, key), value)


def change_attribute(operation: str, owner: Any, name: str, value: Any) -> None:
    write_attribute(owner, name, IN_PLACE[operation](read_attribute(owner, name), value))


def change_variable(operation: str, old: Any, value: Any) -> Any:
    return IN_PLACE[operation](old, value)


def kind_of(value: object) -> type:
    """`type(value)`: the other uses of `type` make classes past the policy."""
    return type(value)


def relative_open(path: object, mode: str = "r", **options: Any) -> Any:
    """`open` for files of the output folder and inputs by name."""
    text = str(path)
    if text.startswith("/") or ".." in text.split("/"):
        raise PermissionError("only files beside the program can be opened here: use a plain file name")
    return open(text, mode, **options)  # noqa: PTH123 (the code's own open, with its own closing)

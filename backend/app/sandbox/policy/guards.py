"""What compiled code calls instead of reading, writing and importing by itself."""

import _string  # type: ignore[import-not-found]  # what string.Formatter itself uses; no stub
import contextlib
import functools
import importlib
import pkgutil
import re
import string
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

from app.sandbox.policy.allowed import (
    DENIED_ATTRIBUTES,
    DENIED_OBJECTS,
    DISPATCHERS,
    EXPRESSIONS,
    FORMULA_CALLS,
    FORMULA_METHODS,
    FORMULA_MODULES,
    IN_PLACE,
    ONLY,
    may_import,
)

_MISSING = object()
_INNARDS = (types.FrameType, types.CodeType, types.TracebackType)
_FIXED = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, *_INNARDS)
_WORD = re.compile(r"@?\s*[A-Za-z_][\w]*|`[^`]*`|'[^']*'|\"[^\"]*\"")


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
    _check_name(name)
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
        return _wrapped(owner, name, checked(value))
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


def _check_name(name: str) -> None:
    if type(name) is not str:
        raise TypeError("an attribute's name must be a str")
    if name.startswith("_") or name in INSPECT_ATTRIBUTES or name in DENIED_ATTRIBUTES:
        raise AttributeError(f"{name!r} is not accessible here")


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
    return _wrapped(module, name, checked(value)) if callable(value) else checked(value)


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


def _wrapped(owner: Any, name: str, value: Callable[..., Any]) -> Callable[..., Any]:
    """`value`, behind a check of the text that it would evaluate or look up."""
    if name in EXPRESSIONS and not isinstance(owner, types.ModuleType):
        return functools.partial(_evaluate, value)
    if name in DISPATCHERS:
        return functools.partial(_dispatch, value)
    in_formulas = isinstance(owner, types.ModuleType) and owner.__name__.startswith(FORMULA_MODULES)
    if name in FORMULA_METHODS or in_formulas:
        return functools.partial(_fit_formula, value)
    return value


def _evaluate(method: Callable[..., Any], expression: str, **options: bool) -> Any:
    """`frame.query(expression)`; `@name` finds the plain data of the code that asks."""
    if type(expression) is not str:
        raise TypeError("the expression must be a str")
    asked = set()
    for name, before, after in _words(expression):
        if before == "." or name.startswith("_"):
            _check_name(name)
        if name.startswith("@"):
            asked.add(name.lstrip("@ "))
            if after in (".", "(", "["):
                raise ValueError("only a plain @name is allowed in an expression here")
    if options.keys() - {"inplace"}:
        raise ValueError("an expression takes no options here: refer to variables by @name")
    return method(expression, **options, engine="python", local_dict=_data_of_caller(asked))


def _words(expression: str) -> Iterator[tuple[str, str, str]]:
    """Each name of an expression, with the characters before and after it; quoted text is skipped."""
    for found in _WORD.finditer(expression):
        word = found.group()
        if word[0] not in "'\"`":
            before = expression[: found.start()].rstrip()[-1:]
            after = expression[found.end() :].lstrip()[:1]
            yield word, before, after


def _data_of_caller(names: set[str]) -> dict[str, Any]:
    frame = sys._getframe(2)
    seen = {name: value for scope in (frame.f_globals, frame.f_locals) for name, value in scope.items()}
    return {name: seen[name] for name in names if name in seen and not callable(seen[name])}


def _dispatch(method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """`frame.agg("mean")`: the text names an attribute."""
    for value in (*arguments[:1], *named.values()):
        for name in _texts(value):
            if name in EXPRESSIONS or name in DISPATCHERS:
                raise AttributeError(f"{name!r} is not accessible here")
            _check_name(name)
    return method(*arguments, **named)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield str(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)


def _fit_formula(method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """`ols("y ~ C(x)", frame)`: the formula is evaluated as Python."""
    for value in (*arguments, *named.values()):
        if isinstance(value, str):
            _check_formula(str(value))
    return method(*arguments, **named)


def _check_formula(formula: str) -> None:
    for found in re.finditer(r"([A-Za-z_][\w.]*)\s*(\(?)", formula):
        name, call = found.groups()
        if call and name not in FORMULA_CALLS:
            raise ValueError(f"{name!r} cannot be called in a formula here; allowed: {sorted(FORMULA_CALLS)}")
        if any(part.startswith("__") for part in name.split(".")) or ("." in name and not call):
            raise ValueError(f"{name!r} is not allowed in a formula here")
    if re.search(r"[)\]}\"']\s*[.(\[]", formula):
        raise ValueError("a formula may not call or read from the result of an expression here")


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
    _check_name(name)
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

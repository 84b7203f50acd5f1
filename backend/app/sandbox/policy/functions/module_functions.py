"""Substitutes for functions that read attributes by text, evaluate annotations, give frames or load modules.

They use guards, which use those of `substitutes.py`; `namespace.py` adds them to the same table.
"""

import copy
import functools
import gc
import operator
import struct
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib

from app.sandbox.policy.audit_hook import is_program_frame
from app.sandbox.policy.functions.path_values import PATH_FUNCTIONS
from app.sandbox.policy.functions.program_logging import LOGGING_FUNCTIONS
from app.sandbox.policy.guards.access import read_attribute
from app.sandbox.policy.names.private_names import spelled_text
from app.sandbox.policy.names.text_guards import plain_str
from app.sandbox.policy.values.substitutes import SUBSTITUTES


def _attribute_getter(*names: str) -> Callable[[Any], Any]:
    """Replace `operator.attrgetter`: each part of each name is read by the guard."""
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError("attrgetter takes the names of attributes as text")
    paths = [plain_str(name).split(".") for name in names]

    def get(owner: Any) -> Any:
        values = tuple(functools.reduce(read_attribute, path, owner) for path in paths)
        return values if len(values) > 1 else values[0]

    return get


def _method_caller(name: str, /, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
    """Replace `operator.methodcaller`."""
    plain = plain_str(name)

    def call(owner: Any) -> Any:
        return read_attribute(owner, plain)(*arguments, **options)

    return call


def _single_dispatch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `functools.singledispatch`, which evaluates annotations that are text."""
    dispatcher = functools.singledispatch(function)

    def call(*arguments: Any, **options: Any) -> Any:
        if not arguments:
            raise TypeError("a function of singledispatch needs at least one positional argument")
        return dispatcher.dispatch(type(arguments[0]))(*arguments, **options)

    def register(kind: Any, implementation: Any = None) -> Any:
        if implementation is None:
            if isinstance(kind, type | types.UnionType):
                return lambda decorated: register(kind, decorated)
            kind, implementation = _annotated_kind(kind), kind
        dispatcher.register(kind, implementation)
        return implementation

    call.register, call.dispatch = register, dispatcher.dispatch  # type: ignore[attr-defined]  # of a function
    return SUBSTITUTES[id(functools.update_wrapper)](call, function)  # type: ignore[no-any-return]  # the same


def _annotated_kind(implementation: Any) -> Any:
    annotations = getattr(implementation, "__annotations__", {})
    kind = next(iter(annotations.values()), None) if type(annotations) is dict else None
    if not isinstance(kind, type | types.UnionType):
        raise TypeError(
            "register needs a class: annotate the first argument with it, or use @name.register(kind)"
        )
    return kind


class Struct:
    """Stand-in for `struct.Struct`, which can be made anew while it packs, and then writes past its memory."""

    __slots__ = ("format", "size")

    def __init__(self, format: str | bytes) -> None:
        self.format, self.size = format, struct.calcsize(format)

    def pack(self, *values: Any) -> bytes:
        return struct.pack(self.format, *values)

    def pack_into(self, buffer: Any, offset: int, *values: Any) -> None:
        struct.pack_into(self.format, buffer, offset, *values)

    def unpack(self, buffer: Any) -> tuple[Any, ...]:
        return struct.unpack(self.format, buffer)

    def unpack_from(self, buffer: Any, offset: int = 0) -> tuple[Any, ...]:
        return struct.unpack_from(self.format, buffer, offset)

    def iter_unpack(self, buffer: Any) -> Iterator[tuple[Any, ...]]:
        return struct.iter_unpack(self.format, buffer)


Struct.__module__ = "types"


def _error_lines(error: Any = None, *_: Any, **__: Any) -> list[str]:
    """Replace `traceback.format_exception`: the program's own lines, and the error."""
    if not isinstance(error, BaseException):
        error = sys.exception()
    if error is None:
        return ["NoneType: None\n"]
    lines = [
        f"  Line {line}, in {spelled_text(frame.f_code.co_name)}\n"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_program_frame(frame)
    ]
    return ["Traceback (most recent call last):\n", *lines, *_last_line(error)]


def _last_line(error: Any = None, *_: Any, **__: Any) -> list[str]:
    """Replace `traceback.format_exception_only`."""
    error = error if isinstance(error, BaseException) else sys.exception()
    return [spelled_text(f"{type(error).__name__}: {error}\n")]


def _error_text(*_: Any, **__: Any) -> str:
    """Replace `traceback.format_exc`."""
    return "".join(_error_lines())


def _print_error(*_: Any, **__: Any) -> None:
    """Replace `traceback.print_exc`."""
    sys.stderr.write(_error_text())


def _copy_deeply(value: Any, memo: object = None) -> Any:
    """Replace `copy.deepcopy`. Its memory is a new one: another would show and rename parts of libraries."""
    return copy.deepcopy(value)


def _collect() -> int:
    """Replace `gc.collect`, the one function of a module whose others hand out every object."""
    return gc.collect()


def _use_backend(backend: str, *, force: bool = True) -> None:
    """Replace `matplotlib.use`: backends that draw into files only, since another text names a module."""
    if type(backend) is not str or backend.lower() not in ("agg", "pdf", "ps", "svg"):
        raise ImportError(f"the backend {backend!r} is not allowed here: use 'agg', 'pdf', 'ps' or 'svg'")
    matplotlib.use(backend, force=force)


MODULE_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    **LOGGING_FUNCTIONS,
    **PATH_FUNCTIONS,
    copy.deepcopy: _copy_deeply,
    functools.singledispatch: _single_dispatch,
    gc.collect: _collect,
    matplotlib.use: _use_backend,
    operator.attrgetter: _attribute_getter,
    operator.methodcaller: _method_caller,
    struct.Struct: Struct,
    traceback.format_exc: _error_text,
    traceback.format_exception: _error_lines,
    traceback.format_exception_only: _last_line,
    traceback.print_exc: _print_error,
}
"""Substitutes by the original."""

"""A random walk over everything that a program can reach, with the table of allowed objects as its oracle.

The walk starts from the names of a program and its imports. Each step reads an attribute through the guard,
takes an item, iterates, or calls what it holds, with values that it holds or texts that name what is forbidden.
Each value is judged by identity, apart from the guards' own judgement, and so is what the interpreter reports
after the policy's own hook let it pass. A find is printed as the path that led to it.
"""

import builtins
import random
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import openpyxl  # noqa: F401 (it reads a file of the host when it is imported, which the zygote does)

from app.sandbox.policy.allow_lists import BUILTINS, MODULES
from app.sandbox.policy.language import compile_code
from app.sandbox.policy.module_views import ModuleView, view_of
from app.sandbox.policy.namespace import program_namespace

TEXTS = (
    "__class__", "__globals__", "__subclasses__", "__dict__", "__init__.__globals__", "f_globals",
    "func_globals",
    "{0.__class__}", "{x.__class__}", "\uff3f\uff3fclass\uff3f\uff3f", "a.__class__", "@a.__class__", "@sys",
    "@re", "module://this", "os", "eval", "query", "agg", "sum", "mean", "a", "x", "a ~ __import__('os')",
    "/etc/passwd", "../x", "plot.csv", "''.__class__",
)  # fmt: skip
"""Texts that would reach something if a library took them for a name, a template, an expression or a path."""

MAX_REFS = 6_000
"""Values held at most: older ones make room for newer."""

_REPORTED = ("os.exec", "os.fork", "os.posix_spawn", "os.system", "pickle.find_class", "socket.connect")
"""Events that no program causes. So is an `open` of one of TEXTS that leads outside."""

_SAFE = {id(getattr(builtins, name)) for name in BUILTINS} | {
    id(getattr(builtins, name))
    for name in (
        "abs", "bool", "callable", "chr", "complex", "divmod", "float", "hash", "hex", "id", "int", "len",
        "oct", "ord", "pow", "range", "repr", "round", "slice", "str",
    )
}  # fmt: skip
_SKIPPED = frozenset({"exit", "sleep", "show", "acquire", "join", "wait", "get_test_data"})
"""Names that end or hold up the walk itself."""


class Escape(Exception):
    """The path to an object that no program may hold."""


@dataclass(frozen=True)
class Ref:
    value: Any
    path: str


def offence(value: object) -> str | None:
    """The kind of forbidden thing that `value` is, by identity; None if it is none."""
    kind = type(value)
    if issubclass(kind, types.ModuleType):
        name = value.__name__  # type: ignore[attr-defined]  # a module
        return None if kind is ModuleView and name in MODULES else f"module {name}"
    if kind in (types.FrameType, types.CodeType, types.TracebackType, types.CellType):
        return kind.__name__
    if isinstance(value, type) and issubclass(value, type):
        return f"a subclass of type, {value.__name__}"
    if kind is types.BuiltinFunctionType and value.__self__ is builtins and id(value) not in _SAFE:  # type: ignore[attr-defined]  # a function
        return f"builtin {value.__name__}"  # type: ignore[attr-defined]  # the same
    if kind is dict and id(value) in _globals():
        return "globals of a module"
    return None


def _globals() -> set[int]:
    return {id(vars(module)) for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)}


class Walk:
    """One walk: its random numbers, the guards as a program has them, and what it holds."""

    def __init__(self, seed: int, modules: list[str]) -> None:
        self._random = random.Random(seed)
        self._names = program_namespace()
        self._refs: list[Ref] = [Ref(text, repr(text)) for text in TEXTS]
        self._modules = modules
        self._probe = self._define()
        self._reports: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        outside = event == "open" and str(arguments[0]).endswith(("etc/passwd", "../x"))
        if outside or event in _REPORTED:
            self._reports.append(f"{event} {arguments[:1]}")

    def _define(self) -> Callable[..., Any]:
        """Steps run inside compiled code of a program, so that what watches the interpreter sees them."""
        exec(compile_code("def step(act, *values):\n    return act(*values)"), self._names)
        probe: Callable[..., Any] = self._names["step"]
        return probe

    def run(self, steps: int) -> int:
        """Raises Escape. Returns how many steps reached a value."""
        reached = 0
        for module in self._modules:
            self._enter(lambda module=module: self._import(module), f"import {module}")
            for name in sorted(MODULES[module]):
                read = lambda module=module, name=name: self._names["_getattr_"](view_of(module), name)  # noqa: E731
                self._enter(read, f"{module}.{name}")
        for name, value in self._names["__builtins__"].items():
            if not name.startswith("_") and not isinstance(value, type):
                self._hold(value, name)
        for _ in range(steps):
            reached += self._step()
        return reached

    def _import(self, module: str) -> Any:
        self._names["__builtins__"]["__import__"](module, None, None, (), 0)
        return view_of(module)

    def _step(self) -> bool:
        ref = self._random.choice(self._refs)
        act, path = self._choose(ref)
        return act is not None and self._enter(act, path)

    def _choose(self, ref: Ref) -> tuple[Callable[[], Any] | None, str]:
        chance = self._random.random()
        if chance < 0.6:
            name = self._name_of(ref.value)
            return (lambda: self._names["_getattr_"](ref.value, name)), f"getattr({ref.path}, {name!r})"
        if chance < 0.7:
            return (lambda: self._names["_getitem_"](ref.value, self._key(ref.value))), f"{ref.path}[...]"
        if not callable(ref.value) or ref.path.rpartition("'")[0].rpartition("'")[2] in _SKIPPED:
            return None, ""
        arguments = [self._random.choice(self._refs) for _ in range(self._random.randrange(3))]
        path = f"{ref.path}({', '.join(argument.path for argument in arguments)})"
        return (lambda: ref.value(*(argument.value for argument in arguments))), path

    def _name_of(self, value: object) -> str:
        if self._random.random() < 0.05:
            return self._random.choice(TEXTS)
        try:
            names = dir(value)
        except Exception:  # noqa: BLE001 (nonsense raises anything)
            names = []
        return self._random.choice(names or ["a"])

    def _key(self, value: object) -> Any:
        if isinstance(value, dict) and value:
            return self._random.choice(list(value))
        return self._random.choice([0, "a", -1, slice(None)])

    def _enter(self, act: Callable[[], Any], path: str) -> bool:
        if len(path) > 1_500:
            return False
        try:
            value = self._probe(act)
            items = list(_few(value))
        except (Exception, SystemExit):  # noqa: BLE001 (nonsense raises anything)
            items = None
        if self._reports:
            raise Escape(f"{self._reports[0]}: {path}")
        if items is None:
            return False
        self._hold(value, path)
        for number, item in enumerate(items):
            self._hold(item, f"list({path})[{number}]")
        return True

    def _hold(self, value: object, path: str) -> None:
        kind = offence(value)
        if kind is not None:
            raise Escape(f"{kind}: {path}")
        if len(self._refs) < MAX_REFS:
            self._refs.append(Ref(value, path))
        else:
            self._refs[self._random.randrange(len(self._refs))] = Ref(value, path)


def _few(value: object) -> Iterator[object]:
    """The first items of a container that a loop would give."""
    if isinstance(value, list | tuple | set | frozenset):
        yield from list(value)[:5]
    elif isinstance(value, dict):
        yield from list(value.values())[:5]

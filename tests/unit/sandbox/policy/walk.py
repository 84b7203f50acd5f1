"""A random walk over everything that a program can reach, with the table of allowed objects as its oracle.

The walk starts from the names of a program and its imports. Each step reads an attribute through the guard,
takes an item, iterates, applies an operator, enters a `with` block, derives a class, or calls what it holds,
with values that fit the names of parameters or name what is forbidden. What a library hands to a callback,
and errors with what they carry, are held too. Each value is judged by identity, apart from the guards' own
judgement; so is what the interpreter reports after the policy's own hook let it pass, and which files outside
were read or made. A find is printed as the path that led to it.
"""

import builtins
import inspect
import operator
import random
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import openpyxl  # noqa: F401 (it reads a file of the host when it is imported, which the zygote does)

from app.sandbox.policy.allow_lists import BUILTINS, MODULES, SPECIAL_READS, may_hold_from
from app.sandbox.policy.guards.module_views import ModuleView, view_of
from app.sandbox.policy.language.compiler import compile_code
from app.sandbox.policy.namespace import program_namespace

from .walk_values import DATA, TEXTS, Canaries, Ref, pools_of

MAX_REFS = 6_000
"""Values held at most: older ones make room for newer."""
MAX_PATH = 1_500
"""Characters of a path that a person still reads."""
MAX_ITEMS = 5
"""Items of a container or iterator that are held."""

_REPORTED = ("os.exec", "os.fork", "os.posix_spawn", "os.system", "pickle.find_class", "socket.connect")
"""Events that no program causes. So is an `open` of one of TEXTS that leads outside."""

_SAFE = {id(getattr(builtins, name)) for name in BUILTINS} | {
    id(getattr(builtins, name))
    for name in (
        "abs", "bool", "callable", "chr", "complex", "divmod", "float", "hash", "hex", "id", "int",
        "isinstance", "issubclass", "len", "oct", "ord", "pow", "range", "repr", "round", "slice", "str",
    )
}  # fmt: skip
_SKIPPED = frozenset({"exit", "sleep", "show", "acquire", "join", "wait", "get_test_data", "input", "pause"})
"""Names that end or hold up the walk itself."""
_OPERATORS: tuple[Callable[..., Any], ...] = (
    operator.add, operator.sub, operator.mul, operator.matmul, operator.mod, operator.and_, operator.or_,
    operator.lt, operator.eq, operator.contains, operator.iadd, operator.ior, operator.truediv,
)  # fmt: skip
_ERROR_ATTRIBUTES = ("args", "name", "obj", "value", "path", "msg", "object", "code")
_SPECIAL_NAMES = sorted(SPECIAL_READS)
_STEPS = """
def step(act, *values):
    return act(*values)
def enter(manager):
    with manager as value:
        return value
def derive(kind):
    class Derived(kind):
        def __init__(self, *values): pass
        def __getitem__(self, key): return captured.append(key)
        def __call__(self, *values, **options): captured.extend(values)
        def fit(self, *values, **options): return self
    return Derived
def make_callback(answer):
    def callback(*values, **options):
        captured.extend(values)
        captured.extend(options.values())
        return answer
    return callback
def format_text(value, text):
    return f"{value!r:.60}" + text.format(value, x=value)
"""


class Escape(Exception):
    """The path to an object that no program may hold."""


@dataclass
class Coverage:
    """Names that the walks reached."""

    steps: int = 0
    modules: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)

    def add(self, other: dict[str, Any]) -> None:
        """Add what `summary` returned in the process of another walk."""
        self.steps += other["steps"]
        self.modules |= set(other["modules"])
        self.classes |= set(other["classes"])
        self.functions |= set(other["functions"])

    def summary(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "modules": sorted(self.modules),
            "classes": sorted(self.classes),
            "functions": sorted(self.functions),
        }

    def __str__(self) -> str:
        return (
            f"{self.steps} values, {len(self.modules)} of {len(MODULES)} modules, {len(self.classes)} classes, "
            f"{len(self.functions)} functions"
        )


def offence(value: object) -> str | None:
    """The kind of forbidden thing that `value` is, by identity; None if it is none."""
    kind = type(value)
    if issubclass(kind, types.ModuleType):
        name = value.__name__  # type: ignore[attr-defined]  # a module
        return None if kind is ModuleView and name in MODULES else f"module {name}"
    if kind in (types.FrameType, types.CodeType, types.TracebackType, types.CellType):
        return kind.__name__
    if isinstance(value, type):
        if issubclass(value, type):
            return f"a subclass of type, {value.__name__}"
        if value in (types.FunctionType, types.MethodType, types.CodeType, types.FrameType, types.ModuleType):
            return f"builtin class {value.__name__}"
    if kind is types.BuiltinFunctionType and isinstance(value.__self__, types.ModuleType):  # type: ignore[attr-defined]  # a function
        owner = value.__self__  # type: ignore[attr-defined]  # the same
        is_allowed = id(value) in _SAFE if owner is builtins else may_hold_from(owner.__name__)
        return None if is_allowed else f"function {owner.__name__}.{value.__name__}"  # type: ignore[attr-defined]  # the same
    if kind is dict and (value is sys.modules or id(value) in _globals()):
        return "globals of a module"
    return None


def _globals() -> set[int]:
    return {id(vars(module)) for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)}


class Walk:
    """One walk: its random numbers, the guards as a program has them, and what it holds."""

    def __init__(self, seed: int, modules: list[str], outside: Path) -> None:
        self._random = random.Random(seed)
        self._names = program_namespace()
        self._captured: list[Any] = []
        self._names["captured"] = self._captured
        exec(compile_code(_STEPS), self._names)
        self._canaries = Canaries(outside)
        self._texts = [Ref(text, repr(text)) for text in TEXTS]
        self._paths = [Ref(path, repr(path)) for path in self._canaries.paths()]
        self._paths += [Ref([ref.value], f"[{ref.path}]") for ref in self._paths]
        self._refs: list[Ref] = [*self._texts, *self._paths]
        self._modules = modules
        self._reports: list[str] = []
        self.coverage = Coverage()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        outside = event == "open" and str(arguments[0]).endswith(("etc/passwd", "../x"))
        if outside or event in _REPORTED:
            self._reports.append(f"{event} {arguments[:1]}")

    def run(self, steps: int) -> Coverage:
        """Raises Escape. Returns what was reached."""
        exec(compile_code(DATA), self._names)
        self._judge("the data that the walk starts with")
        for module in self._modules:
            self._enter(lambda module=module: self._import(module), f"import {module}")
            for name in sorted(MODULES[module]):
                read = lambda module=module, name=name: self._names["_getattr_"](view_of(module), name)  # noqa: E731
                self._enter(read, f"{module}.{name}")
        for name, value in self._names["__builtins__"].items():
            if not name.startswith("_") and not isinstance(value, type):
                self._hold(value, name)
        for _ in range(steps):
            self.coverage.steps += self._step()
        return self.coverage

    def _import(self, module: str) -> Any:
        self._names["__builtins__"]["__import__"](module, None, None, (), 0)
        self.coverage.modules.add(module)
        return view_of(module)

    def _step(self) -> bool:
        ref = self._random.choice(self._refs)
        act, path = self._choose(ref)
        return act is not None and self._enter(act, path)

    def _choose(self, ref: Ref) -> tuple[Callable[[], Any] | None, str]:
        chance = self._random.random()
        if chance < 0.04:
            name = self._random.choice(_SPECIAL_NAMES)
            return (lambda: self._names["_special_"](ref.value, name)), f"{ref.path}.{name}"
        if chance < 0.4:
            name = self._name_of(ref.value)
            return (lambda: self._names["_getattr_"](ref.value, name)), f"getattr({ref.path}, {name!r})"
        if chance < 0.47:
            return (lambda: self._names["_getitem_"](ref.value, self._key(ref.value))), f"{ref.path}[...]"
        if chance < 0.62:
            return self._operate(ref)
        if not callable(ref.value) or ref.path.rpartition("'")[0].rpartition("'")[2] in _SKIPPED:
            return None, ""
        arguments, options = self._arguments(ref.value)
        argument_texts = [argument.path for argument in arguments]
        argument_texts += [f"{name}={argument.path}" for name, argument in options.items()]
        values = {name: argument.value for name, argument in options.items()}
        call = lambda: ref.value(*(argument.value for argument in arguments), **values)  # noqa: E731
        return call, f"{ref.path}({', '.join(argument_texts)})"

    def _operate(self, ref: Ref) -> tuple[Callable[[], Any], str]:
        """An operator, or a statement that calls methods of its own."""
        other = self._random.choice(self._refs)
        kind = self._random.randrange(6)
        if kind == 0:
            return (lambda: self._names["enter"](ref.value)), f"with {ref.path} as value"
        if kind == 1:
            return (lambda: self._names["derive"](ref.value)), f"class Derived({ref.path})"
        if kind == 2:
            return (lambda: self._names["make_callback"](ref.value)), f"callback returning {ref.path}"
        if kind == 3:
            return (
                lambda: self._names["format_text"](ref.value, other.value)
            ), f"{other.path}.format({ref.path})"
        function = self._random.choice(_OPERATORS)
        path = f"{function.__name__}({ref.path}, {other.path})"
        return (lambda: function(ref.value, other.value)), path

    def _arguments(self, function: Any) -> tuple[list[Ref], dict[str, Ref]]:
        """Values that fit the parameters by their names, and some that do not."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except Exception:  # noqa: BLE001 (objects of libraries that are half made raise anything)
            return [self._any() for _ in range(self._random.randrange(3))], {}
        arguments, options = [], {}
        for parameter in parameters:
            is_required = parameter.default is parameter.empty
            if parameter.kind is parameter.VAR_KEYWORD:
                if self._random.random() < 0.3:
                    options[self._random.choice(TEXTS)] = self._any()
            elif parameter.kind is parameter.KEYWORD_ONLY or not is_required:
                if self._random.random() < 0.15 or (is_required and parameter.kind is parameter.KEYWORD_ONLY):
                    options[parameter.name] = self._fitting(parameter.name)
            elif parameter.kind is not parameter.VAR_POSITIONAL or self._random.random() < 0.5:
                arguments.append(self._fitting(parameter.name))
        return arguments, options

    def _fitting(self, parameter: str) -> Ref:
        pool = pools_of(parameter)
        if not pool or self._random.random() > 0.75:
            return self._any()
        name = self._random.choice(pool)
        if name == "path:":
            return self._random.choice(self._paths)
        if name == "text:":
            return self._random.choice(self._texts)
        return Ref(self._names[name], name)

    def _any(self) -> Ref:
        return self._random.choice(self._refs)

    def _name_of(self, value: object) -> str:
        if self._random.random() < 0.05:
            return self._random.choice(TEXTS)
        try:
            names = dir(value)
        except Exception:  # noqa: BLE001 (nonsense raises anything)
            names = []
        public = [name for name in names if not name.startswith("_")]
        return self._random.choice(public or names or ["a"])

    def _key(self, value: object) -> Any:
        if isinstance(value, dict) and value:
            return self._random.choice(list(value))
        return self._random.choice([0, "a", -1, slice(None), *TEXTS])

    def _enter(self, act: Callable[[], Any], path: str) -> bool:
        if len(path) > MAX_PATH:
            return False
        items: list[Any] | None = None
        value: Any = None
        try:
            value = self._names["step"](act)
            items = self._names["step"](lambda: list(_few(value)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 (nonsense raises anything)
            self._hold_error(error, path)
        self._judge(path)
        if items is None:
            return False
        self._hold(value, path)
        for number, item in enumerate(items):
            self._hold(item, f"list({path})[{number}]")
        return True

    def _judge(self, path: str) -> None:
        """Judge what the step caused, and what it handed to callbacks."""
        if self._reports:
            raise Escape(f"{self._reports[0]}: {path}")
        change = self._canaries.change()
        if change:
            raise Escape(f"{change}: {path}")
        captured, self._captured[:] = self._captured[:], []
        for number, value in enumerate(captured[:MAX_ITEMS]):
            self._hold(value, f"argument {number} of a callback in {path}")

    def _hold_error(self, error: BaseException, path: str) -> None:
        for name in _ERROR_ATTRIBUTES:
            try:
                value = self._names["_getattr_"](error, name)
            except Exception:  # noqa: BLE001 (the same)
                continue
            self._hold(value, f"error.{name} of {path}")

    def _hold(self, value: object, path: str) -> None:
        kind = offence(value)
        if kind is not None:
            raise Escape(f"{kind}: {path}")
        self._cover(value)
        if len(self._refs) < MAX_REFS:
            self._refs.append(Ref(value, path))
        else:
            self._refs[self._random.randrange(len(self._texts), len(self._refs))] = Ref(value, path)

    def _cover(self, value: object) -> None:
        kind = value if isinstance(value, type) else type(value)
        self.coverage.classes.add(f"{kind.__module__}.{kind.__qualname__}")
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
            self.coverage.functions.add(f"{value.__module__}.{getattr(value, '__qualname__', '')}")


def _few(value: object) -> Iterator[object]:
    """The first items that a loop would give."""
    if isinstance(value, dict):
        yield from list(value.values())[:MAX_ITEMS]
    elif isinstance(value, list | tuple | set | frozenset) or _is_plain_iterator(value):
        yield from islice(value, MAX_ITEMS)  # type: ignore[call-overload]  # one of these


def _is_plain_iterator(value: object) -> bool:
    """Return True for an iterator of the interpreter: one of a library may wait, or never end."""
    return isinstance(value, Iterator) and type(value).__module__ in ("builtins", "collections", "itertools")

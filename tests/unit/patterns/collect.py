"""Every regular expression of the application: compiled ones, those in tables, those written in calls."""

import ast
import contextlib
import importlib
import pkgutil
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import app

FUNCTIONS = frozenset(
    {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
)
METHODS = frozenset({"take", "take_in_place", "has"})
"""Of `Sentence`, which passes its first argument to `re.search`."""
_USES = re.compile(rf"\.\s*(?:{'|'.join(sorted(FUNCTIONS | METHODS))})\b")
"""A method that takes a pattern. Modules without one need not be parsed, which is most of the work."""
_META = re.compile(r"[\\+*?|({\[]")


@dataclass(frozen=True)
class Source:
    """A pattern and the place that it is written in."""

    place: str
    pattern: str | bytes
    flags: int = 0
    anchored: bool = False
    """Only matched from the start of a text: a search would begin again at every character."""


@dataclass(frozen=True)
class Unresolved:
    """A call whose pattern is not known without running it."""

    place: str
    expression: str


def modules() -> Iterator[ModuleType]:
    """All modules of the application but programs that run when they are imported."""
    for module_info in pkgutil.walk_packages(app.__path__, "app."):
        if not module_info.name.endswith("__main__"):
            yield importlib.import_module(module_info.name)


def collect() -> tuple[dict[tuple[str | bytes, int], Source], list[Unresolved]]:
    """Patterns by text and flags, and the calls that could not be resolved."""
    sources: dict[tuple[str | bytes, int], Source] = {}
    unresolved: list[Unresolved] = []
    for module in modules():
        if module.__file__ is None:
            continue
        text = Path(module.__file__).read_text()
        tree = ast.parse(text if _USES.search(text) else "")
        for source in [*_of_values(module, _methods(tree)), *_of_calls(module, tree, unresolved)]:
            key = source.pattern, source.flags & ~re.UNICODE
            if key not in sources or (sources[key].anchored and not source.anchored):
                sources[key] = source
    return sources, unresolved


def _methods(tree: ast.AST) -> dict[str, set[str]]:
    """Methods of patterns by the name that they are called on, or on an item of."""
    methods: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
            owner = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            name = getattr(owner, "id", None) or getattr(owner, "attr", None)
            methods.setdefault(str(name), set()).add(node.attr)
    return methods


def _of_values(module: ModuleType, methods: Mapping[str, set[str]]) -> Iterator[Source]:
    """Patterns that a module's constants hold; strings count when they look like one."""
    for name, value in vars(module).items():
        if name.startswith("__") or isinstance(value, ModuleType | type):
            continue
        for pattern in _inside(value, depth=5):
            place = f"{module.__name__}.{name}"
            anchored = bool(methods.get(name)) and methods[name] <= {"match", "fullmatch"}
            if isinstance(pattern, re.Pattern):
                yield Source(place, pattern.pattern, pattern.flags, anchored)
            elif _looks_like_pattern(pattern):
                yield Source(place, pattern, re.IGNORECASE)


def _inside(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, re.Pattern | str):
        yield value
    elif depth and isinstance(value, Mapping):
        for item in [*value.keys(), *value.values()]:
            yield from _inside(item, depth - 1)
    elif depth and isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from _inside(item, depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _inside(getattr(value, field.name, None), depth - 1)


def _looks_like_pattern(text: str) -> bool:
    """Prose and SQL are no patterns; a table of patterns has escapes or groups in it."""
    if len(text) > 3000 or "\n" in text or not re.search(r"\\[bwsdW]|\(\?|\[[^\]]+\][*+?]", text):
        return False
    return _META.search(text) is not None and compiles(text)


def compiles(text: str | bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _of_calls(module: ModuleType, tree: ast.AST, unresolved: list[Unresolved]) -> Iterator[Source]:
    names = dict(vars(module))
    with_sentences = ".questions." in module.__name__
    for scope, call in _calls(tree, None):
        if not with_sentences and isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
            continue
        place = f"{module.__name__}:{scope.name if scope else '<module>'}"
        value = _value(call.args[0], {**names, **(_locals(scope, names) if scope else {})})
        if isinstance(value, str | bytes) and compiles(value):
            anchored = isinstance(call.func, ast.Attribute) and call.func.attr in {"match", "fullmatch"}
            yield Source(place, value, _flags(call, names), anchored)
        elif value is None:
            unresolved.append(Unresolved(place, ast.unparse(call.args[0])))


def _calls(node: ast.AST, scope: Any) -> Iterator[tuple[Any, ast.Call]]:
    """Calls that take a pattern, each with the function around it."""
    for child in ast.iter_child_nodes(node):
        inner = child if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else scope
        if isinstance(child, ast.Call) and child.args and isinstance(child.func, ast.Attribute):
            owner, name = child.func.value, child.func.attr
            of_re = isinstance(owner, ast.Name) and owner.id == "re"
            of_sentence = isinstance(owner, ast.Name) and owner.id in {"sentence", "self"}
            of_re = of_re and not (scope is None and name == "compile")  # a constant, which is a value too
            if (of_re and name in FUNCTIONS) or (of_sentence and name in METHODS):
                yield inner, child
        yield from _calls(child, inner)


def _locals(scope: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """Local names that can be told without running the function; of a loop, its first item."""
    constants: dict[str, Any] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            _bind(node.targets[0], _value(node.value, {**names, **constants}), constants)
        elif isinstance(node, ast.For | ast.comprehension):
            items = _value(node.iter, {**names, **constants})
            with contextlib.suppress(TypeError, StopIteration):
                _bind(node.target, next(iter(items)), constants)
    return constants


def _bind(target: ast.expr, value: Any, constants: dict[str, Any]) -> None:
    if isinstance(target, ast.Name) and value is not None:
        constants.setdefault(target.id, value)
    elif isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(value) == len(target.elts):
        for element, part in zip(target.elts, value, strict=True):
            _bind(element, part, constants)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of an expression of constants; None where it needs to be run."""
    if any(isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for part in ast.walk(node)):
        return None
    if any(isinstance(part, ast.Call) and not _harmless(part.func) for part in ast.walk(node)):
        return None
    try:
        return eval(compile(ast.Expression(node), "<pattern>", "eval"), dict(names))
    except Exception:  # noqa: BLE001 - whatever a name that is not known here leads to
        return None


def _harmless(function: ast.expr) -> bool:
    """Calls that patterns are put together with."""
    text_methods = {
        "join",
        "escape",
        "replace",
        "format",
        "items",
        "keys",
        "values",
        "sorted",
        "set",
        "tuple",
        "list",
    }
    return (getattr(function, "attr", None) or getattr(function, "id", None)) in text_methods


def _flags(call: ast.Call, names: Mapping[str, Any]) -> int:
    for node in [*call.args[1:], *(keyword.value for keyword in call.keywords)]:
        text = ast.unparse(node)
        if re.fullmatch(r"re\.[A-Z]+(?: \| re\.[A-Z]+)*", text):
            return int(eval(text, dict(names)))
    return 0

"""Texts of what the language refuses: what is wrong, in which lines, and what to use instead."""

import ast
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

_CONSTRUCTS = {
    "AsyncFor": "async is not available here: nothing waits for a network, so plain functions do the same",
    "TryStar": "except* is not available here: use except, and read error.exceptions of a group",
}
for _name in ("AsyncFunctionDef", "AsyncWith", "Await"):
    _CONSTRUCTS[_name] = _CONSTRUCTS["AsyncFor"]

_SPECIAL_NAMES = {
    "__bases__": "isinstance and issubclass",
    "__del__": "a with statement, or a method that is called",
    "__globals__": "globals()",
    "__index__": "__int__, and int(value) where an index is needed",
    "__mro__": "isinstance and issubclass",
    "__subclasses__": "a list that __init_subclass__ fills",
    "__traceback__": "traceback.format_exc()",
}
"""Special names that programs ask for, and what does the same."""

_ATTRIBUTES = {
    "mro": "isinstance and issubclass",
    "read_clipboard": "a dataset",
    "read_hdf": "read_parquet",
    "read_pickle": "read_parquet",
    "read_sql": "SQL",
    "to_clipboard": "to_string",
    "to_hdf": "to_parquet",
    "to_pickle": "to_parquet, or keep[name] = frame",
    "to_sql": "keep[name] = frame",
    "tofile": "tolist and json",
    "with_traceback": "raise ... from error",
}
"""Attributes that are refused on every object, and what does the same."""

_MODULES = {
    "a cell has no network: give the data as a file": (
        "aiohttp ftplib http httpx requests smtplib socket ssl urllib urllib3 yfinance"
    ),
    "a program runs in one process: use plain code, or joblib.Parallel": (
        "asyncio concurrent multiprocessing subprocess threading"
    ),
    "open() opens files beside the program, and os.listdir() names them": "fnmatch glob shutil tempfile",
    "pickles run code when they are read: keep tables by keep[name] = frame, other data as JSON": (
        "cloudpickle dill marshal pickle shelve"
    ),
    "use pandas, or SQL": "dask duckdb polars pyarrow sqlalchemy sqlite3",
    "use sklearn or xgboost": "catboost keras lightgbm prophet tensorflow torch",
    "use matplotlib or seaborn": "altair bokeh plotly",
    "use numpy": "array ctypes",
    "a program cannot look into the interpreter": "ast builtins code dis importlib inspect",
}
"""What does the same as modules that programs ask for."""

MAX_LINES = 5
"""Lines that are named for one problem: the reader looks for the name from there."""


def text_of_construct(node: ast.AST) -> str:
    """Return why a statement or expression of this kind is refused."""
    kind = type(node).__name__
    return _CONSTRUCTS.get(kind, f"{kind} is not available here")


def text_of_name(name: str) -> str:
    """Return why a name or attribute is refused."""
    if name.startswith("__") and name.endswith("__"):
        instead = f": use {_SPECIAL_NAMES[name]}" if name in _SPECIAL_NAMES else ""
        return f'the special name "{name}" is not available here{instead}'
    if name.startswith("__"):
        return f'"{name}" is not available here: two underscores are for attributes inside a class'
    if name.startswith("_"):
        return f'"{name}" is not available here: it begins with an underscore and belongs to the interpreter'
    return f'"{name}" is not available here'


def text_of_attribute(name: str) -> str:
    """Return why an attribute cannot be read when a program runs, with what does the same."""
    return f"{name!r} is not accessible here{f': use {_ATTRIBUTES[name]}' if name in _ATTRIBUTES else ''}"


def text_of_option(name: str | None) -> str:
    """Return why an option of a class statement, other than a plain name, is refused."""
    if name == "metaclass":
        return "a metaclass is not available here: use __init_subclass__, or a decorator of the class"
    return "options of a class are given one by one here, by plain names"


def text_of_import(name: str, modules: Iterable[str]) -> str:
    """Return why a module cannot be imported, with what does the same, or modules of similar names."""
    root = name.partition(".")[0]
    advice = next((text for text, names in _MODULES.items() if root in names.split()), "")
    similar = get_close_matches(name, list(modules), n=2)
    if not advice and similar:
        advice = f"the modules {', '.join(similar)} are" if len(similar) > 1 else f"the module {similar[0]} is"
    return f"import of {name!r} is not allowed here{advice and f': {advice}'}"


def list_problems(problems: Mapping[str, list[int]]) -> list[str]:
    """Return one text for each problem, with its lines. Texts come in the order of their first line."""
    return [
        f"{_lines(sorted(set(lines)))}: {text}."
        for text, lines in sorted(problems.items(), key=lambda item: min(item[1]))
    ]


def _lines(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"Line {numbers[0]}"
    if len(numbers) > MAX_LINES:
        return f"Lines {', '.join(map(str, numbers[:MAX_LINES]))} and {len(numbers) - MAX_LINES} more"
    return f"Lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"

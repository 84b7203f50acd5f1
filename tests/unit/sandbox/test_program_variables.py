"""Names that programs reach, and definitions that are run again."""

from types import CodeType
from typing import Any

from app.sandbox.exchange.program_variables import find_reachable
from app.sandbox.policy.namespace import program_globals
from app.sandbox.programs.definitions import find_definitions, run_definitions


def test_a_program_reaches_the_names_in_it_their_groups_and_those_of_definitions() -> None:
    groups = {"a": "1", "b": "1", "c": "2", "d": "3", "f": None, "g": None}
    sources = {"f": "def f():\n    return c + g()", "g": "def g():\n    return 1"}
    assert find_reachable("a", groups, sources) == {"a", "b"}
    assert find_reachable("f()", groups, sources) == {"f", "c", "g"}
    assert find_reachable("frame.query('x > @d')", groups, sources) == {"d"}
    assert find_reachable("abc = 1", groups, sources) == set()


def test_definitions_are_statements_at_the_top_that_nothing_binds_anew() -> None:
    source = """
import numpy as np, math
from os import path as p
@dec
def f(x): return x  # a comment
class C(list): pass
def g(): pass
g = 3
square = lambda x: x * x
if True:
    def hidden(): pass
"""
    found = find_definitions(source)
    assert sorted(found) == ["C", "f", "math", "np", "p", "square"]
    assert found["f"] == "@dec\ndef f(x):\n    return x"
    assert found["math"] == "import numpy as np, math"


def test_definitions_run_after_those_that_they_need_and_failures_are_left_out() -> None:
    variables = program_globals()
    sources = ["class B(A):\n    pass", "class A:\n    pass", "def f(x=missing):\n    pass"]

    def execute(code: CodeType, names: dict[str, Any]) -> None:
        exec(code, names)

    run_definitions(sources, variables, execute)
    assert issubclass(variables["B"], variables["A"])
    assert "f" not in variables

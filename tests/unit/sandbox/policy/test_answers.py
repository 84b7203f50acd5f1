"""Values that a program leaves and the service reads: functions of libraries open no other file then."""

import sys
from pathlib import Path
from typing import Any

import joblib
import matplotlib.pyplot as plt
import pytest

from app.errors import InvalidInput
from app.sandbox.exchange.contract import Code
from app.sandbox.programs import execution
from app.sandbox.programs.errors import ProgramRaised

ANSWERS = {
    "rows": "result_rows = map(np.loadtxt, ['@FILE@'])",
    "items of a mapping": """
import functools
class Answer(dict):
    items = functools.partial(enumerate, map(pd.read_csv, ['@FILE@']))
result = Answer()
""",
    "elements of a list": """
import functools
class Answer(list):
    __iter__ = functools.partial(map, pd.read_csv, ['@FILE@'])
result = Answer([1])
""",
    "elements of a list within a list": """
import functools
class Answer(list):
    __iter__ = functools.partial(map, pd.read_csv, ['@FILE@'])
result = [Answer([1])]
""",
    "the text of an object": """
import functools
class Answer:
    __repr__ = functools.partial(next, map(pd.DataFrame.to_string, map(pd.read_csv, ['@FILE@'])))
result = Answer()
""",
    "the text of an error": """
import functools
class Failure(Exception):
    __str__ = functools.partial(next, map(pd.DataFrame.to_string, map(pd.read_csv, ['@FILE@'])))
raise Failure()
""",
    "the columns of a frame": """
import functools
class Frame(pd.DataFrame):
    columns = map(pd.DataFrame.to_string, map(pd.read_csv, ['@FILE@']))
    to_parquet = functools.partial(str)
keep['frame'] = Frame()
""",
}


@pytest.fixture(autouse=True)
def _own_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    plt.close("all")  # figures of other tests would be part of an answer
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(joblib.Memory, "__init__", joblib.Memory.__init__)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_an_answer_opens_no_file_outside(
    name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("outside") / "secret.csv"
    secret.write_text("SECRET,other\n1,2\n")
    try:
        answer = str(execution.run(Code(ANSWERS[name].replace("@FILE@", str(secret))), {}, tmp_path))
    except (InvalidInput, PermissionError, ProgramRaised, TypeError) as refusal:
        answer = str(refusal)
    assert "SECRET" not in answer


def test_rows_that_a_function_of_a_library_makes_are_an_answer(tmp_path: Path) -> None:
    source = """
with open('a.csv', 'w') as file:
    file.write('a,b\\n1,2\\n')
result_rows = map(np.ravel, map(pd.read_csv, ['a.csv']))
"""
    answer: Any = execution.run(Code(source), {}, tmp_path)
    assert answer["result"]["rows"] == [[1, 2]]

"""Variables of programs in conversations: over the real API, in real cells."""

from typing import Any

import pytest

from .conftest import User
from .test_threads import ask, dataset  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("worker")

FIRST = """PYTHON:
import math
a = b = [1, 2]
def scale(x, factor=2):
    return x * factor + len(a)
swiss = cities[cities["country"] == "CH"]
ages = np.arange(3)
lines = (line for line in a)
class Town:
    pass
home = Town()
print(len(swiss))
"""


async def test_what_a_program_assigns_is_there_in_later_programs_and_in_sql(ada: User, dataset: str) -> None:  # noqa: F811
    first = await ask(ada, FIRST, dataset_ids=[dataset])
    assert first["status"] == "succeeded", first
    assert "home (an instance of the program's own class Town), lines (a generator)" in first["text"]
    assert [entry["name"] for entry in first["not_kept"]] == ["home", "lines"]
    assert {"name": "a", "type": "list", "text": "[1, 2]"} in first["variables"]
    assert first["changes"][0]["text"] == "Created the table swiss: 3 rows."
    thread = {"thread_id": first["thread_id"]}
    second = await ask(
        ada, "PYTHON: b.append(3)\nresult = [a is b, scale(1), int(ages.sum()), math.floor(1.5)]", **thread
    )
    assert second["text"] == "[True, 5, 3, 1]", second
    assert [entry["name"] for entry in second["variables"]] == ["a", "b"]
    counted = await ask(ada, "SQL: select sum(people) as n from swiss", **thread)
    assert counted["table"]["rows"] == [[233100]]
    branch = await ada.http.post("/worldlines", json={**thread, "from_turn": first["turn_id"]})
    other = await ask(ada, "PYTHON: result = a", worldline_id=branch.json()["id"])
    assert other["text"] == "[1, 2]"
    workspace = (await ada.http.get(f"/worldlines/{first['worldline_id']}/workspace")).json()
    types = {entry["name"]: entry["type"] for entry in workspace["variables"]}
    assert types == {
        "a": "list",
        "ages": "ndarray",
        "b": "list",
        "math": "module",
        "scale": "function",
        "swiss": "DataFrame",
        "Town": "class",
    }


async def test_sql_and_programs_change_the_same_frames(ada: User, dataset: str) -> None:  # noqa: F811
    first = await ask(ada, "PYTHON: cities['big'] = cities['people'] > 100_000", dataset_ids=[dataset])
    assert first["changes"][0]["text"].startswith("Created the table cities: 4 rows. cities is now a table")
    thread = {"thread_id": first["thread_id"]}
    await ask(ada, "SQL: delete from cities where big", **thread)
    turn = await ask(ada, "PYTHON: n = len(cities)\nn", **thread)
    assert (turn["text"], [change["name"] for change in turn["changes"]]) == ("2", [])
    gone = await ask(ada, "PYTHON: cities = cities.copy()\ncities.loc[9] = ['Chur', 'CH', 3, False]", **thread)
    assert gone["changes"][0]["text"] == "Replaced the table cities: 3 rows."
    turn = await ask(ada, "PYTHON: del cities", **thread)
    assert (await ask(ada, "SQL: select count(*) as n from cities", **thread))["table"]["rows"] == [[4]]


async def test_a_program_that_fails_changes_nothing_and_names_its_line(ada: User, dataset: str) -> None:  # noqa: F811
    first = await ask(ada, "PYTHON: n = [1]", dataset_ids=[dataset])
    thread = {"thread_id": first["thread_id"]}
    failed = await ask(ada, "PYTHON: n.append(2)\nm = 3\n\nn[7]", **thread)
    assert failed["failure"]["message"].endswith("Line 4: IndexError: list index out of range")
    turn = await ask(ada, "PYTHON: result = [n, 'm' in dir()]", **thread)
    assert turn["text"] == "[[1], False]"


async def test_draws_of_a_branch_equal_those_of_a_straight_run(ada: User, dataset: str) -> None:  # noqa: F811
    draws: list[Any] = []
    for _ in range(2):
        turn = await ask(ada, "PYTHON: x = np.random.rand()\nx", dataset_ids=[dataset])
        again = await ask(ada, "PYTHON: x = np.random.rand()\nx", thread_id=turn["thread_id"])
        draws.append((turn["text"], again["text"]))
    assert draws[0] == draws[1]
    assert draws[0][0] != draws[0][1]


async def test_figures_of_a_program_are_files_of_its_turn_alone(ada: User, dataset: str) -> None:  # noqa: F811
    first = await ask(ada, "PYTHON: df.plot(y='people')\nx = 1", dataset_ids=[dataset])
    assert [file["name"] for file in first["artifacts"] if file["kind"] == "figure"] == ["figure-1.png"], first
    second = await ask(ada, "PYTHON: x", thread_id=first["thread_id"])
    assert (second["text"], second["artifacts"]) == ("1", [])

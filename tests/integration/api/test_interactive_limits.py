"""Executions in a conversation end at the limits of their profile."""

import pytest

from .conftest import User
from .test_threads import ask, dataset

__all__ = ["dataset"]


@pytest.mark.usefixtures("worker")
async def test_a_program_in_a_conversation_has_less_memory_and_disk_than_a_study(
    ada: User, dataset: str
) -> None:
    turn = await ask(ada, "PYTHON: size = np.ones(90_000_000).sum()", dataset_ids=[dataset])
    assert (turn["status"], turn["failure"]["code"]) == ("failed", "computation_out_of_memory")
    place = {"thread_id": turn["thread_id"]}
    program = "PYTHON: file = open('large.txt', 'w')\nfor _ in range(30):\n    file.write('x' * 20_000_000)"
    turn = await ask(ada, program, **place)
    assert (turn["status"], turn["failure"]["code"]) == ("failed", "computation_out_of_disk")


@pytest.mark.usefixtures("worker")
async def test_a_million_rows_fit_into_the_limits_of_a_conversation(ada: User) -> None:
    columns = ", ".join(f"(i * {number + 7} % 1009)::double as c{number}" for number in range(8))
    made = f"SQL: create table big as select {columns} from range(1000000) as t(i)"
    turn = await ask(ada, made)
    assert turn["status"] == "succeeded", turn["failure"]
    place = {"thread_id": turn["thread_id"]}
    turn = await ask(ada, "SQL: update big set c1 = c0 + 1 where c2 > 3", **place)
    assert turn["status"] == "succeeded", turn["failure"]
    turn = await ask(ada, "PYTHON: twice = big * 2\nresult = float(twice.c0.sum() / big.c0.sum())", **place)
    assert (turn["status"], turn["text"]) == ("succeeded", "2.0"), turn["failure"]

"""States of the tables of a conversation that `undo` goes back to."""

from app.workspaces.earlier_states import find_earlier_state
from app.workspaces.snapshot import TableEntry


def make_state(**rows: int) -> dict[str, TableEntry]:
    return {name: TableEntry(digest=f"{name}{n}", size_bytes=1, rows=n, columns=[]) for name, n in rows.items()}


FIRST, SECOND, THIRD = make_state(a=1), make_state(a=2), make_state(a=2, b=3)


def test_the_state_before_the_last_change_is_found() -> None:
    assert find_earlier_state([FIRST, SECOND, THIRD], 1) == SECOND
    assert find_earlier_state([FIRST, SECOND, THIRD], 2) == FIRST
    assert find_earlier_state([FIRST, SECOND, THIRD], 3) == {}


def test_all_changes_are_taken_back_at_once() -> None:
    assert find_earlier_state([FIRST, SECOND], None) == {}
    assert find_earlier_state([], None) is None


def test_there_is_none_before_the_first() -> None:
    assert find_earlier_state([], 1) is None
    assert find_earlier_state([FIRST], 2) is None


def test_a_turn_that_stored_the_same_tables_is_no_change() -> None:
    assert find_earlier_state([FIRST, SECOND, SECOND], 1) == FIRST


def test_undo_twice_goes_back_two_changes() -> None:
    # The third state is what the first `undo` left.
    assert find_earlier_state([FIRST, SECOND, FIRST], 1) == {}
    # After `undo` and another change, that one is taken back first.
    assert find_earlier_state([FIRST, SECOND, FIRST, THIRD], 1) == FIRST

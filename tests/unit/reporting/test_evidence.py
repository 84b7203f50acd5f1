import pytest

from app.recorded_call import RecordedCall
from app.reporting.evidence import RecordedFact, items_at, resolve_pointer, successful_calls


def call(result: object, **given: object) -> RecordedCall:
    return RecordedCall(1, "node", "tool:1.0", "tool", "agent", None, result, **given)  # type: ignore[arg-type]


def fact(result: object) -> RecordedFact:
    return RecordedFact(call(result), "", result)


@pytest.mark.parametrize("name", ["a/b", "~", "~1", "", " ", "0"])
def test_a_pointer_resolves_to_its_fact_for_any_name(name: str) -> None:
    result = {name: [{"deep": 3}]}

    found = fact(result).at(name, 0, "deep")

    assert found is not None
    assert resolve_pointer(result, found.pointer) == 3


def test_a_path_that_was_not_recorded_is_none() -> None:
    found = fact({"there": None, "list": [1]})

    assert found.at("there") is None
    assert found.at("list", 1) is None
    assert found.at("list", "x", "y") is None
    assert items_at(None, "anything") == []


@pytest.mark.parametrize("pointer", ["/list/1", "/list/-1", "/no", "/list/0/deeper", "/list/x"])
def test_a_pointer_to_nothing_is_an_error(pointer: str) -> None:
    with pytest.raises(KeyError):
        resolve_pointer({"list": [1]}, pointer)


def test_chat_and_failed_calls_are_no_evidence() -> None:
    good = call(1)

    assert successful_calls([call(2, kind="chat"), good, call(3, failed=True)]) == [good]

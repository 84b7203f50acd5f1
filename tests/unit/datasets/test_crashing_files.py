import pytest

from app.datasets.crashing_files import refuse_unreadable_files
from app.errors import InvalidInput, LabError, TooLarge
from app.sandbox.computation_runner import CellLost, ComputationFailed


@pytest.mark.parametrize(
    ("code", "kind", "refusal"),
    [
        ("computation_died", InvalidInput, "damaged_file"),
        ("computation_raised", InvalidInput, "damaged_file"),
        ("computation_out_of_memory", TooLarge, "too_large_to_read"),
        ("computation_timed_out", TooLarge, "too_long_to_read"),
        ("computation_out_of_disk", TooLarge, "expands_too_far"),
    ],
)
def test_a_cell_that_ends_while_it_reads_a_file_refuses_the_file(
    code: str, kind: type[LabError], refusal: str
) -> None:
    with pytest.raises(kind) as refused, refuse_unreadable_files():
        raise ComputationFailed(code, "Its process was ended by SIGSEGV.")
    assert refused.value.code == refusal
    assert "SIGSEGV" not in refused.value.detail


@pytest.mark.parametrize(
    "error", [CellLost("computation_died", "lost"), ComputationFailed("computation_cancelled", "cancelled")]
)
def test_an_end_that_says_nothing_of_the_file_is_passed_on(error: ComputationFailed) -> None:
    with pytest.raises(ComputationFailed) as passed, refuse_unreadable_files():
        raise error
    assert passed.value is error

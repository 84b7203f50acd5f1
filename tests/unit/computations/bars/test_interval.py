import pytest

from app.computations.bars.interval import interval_name, interval_seconds
from app.errors import InvalidInput


@pytest.mark.parametrize("name", ["1s", "1m", "5m", "90m", "1h", "4h", "1d", "3d", "1w", "1mo", "3mo"])
def test_interval_names_round_trip(name: str) -> None:
    assert interval_name(interval_seconds(name)) == name


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("5 min", 300),
        ("hourly", 3_600),
        ("1M", 30 * 86_400),
        ("1m", 60),
        ("300", 300),
        ("D", 86_400),
        ("1H", 3_600),
    ],
)
def test_other_spellings_are_understood(said: str, seconds: int) -> None:
    assert interval_seconds(said) == seconds


@pytest.mark.parametrize("said", ["", "0m", "-5m", "5 parsecs", "m5", "99999999d", "5m; DROP TABLE"])
def test_nonsense_is_refused(said: str) -> None:
    with pytest.raises(InvalidInput, match="is not an interval"):
        interval_seconds(said)

"""A fit that starts late ends when its round was meant to."""

import pytest

from app.sessions.waiting.fits import shorten_time_limit


@pytest.mark.parametrize(
    ("grace_s", "limit_s", "left_s", "given_s"),
    [
        (3.0, 5.0, 20.0, 5.0),
        (3.0, 5.0, 6.5, 3.5),
        (3.0, 5.0, 1.0, 0.5),
        (3.0, None, 6.5, None),
        (None, 5.0, 1.0, 5.0),
    ],
)
def test_it_takes_its_share_or_what_is_left_where_that_is_less(
    grace_s: float | None, limit_s: float | None, left_s: float, given_s: float | None
) -> None:
    spec = {"params": {"name": "x", "time_limit_s": limit_s}, "grace_s": grace_s}
    assert shorten_time_limit(spec, left_s)["params"] == {"name": "x", "time_limit_s": given_s}

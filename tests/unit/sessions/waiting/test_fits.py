"""The time limit of a fit that starts late in its round."""

import json
from dataclasses import asdict

import pytest

from app.sandbox.exchange.contract import Limits
from app.sessions.step_scope import Fit
from app.sessions.waiting.fits import read_fit, shorten_time_limit
from app.sessions.waiting.rounds import write_fit


def make_fit(grace_s: float | None, time_limit_s: float | None) -> Fit:
    params = {"name": "x", "time_limit_s": time_limit_s}
    # clock: nothing runs under these limits
    return Fit(
        "candidate", "models.train.fit_candidate", params, {"frame": "ab12"}, Limits(time_s=7.0), grace_s
    )


@pytest.mark.parametrize(
    ("grace_s", "time_limit_s", "left_s", "shortened_s"),
    [
        (3.0, 5.0, 20.0, 5.0),
        (3.0, 5.0, 6.5, 3.5),
        (3.0, 5.0, 1.0, 0.5),
        (3.0, None, 6.5, None),
        (None, 5.0, 1.0, 5.0),
    ],
)
def test_a_late_fit_ends_a_grace_before_its_round(
    grace_s: float | None, time_limit_s: float | None, left_s: float, shortened_s: float | None
) -> None:
    fit = shorten_time_limit(make_fit(grace_s, time_limit_s), left_s)
    assert fit.params == {"name": "x", "time_limit_s": shortened_s}


def test_a_stored_fit_is_read_as_it_was_written() -> None:
    fit = make_fit(3.0, 5.0)
    assert read_fit(json.dumps(asdict(fit))) == fit
    # Limits that workers of before do not know are left out unless they are set.
    assert read_fit(write_fit(fit)) == fit
    assert not {"max_threads", "profile"} & json.loads(write_fit(fit))["limits"].keys()


def test_a_fit_that_was_stored_with_a_former_name_of_its_function_is_computed() -> None:
    fit = make_fit(3.0, 5.0)
    assert read_fit(json.dumps(asdict(fit) | {"function": "train.fit_candidate"})) == fit


def test_a_stored_fit_of_an_earlier_version_has_no_grace() -> None:
    stored = asdict(make_fit(None, 5.0))
    del stored["grace_s"]
    assert read_fit(json.dumps(stored)).grace_s is None

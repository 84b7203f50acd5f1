"""Rates of settings: what the library `limits` reads, which most processes need not import."""

import os
import subprocess
import sys
from pathlib import Path

import limits
import pytest
from pydantic import TypeAdapter, ValidationError

from app.auth.quotas import Rate, _is_plain_rate
from app.settings import Settings

RATE: TypeAdapter[str] = TypeAdapter(Rate)


@pytest.mark.parametrize("unit", ["second", "minute", "hour", "day", "month", "year"])
def test_a_plain_rate_is_one_of_the_library(unit: str) -> None:
    text = f"600/{unit}"
    assert _is_plain_rate(text)
    assert RATE.validate_python(text) == text
    assert limits.parse(text).amount == 600


@pytest.mark.parametrize("text", ["600 per 5 minutes", "10/Hour"])
def test_other_notations_of_the_library_are_rates_too(text: str) -> None:
    assert RATE.validate_python(text) == text


@pytest.mark.parametrize("text", ["often", "5/week", "1/second;5/minute", "/minute", "٣/minute"])
def test_what_is_not_one_rate_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        RATE.validate_python(text)


def test_settings_with_default_rates_import_no_library_of_rates(tmp_path: Path) -> None:
    program = (
        "import sys; from app.settings import load_settings; load_settings(); print('limits' in sys.modules)"
    )
    names = {name.upper() for name in Settings.model_fields}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"

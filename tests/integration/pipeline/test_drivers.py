"""Whole sessions of goals that ask what a target goes with."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DATA = Path(str(files("bokeh_sampledata"))) / "_data"
QUICK = {"time_budget_s": 12}


async def test_drivers_of_a_number_come_first_with_effects_in_its_units(lab):
    await lab.upload(DATA / "auto-mpg.csv")
    drive = lab.drive("What drives mpg? Do not use the name.", QUICK)
    result: dict[str, Any] = drive.spec.result(await drive.run())

    drivers = result["drivers"]
    assert drivers["requested"] is True
    assert result["headline"] == drivers["text"]
    assert drivers["text"].startswith("Mpg goes")
    assert drivers["rows"] == drivers["holdout_rows"]
    columns = [column for driver in drivers["drivers"] for column in driver["columns"]]
    assert "weight" in columns[:4]
    assert any(
        effect["low"] <= effect["value"] <= effect["high"]
        for driver in drivers["drivers"]
        for effect in driver["effects"]
    )
    assert "causes" not in " ".join(text for driver in drivers["drivers"] for text in driver["texts"])
    assert result["report"]["checked_claims"] > 0


async def test_drivers_of_a_class_are_told_in_percentage_points(lab):
    await lab.upload(DATA / "titanic_all.csv")
    drive = lab.drive("Why did some passengers survive? Do not use the name.", QUICK)
    result: dict[str, Any] = drive.spec.result(await drive.run())

    first = result["drivers"]["drivers"][0]
    assert first["columns"] == ["sex"]
    assert any("percentage points" in text for text in first["texts"])

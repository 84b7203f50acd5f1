"""The report of `labcrew doctor` where nothing runs."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from app.cli.administration.doctor import doctor
from app.cli.terminal.exit_codes import Exit


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "type[Lines]":
    monkeypatch.setenv("LABCREW_HOME", str(tmp_path))
    monkeypatch.setenv("API_PORT", "0")
    return Lines


class Lines:
    """Exit code and outcome of each check, as the command prints them."""

    def __init__(self, *arguments: str) -> None:
        app = typer.Typer()
        app.command()(doctor)
        result = CliRunner().invoke(app, [*arguments])
        self.code = result.exit_code
        self.outcomes = {line[8:20].strip(): line[:8].strip() for line in result.output.splitlines()}


def test_a_machine_where_nothing_runs_is_idle_and_healthy(lines: type[Lines]) -> None:
    report = lines()
    # Not every machine that tests can isolate cells.
    cells = report.outcomes.pop("cells")
    assert set(report.outcomes.values()) == {"idle", "ok"}
    assert report.outcomes["service"] == "idle"
    assert {"Postgres", "workers"}.isdisjoint(report.outcomes)
    assert report.code == (Exit.DONE if cells == "ok" else Exit.UNAVAILABLE)


def test_servers_that_do_not_run_are_a_failure_where_they_are_asked_for(lines: type[Lines]) -> None:
    report = lines("--servers")
    assert (report.code, report.outcomes["service"]) == (Exit.UNAVAILABLE, "failed")


def test_a_server_that_is_named_must_be_there(lines: type[Lines], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/labcrew")
    report = lines()
    assert (report.code, report.outcomes["service"]) == (Exit.UNAVAILABLE, "failed")

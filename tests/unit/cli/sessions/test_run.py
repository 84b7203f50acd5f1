from pathlib import Path

import pytest
import typer

from app.cli.sessions.run import run
from app.cli.sessions.run_options import RunOptions
from app.cli.terminal.exit_codes import Exit
from app.errors import InvalidInput, NotFound


def test_a_file_where_the_goal_belongs_is_refused_before_anything_starts(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    with pytest.raises(InvalidInput, match=r"The goal is missing. After .*table\.csv say"):
        run([str(table)])


def test_a_long_name_of_no_file_is_refused_like_a_short_one() -> None:
    for name in ("none.csv", "n" * 5000):
        with pytest.raises(NotFound, match="There is no file n"):
            run([name, "Predict it"])


def test_a_file_that_is_not_there_is_named_whatever_the_goal_is() -> None:
    for arguments in (["none.csv", "x"], ["none.csv", ""], ["none.csv"], ["none.csv", "other.csv"]):
        with pytest.raises(NotFound, match=r"There is no file none\.csv"):
            run(arguments)


def test_a_folder_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"is a folder. Name the files in it"):
        run([str(tmp_path), "Predict it"])


def test_a_folder_that_cannot_be_made_is_refused_before_anything_starts(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    with pytest.raises(InvalidInput, match=r"cannot be saved in .*table\.csv/report: not a directory\. Name"):
        run([str(table), "Predict it"], out=table / "report")


def test_a_goal_may_be_longer_than_a_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[RunOptions] = []

    def record_options(options: RunOptions) -> Exit:
        recorded.append(options)
        return Exit.DONE

    monkeypatch.setattr("app.cli.sessions.run._execute", record_options)
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    goal = "Predict a. " * 500
    with pytest.raises(typer.Exit):
        run([str(table), goal])
    assert recorded[0].goal == goal

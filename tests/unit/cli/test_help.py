"""The list of commands that `labcrew --help` prints."""

from itertools import pairwise
from typing import Any

import typer
from typer.testing import CliRunner

from app.cli.commands import make_app

HEADS = ("First steps", "Sessions", "Workflows, jobs, prices, suites", "Operation of a service")


def test_every_command_stands_under_a_head() -> None:
    text = CliRunner().invoke(make_app(), ["--help"], env={"COLUMNS": "200"}).stdout
    places = [text.index(f" {head} ") for head in HEADS]
    assert all(before < after for before, after in pairwise(places))
    group: Any = typer.main.get_command(make_app())
    panels = {name: command.rich_help_panel for name, command in group.commands.items()}
    assert set(panels.values()) == set(HEADS)
    assert panels["demo"] == "First steps"
    assert panels["user"] == "Operation of a service"


def test_a_command_line_loads_the_command_alone_that_it_begins_with() -> None:
    assert len(make_app(["doctor"]).registered_commands) == 1
    assert not make_app(["doctor"]).registered_groups
    assert len(make_app(["user", "add"]).registered_groups) == 1

"""Completion of command lines by shells, asked of the installed program as a shell asks it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from app.cli.commands import make_app

PROGRAM = Path(sys.executable).with_name("labcrew")


def ask(mode: str, **words: str) -> str:
    """Return what the program prints where a shell asks it to complete a command line."""
    environment = {**os.environ, "_LABCREW_COMPLETE": mode, **words}
    return subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=True).stdout


def complete(*words: str) -> list[str]:
    """Return what Bash offers for the last word."""
    return ask("complete_bash", COMP_WORDS=" ".join(words), COMP_CWORD=str(len(words) - 1)).split()


def test_a_shell_offers_every_command_and_the_options_of_one() -> None:
    group: Any = typer.main.get_command(make_app())
    visible = sorted(name for name, command in group.commands.items() if not command.hidden)
    assert sorted(complete("labcrew", "")) == visible
    assert complete("labcrew", "ru") == ["run"]
    assert complete("labcrew", "run", "--metr") == ["--metric"]
    assert complete("labcrew", "user", "di") == ["disable"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_that_asks_the_program(shell: str) -> None:
    assert f"_LABCREW_COMPLETE=complete_{shell}" in ask(f"source_{shell}")

"""Every `labcrew` command in README and docs exists, with the options that it is shown with."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from app.cli.commands import make_app

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^ {4}(?:[A-Z_]+=\S+ )?(?:\.venv/bin/)?labcrew (.+)$", re.MULTILINE)
INLINE = re.compile(r"`(?:[A-Z_]+=\S+ )?labcrew ([a-z][^`]*)`")


def documented_commands() -> list[tuple[str, str]]:
    """(page, arguments) of each command, without comments and without what stands in a second column."""
    commands = set()
    for page in PAGES:
        text = page.read_text()
        for arguments in (*BLOCK.findall(text), *INLINE.findall(text)):
            commands.add((page.name, re.split(r"\s+#|\s{3,}", arguments)[0].replace("\n", " ")))
    return sorted(commands)


def unknown_words(arguments: str) -> list[str]:
    """Words of a command that are neither a command of their group nor an option of their command."""
    command: Any = typer.main.get_command(make_app())
    words = shlex.split(re.sub(r"[\[\]]", "", arguments))  # `[--script]` is an option that may be left out
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        if words[0] not in command.commands:
            return words[:1]
        command = command.commands[words.pop(0)]
    options = {"--help", *(name for parameter in command.params for name in parameter.opts)}
    return [word for word in words if word.startswith("--") and word not in options]


def test_commands_are_read_from_the_pages() -> None:
    arguments = [arguments for _, arguments in documented_commands()]
    assert 'run houses.csv "Predict the price" --budget 120' in arguments
    assert "retention --delete" in arguments


@pytest.mark.parametrize(("page", "arguments"), documented_commands())
def test_a_documented_command_is_understood(page: str, arguments: str) -> None:
    assert unknown_words(arguments) == []


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert unknown_words("sesions") == ["sesions"]
    assert unknown_words("prices imprt a.csv") == ["imprt"]
    assert unknown_words('run a.csv "Predict it" --bugdet 3') == ["--bugdet"]


def test_a_command_line_imports_its_own_command_only() -> None:
    program = (
        "import sys\n"
        "from app.cli.commands import make_app\n"
        "names = [command.name for command in make_app(['run', 'x.csv', 'a goal']).registered_commands]\n"
        "print(names, [name for name in ('app.cli.prices', 'app.cli.supervisor.up') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['run'] []\n"


def test_a_command_line_that_begins_with_no_command_offers_all() -> None:
    for words in ([], ["--help"], ["rum"]):
        assert len(typer.main.get_command(make_app(words)).commands) > 30  # type: ignore[attr-defined]

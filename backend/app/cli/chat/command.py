"""`labcrew chat`: a conversation about tables in the terminal."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.sessions.run import Key, Url

Data = Annotated[list[Path] | None, typer.Argument(metavar="[DATA]...", help="Tables.", exists=True)]
ChartFolder = Annotated[Path | None, typer.Option("--out", help="Folder for charts (PNG).", file_okay=False)]
Thread = Annotated[
    str | None, typer.Option(help="Conversation to go on with: an id, the beginning of one, or `last`.")
]


def chat(
    data: Data = None, out: ChartFolder = None, thread: Thread = None, url: Url = None, key: Key = None
) -> None:
    """Talk about your tables: ask, draw, and ask again. /help lists commands, Ctrl-D ends."""
    from app.cli.chat.loop import run_chat  # noqa: PLC0415 - half a second that `--help` need not wait

    run_chat(tuple(data or ()), out, thread, url, key)

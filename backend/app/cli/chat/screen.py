"""Answers of a conversation in the terminal: words as they come, then tables and charts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from app.cli.api_client.client import LabClient
from app.cli.terminal.block_charts import draw_blocks
from app.cli.terminal.result_table import show_row_count, show_rows
from app.cli.terminal.sanitize import harmless, plain

Event = Mapping[str, Any]


class ChatScreen:
    """Shows the events of one turn."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.has_text = False

    def show(self, kind: str, event: Event) -> None:
        if kind == "token":
            self.has_text = True
            self._console.print(harmless(event.get("text", "")), end="", markup=False)
        elif kind == "tool_call" and self._console.is_terminal:
            self._console.print(f"[dim]{plain(event.get('name', ''))} ...[/]")

    def close(self) -> None:
        """End the line of words."""
        if self.has_text:
            self._console.print()


def show_turn(client: LabClient, turn: Event, has_text: bool, out: Path | None, console: Console) -> None:
    """Show the parts of a turn that came with its end: table, charts, output and question."""
    if not has_text and turn.get("text"):
        console.print(plain(turn["text"]))
    if turn.get("failure"):
        console.print(f"[red]{plain(turn['failure']['message'])}[/]")
    output = str(turn.get("stdout") or "").rstrip()
    # The text of a program's turn is its output, which would be printed twice.
    if output and output != str(turn.get("text", "")).rstrip():
        console.print(plain(output))
    charts, table = turn.get("charts") or [], turn.get("table")
    blocks = ""
    if charts and table:
        # The specification has all rows, the table of a turn its first ones.
        specification = client.chart(charts[0]["id"])
        rows = [list(row.values()) for row in specification["datasets"]["rows"]]
        blocks = draw_blocks(charts[0]["chart_kind"], table["columns"], rows)
    if blocks:
        console.print(harmless(blocks), markup=False)
    elif table and table["columns"]:
        _show_table(table, console)
    for number, chart in enumerate(charts, 1):
        if out is not None and not chart.get("problem"):
            path = out / f"{turn['turn_id'][:8]}-{number}.png"
            out.mkdir(parents=True, exist_ok=True)
            client.download_to(f"/charts/{chart['id']}/png", path)
            console.print(f"[dim]{plain(str(path))}[/]")
    if turn.get("question"):
        console.print(f"[yellow]{plain(turn['question']['question'])}[/]")


def show_workspace(workspace: Event, console: Console) -> None:
    """Show what a conversation has made: tables, files, and the variables of its programs."""
    for table in workspace["tables"]:
        columns = ", ".join(column["name"] for column in table["columns"])
        console.print(f"{table['kind']} {plain(table['name'])}: {table['rows']:,} rows, {plain(columns)}")
    for file in workspace["files"]:
        console.print(f"file {plain(file['name'])}: {file['size_bytes']:,} bytes")
    for variable in workspace["variables"]:
        console.print(f"{plain(variable['type'])} {plain(variable['name'])}: {plain(variable['text'])}")
    if not any(workspace[kind] for kind in ("tables", "files", "variables")):
        console.print("[dim]Nothing yet.[/]")


def _show_table(document: Event, console: Console) -> None:
    columns = [(column["name"], column["type"]) for column in document["columns"]]
    show_rows(columns, document["rows"], console)
    show_row_count(document["row_count"], console)

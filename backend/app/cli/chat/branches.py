"""Branches of a conversation in the terminal: begun, switched between, listed and compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from app.cli.api_client.client import LabClient
from app.cli.terminal.sanitize import plain
from app.counts import describe_count
from app.errors import InvalidInput

MAX_SHOWN_ROWS = 5
"""Rows that only one side of a comparison has, of each table."""
Json = Mapping[str, Any]


@dataclass
class ChatBranches:
    """The branches of one thread. `current`: the worldline that messages go to; None for the first one."""

    client: LabClient
    console: Console
    thread: str
    current: str | None = None

    def begin(self, text: str) -> str:
        """Begin a branch, or switch to one that exists: `[NAME] [back N]`. Returns its worldline.

        `back N`: without the last N turns of the present branch. Raises InvalidInput for a wrong number.
        """
        name, turns_back = parse_branch(text)
        worldlines = self._list()
        existing = next((line for line in worldlines if line["name"] == name), None)
        # With `back` a new branch is meant, even under a name that is taken: the service refuses that.
        if existing is not None and not turns_back:
            self.current = str(existing["id"])
            self.console.print(f"[dim]Now on {plain(name)}.[/]")
            return self.current
        present = self._find_present(worldlines)
        body = {"thread_id": self.thread, "from_turn": self._go_back(present["head"], turns_back)}
        created = self.client.create_worldline({**body, **({"name": name} if name else {})})
        self.current = str(created["id"])
        origin = (
            f"{plain(present['name'])}, {describe_count(turns_back, 'turn')} back"
            if turns_back
            else plain(present["name"])
        )
        self.console.print(f"[dim]Now on {plain(created['name'])}, a branch of {origin}.[/]")
        return self.current

    def compare(self, name: str) -> None:
        """Compare the present branch with another one, by default the first. Raises InvalidInput."""
        worldlines = self._list()
        present = self._find_present(worldlines)
        others = [line for line in worldlines if line["id"] != present["id"]]
        other = next((line for line in others if not name or line["name"] == name), None)
        if other is None:
            names = ", ".join(str(line["name"]) for line in others) or "none; /branch begins one"
            raise InvalidInput("no_such_branch", f"There is no other branch {name}. There are: {names}.")
        show_comparison(
            self.client.compare_worldlines(present["id"], other["id"]), present, other, self.console
        )

    def list(self) -> None:
        worldlines = self._list()
        present = self._find_present(worldlines)
        for line in worldlines:
            mark = "*" if line["id"] == present["id"] else " "
            self.console.print(f"{mark} {plain(line['name'])}")

    def _list(self) -> Sequence[Json]:
        items: Sequence[Json] = self.client.thread(self.thread)["worldlines"]
        return items

    def _find_present(self, worldlines: Sequence[Json]) -> Json:
        # A thread has at least its first branch.
        return next((line for line in worldlines if line["id"] == self.current), worldlines[0])

    def _go_back(self, head: str | None, count: int) -> str | None:
        """The turn this many turns before the end of a branch; None before its first."""
        for _ in range(count):
            if head is None:
                raise InvalidInput("no_such_turn", "The conversation has fewer turns than that.")
            head = self.client.turn(head)["parent_id"]
        return head


def show_comparison(compared: Json, first: Json, second: Json, console: Console) -> None:
    """Show the turns of each side since they parted, and the tables that differ."""
    for line, turns in ((first, compared["turns_first"]), (second, compared["turns_second"])):
        console.print(f"[bold]{plain(line['name'])}[/]: {describe_count(len(turns), 'turn')} of its own")
        for turn in turns:
            console.print(f"  {plain(turn['message'])}")
    for table in compared["tables"]:
        sizes = [f"{side['rows']:,} rows" if (side := table[name]) else "none" for name in ("first", "second")]
        console.print(f"Table {plain(table['name'])}: {sizes[0]} and {sizes[1]}")
        for name, line in (("only_first", first), ("only_second", second)):
            rows = (table.get(name) or {}).get("rows") or []
            for row in rows[:MAX_SHOWN_ROWS]:
                cells = ", ".join(plain(str(cell)) for cell in row)
                console.print(f"  only {plain(line['name'])}: {cells}")


def parse_branch(text: str) -> tuple[str, int]:
    """Parse `[NAME] [back N]`. Raises InvalidInput for a number that is none."""
    words = text.split()
    if "back" not in words:
        return text.strip(), 0
    place = words.index("back")
    number = " ".join(words[place + 1 :]) or "1"
    if not number.isdecimal():
        raise InvalidInput("not_a_number", f"`/branch back` takes a number of turns, not {number!r}.")
    return " ".join(words[:place]), int(number)

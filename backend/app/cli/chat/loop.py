"""A conversation in the terminal: lines of the user, and the answers as they are made."""

import contextlib
import readline
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from app.cli.api_client.client import LabClient, Refused
from app.cli.api_client.received_events import QuestionEvent
from app.cli.api_client.typed_ids import find_id
from app.cli.chat.branches import ChatBranches
from app.cli.chat.screen import ChatScreen, show_turn, show_workspace
from app.cli.chat.study_progress import follow_study
from app.cli.connection.service_connection import connected
from app.cli.sessions.prompts import put
from app.cli.terminal.local_zone import find_local_zone
from app.cli.terminal.sanitize import harmless, plain
from app.errors import InvalidInput, LabError
from app.settings import load_settings

MAX_HISTORY_LINES = 1_000
"""Lines that the history keeps: some weeks of conversations, and read at once."""
_MODES = {"/sql": "sql", "/python": "python", "/plan": "plan"}
_QUESTIONS = frozenset({"approval", "clarification"})
"""Events of a turn that waits for its user: its stream goes on only after the answer."""
HELP = """  [bold]/sql[/] SELECT ...     run SQL as it stands; it may change tables of the conversation
  [bold]/python[/] code        run a program; each table is a DataFrame of its name
  [bold]/data[/] file          add a table
  [bold]/branch[/] name back 2 begin a branch (without the last 2 turns), or go to the one of that name
  [bold]/branches[/]           list the branches; /compare name shows what differs from another
  [bold]/workspace[/]          list the tables and variables that the conversation made
  [bold]/new[/]                begin a new conversation about the same tables
  [bold]/help[/], [bold]/quit[/]         this list; end (or Ctrl-D)
Ask in plain words, for example: total sales by month as a line chart"""


@dataclass
class TerminalChat:
    """A conversation of the terminal. `thread`: None before its first message."""

    client: LabClient
    console: Console
    datasets: list[str]
    out: Path | None = None
    thread: str | None = None
    worldline: str | None = None
    has_new_data: bool = False

    def upload(self, path: Path) -> None:
        uploaded = self.client.upload(path)
        self.datasets.append(uploaded.id)
        self.has_new_data = True
        self.console.print(f"[dim]{plain(path.name)}: {uploaded.rows:,} rows[/]")

    def ask(self, message: str, mode: str | None = None) -> None:
        """Send a message and show its answer. An interrupt leaves the turn alone, which goes on."""
        screen = ChatScreen(self.console)
        try:
            turn_id = self._follow_turn(self._make_request(message, mode), screen)
            screen.close()
            if turn_id:
                turn = self.client.turn(turn_id)
                show_turn(self.client, turn, screen.has_text, self.out, self.console)
                for study in turn.get("studies") or []:
                    follow_study(self.client, str(study), self.console)
        except KeyboardInterrupt:
            screen.close()
            self.console.print("\n[dim]It goes on without being waited for.[/]")
        except EOFError:
            self.console.print("[dim]It waits for your answer, which the page takes, too.[/]")

    def _make_request(self, message: str, mode: str | None) -> dict[str, Any]:
        request: dict[str, Any] = {"message": message, "preferences": {"time_zone": find_local_zone()}}
        if mode:
            request["mode"] = mode
        if self.worldline:
            request["worldline_id"] = self.worldline
        elif self.thread:
            request["thread_id"] = self.thread
        # Only when they change: the thread remembers its datasets, and others may be added to it elsewhere.
        if self.datasets and (self.has_new_data or not self.thread):
            request["dataset_ids"] = self.datasets
        return request

    def _follow_turn(self, request: Mapping[str, Any], screen: ChatScreen) -> str:
        """Show the events of a turn, answer what it asks, and return its id."""
        turn_id = ""
        for kind, event in self.client.chat(request):
            # Kept from the first event on, so that the conversation goes on after an interrupted turn.
            if thread := event.get("thread_id"):
                self.thread, self.has_new_data = str(thread), False
            turn_id = str(event.get("turn_id") or turn_id)
            screen.show(kind, event)
            if kind in _QUESTIONS:
                self._answer(turn_id, event)
        return turn_id

    def _answer(self, turn_id: str, event: Mapping[str, Any]) -> None:
        """Ask the question of a turn and pass the answer on. Raises EOFError where nobody can answer."""
        question = QuestionEvent.model_validate({**event, "kind": "clarification_asked"})
        while True:
            answer = put(question, self.console, _read_answer)
            try:
                return self.client.respond(turn_id, question.question, answer)
            except Refused as error:
                if error.code != "answer_invalid":
                    raise
                # Asked again at once: the turn waits, and so would every message after it.
                self.console.print(f"[red]{plain(error.detail)}[/]")

    def obey(self, line: str) -> bool:
        """Carry out a line. False: the conversation ends."""
        command, _, rest = line.partition(" ")
        if command in _MODES:
            self.ask(rest.strip(), _MODES[command]) if rest.strip() else self.console.print(HELP)
        elif command == "/data" and rest.strip():
            self.upload(Path(rest.strip()).expanduser())
        elif command in ("/branch", "/branches", "/compare"):
            self._work_on_branches(command, rest.strip())
        elif command == "/workspace":
            self._show_workspace()
        elif command == "/new":
            # The datasets stay, for the new thread gets them with its first message.
            self.thread = self.worldline = None
        elif command in ("/quit", "/exit"):
            return False
        elif command.startswith("/"):
            self.console.print(HELP)
        else:
            self.ask(line)
        return True

    def _show_workspace(self) -> None:
        if self.thread is None:
            raise InvalidInput("no_conversation", "The conversation has not begun: it has made nothing yet.")
        worldline = self.worldline or self.client.thread(self.thread)["worldlines"][0]["id"]
        show_workspace(self.client.workspace(str(worldline)), self.console)

    def _work_on_branches(self, command: str, rest: str) -> None:
        if self.thread is None:
            raise InvalidInput("no_conversation", "The conversation has not begun: there is nothing to branch.")
        branches = ChatBranches(self.client, self.console, self.thread, self.worldline)
        if command == "/branch":
            self.worldline = branches.begin(rest)
        elif command == "/compare":
            branches.compare(rest)
        else:
            branches.list()


def find_thread(client: LabClient, text: str) -> str:
    """Return the id of the conversation that an id, the beginning of one, or `last` means. See `find_id`."""
    thread_id = find_id(
        text,
        lambda: [str(thread["id"]) for thread in client.threads()],
        "conversation",
        "`last` is the newest one.",
    )
    # Raises NotFound for a whole id of none, before anything is typed or uploaded.
    return str(client.thread(thread_id)["id"])


def run_chat(
    files: tuple[Path, ...], out: Path | None, thread: str | None, url: str | None, key: str | None
) -> None:
    """Hold a conversation until its user ends it."""
    settings = load_settings()
    console = Console(highlight=False, soft_wrap=True)
    with connected(settings, url, key, console.print) as client:
        if thread is not None:
            thread = find_thread(client, thread)
        conversation = TerminalChat(client, console, [], out, thread)
        for file in files:
            conversation.upload(file)
        if sys.stdin.isatty():
            console.print("[dim]/help lists commands, Ctrl-D ends.[/]")
        with _history(settings.home / "chat_history"):
            for line in _read_lines(console):
                try:
                    if not conversation.obey(line):
                        break
                except (LabError, OSError) as error:
                    detail = error.detail if isinstance(error, LabError) else str(error)
                    console.print(f"[red]{plain(detail)}[/]")
    if conversation.thread:
        console.print(f"[dim]Go on later: labcrew chat --thread {conversation.thread}[/]")


def _read_answer(prompt: str) -> str:
    """Read the answer to a question; one that is piped in is shown behind its prompt."""
    answer = input(prompt)
    if not sys.stdin.isatty():
        print(harmless(answer))  # noqa: T201 - `input` wrote the prompt, and a terminal would show what is typed
    return answer


def _read_lines(console: Console) -> Iterator[str]:
    """Read lines that are not empty. Ctrl-C drops a line, and the conversation goes on."""
    is_terminal = sys.stdin.isatty()
    while True:
        try:
            line = input("\n> " if is_terminal else "").strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            console.print("\n[dim]Ctrl-D ends.[/]")
            continue
        # Lines from a file or pipe are repeated, or the output would be answers without their questions.
        if line and not is_terminal:
            console.print(f"\n> {plain(line)}")
        if line:
            yield line


@contextlib.contextmanager
def _history(path: Path) -> Iterator[None]:
    """Keep the lines of a terminal for the next conversation, readable by their user only."""
    if not sys.stdin.isatty():
        yield
        return
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    readline.set_history_length(MAX_HISTORY_LINES)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.touch(mode=0o600)
            readline.write_history_file(path)

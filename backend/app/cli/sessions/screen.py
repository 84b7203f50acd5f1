"""Shows a session in the terminal: finished steps stay as lines, the running one moves below them."""

import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from app.cli.api_client.received_events import ReceivedEvent, UnderstandingEvent
from app.cli.sessions.progress import SessionProgress, StepLine
from app.cli.terminal.sanitize import plain

_MAX_WIDE = 90
"""Characters of the activity of a step, so that its line fits a wide terminal."""


class Screen:
    """Use it as a context manager; `pause` and `resume` frame a prompt."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._printed_steps = 0
        self.progress = SessionProgress()
        self._live = Live(console=console, refresh_per_second=8, transient=True, get_renderable=self._running)

    def __enter__(self) -> "Screen":
        # A moving line in a file or pipe would be hundreds of lines.
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show_event(self, event: ReceivedEvent) -> None:
        known_plan = bool(self.progress.plan)
        self.progress.apply(event, self._now())
        if isinstance(event, UnderstandingEvent):
            self._print_understanding(event)
        if self.progress.plan and not known_plan:
            for line in self.progress.plan:
                self._console.print(f"[dim]    {plain(line)}[/]")
            for note in self.progress.notes:
                self._console.print(f"[yellow]note[/] {plain(note)}")
        self._print_finished()

    def _print_understanding(self, understanding: UnderstandingEvent) -> None:
        others = f" Not meant: {', '.join(understanding.alternatives)}?" if understanding.alternatives else ""
        self._console.print(f"[bold]Understood:[/] {plain(understanding.text)}[dim]{plain(others)}[/]")

    def pause(self) -> None:
        self._live.stop()

    def resume(self) -> None:
        if self._console.is_terminal:
            self._live.start()

    @property
    def elapsed_s(self) -> float:
        return self._now()

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _print_finished(self) -> None:
        for step in self.progress.steps[self._printed_steps :]:
            if step.ended_s is None:
                return
            self._console.print(_line("[green]done[/]", step, self._now()))
            self._printed_steps += 1

    def _running(self) -> Spinner | Text:
        step = self.progress.running
        if step is None:
            return Spinner("dots", Text(f"waiting  {self._now():.0f} s", style="dim"))
        return Spinner("dots", _line("", step, self._now()))


def _line(mark: str, step: StepLine, now_s: float) -> Text:
    name = step.node.replace("_", " ")
    doing = step.doing if len(step.doing) <= _MAX_WIDE else step.doing[: _MAX_WIDE - 1] + "…"
    return Text.from_markup(f"{mark} {name:<24}{step.elapsed_s(now_s):>7.1f} s  [dim]{plain(doing)}[/]".strip())

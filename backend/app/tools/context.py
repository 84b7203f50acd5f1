"""What a tool may use: its step, its frames, and cells to compute in."""

from dataclasses import dataclass

from app.artifacts.workspace import Workspace
from app.datasets.shelf import DatasetShelf
from app.sandbox.computer import Computer
from app.sessions.scope import SessionFacts, StepScope


@dataclass(frozen=True)
class ToolContext:
    """Handed to every tool as its first argument; an agent never sees it.

    `call` is the key of the call being made, unique in its step: what a question or a round is keyed by.
    """

    agent: str
    step: StepScope
    frames: Workspace
    datasets: DatasetShelf
    computer: Computer
    call: str = ""

    @property
    def session(self) -> SessionFacts:
        return self.step.session

"""The runtime context that a graph is invoked with while its session is driven."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from app.sessions.drive.drive_state import SessionDrive
from app.sessions.drive.running_step import DrivenStep
from app.sessions.step_scope import StepScope


@dataclass(frozen=True)
class GraphDrive:
    """Makes the steps of a drive and the contexts of its nodes."""

    drive: SessionDrive
    make_context: Callable[[StepScope], Any]

    def begin(self, seq: int, node: str) -> DrivenStep:
        self.drive.node = node
        # Log lines of tools and chat models name the step without being handed it.
        structlog.contextvars.bind_contextvars(step=seq, node=node)
        return DrivenStep(self.drive, seq, node)

    def context(self, step: StepScope) -> Any:
        return self.make_context(step)

"""Settings of sessions and of computations."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from app.sandbox.exchange.contract import INTERACTIVE, Limits
from app.sandbox.provider.process_config import ProcessConfig
from app.sandbox.provider.zygote_container import Container
from app.sessions.budget_request import BudgetRequest
from app.sessions.config import SessionsConfig
from app.settings.chat import ChatSettings
from app.settings.service import ServiceSettings
from app.settings.setting_types import MIB, Budget
from app.settings.sign_in import EdgeSettings
from app.settings.stores import StoreSettings


class WorkSettings(ChatSettings, EdgeSettings, StoreSettings, ServiceSettings):
    max_concurrent_sessions: int = Field(
        100, ge=0, description="Sessions that run at a time, of all users; more wait in a queue. 0 is no limit."
    )
    session_time_limit_seconds: float = Field(
        3600, gt=0, description="Seconds that a session may run, without waiting for its user."
    )
    session_budget: Budget = Field(
        BudgetRequest(),
        description="Budget of a session that asks for none: JSON of tokens, cost_usd, tool_calls, seconds.",
    )
    session_budget_max: Budget = Field(
        BudgetRequest(), description="The most that a session may ask for and add; JSON as SESSION_BUDGET."
    )
    sandbox_provider: Literal["process", "docker"] = Field(
        "process", description="Computations run in a process of this host, or a container without network."
    )
    sandbox_image: str = Field("labcrew", description="Image of that container, of this version of Labcrew.")
    sandbox_max_execution_time: float = Field(300, gt=0, description="Seconds that one computation may take.")
    sandbox_max_memory_mb: int = Field(2048, ge=128, description="Most memory of one computation.")
    interactive_max_execution_time: float = Field(
        INTERACTIVE.time_s, gt=0, description="Seconds that one execution in a conversation may take."
    )
    interactive_max_memory_mb: int = Field(
        INTERACTIVE.memory_bytes // MIB, ge=128, description="Most memory of one execution in a conversation."
    )
    interactive_max_disk_mb: int = Field(
        INTERACTIVE.disk_bytes // MIB, ge=16, description="Most that one execution in a conversation may write."
    )
    sandbox_max_cells: int = Field(16, ge=1, description="Computations that run at once on a host.")
    sandbox_cpus: float | None = Field(
        None,
        gt=0,
        description="Processors of all computations in that container; empty: one each, at most the host's.",
    )
    allow_unisolated: bool | None = Field(
        None,
        description="Compute SQL and uploads if cells cannot be isolated; empty: yes, but not in production.",
    )
    python_exports: bool = Field(
        True,
        description="Programs may write files, which are kept; off: results, frames and figures only.",
    )
    cells_socket: Path | None = Field(
        None,
        description="Socket of the host's zygote, set by `labcrew up`; empty: each process starts its own.",
    )
    charts_socket: Path | None = Field(
        None,
        description="Socket of the host's drawing process, set by `labcrew up`; empty: each starts its own.",
    )

    @property
    def sessions(self) -> SessionsConfig:
        return SessionsConfig(
            time_limit_s=self.session_time_limit_seconds,
            max_running=self.max_concurrent_sessions,
            max_running_per_owner=self.user_running_sessions,
            max_running_turns_per_owner=self.user_running_turns,
            max_live_per_owner=self.user_sessions,
            default_budget=self.session_budget.model_dump(exclude_none=True),
            max_budget=self.session_budget_max.model_dump(exclude_none=True),
            unpriced_models=self.unpriced,
        )

    @property
    def limits(self) -> Limits:
        return Limits(
            time_s=self.sandbox_max_execution_time,
            memory_bytes=self.sandbox_max_memory_mb * MIB,
            # A file that a cell leaves becomes an artifact: the limit of both is one.
            disk_bytes=self.artifact_max_size_mb * MIB,
        )

    @property
    def interactive_limits(self) -> Limits:
        return replace(
            INTERACTIVE,
            time_s=self.interactive_max_execution_time,
            memory_bytes=self.interactive_max_memory_mb * MIB,
            disk_bytes=self.interactive_max_disk_mb * MIB,
        )

    @property
    def cells(self) -> ProcessConfig:
        allowed = not self.production if self.allow_unisolated is None else self.allow_unisolated
        cells = ProcessConfig(
            self.home / "cells",
            self.sandbox_max_cells,
            socket=self.cells_socket,
            allow_unisolated=allowed,
        )
        if self.sandbox_provider == "process":
            return cells
        blobs = (self.artifact_storage_path or self.home / "blobs").absolute()
        return replace(
            cells,
            container=Container(
                self.sandbox_image,
                cells.scratch,
                blobs,
                self.sandbox_max_memory_mb * MIB,
                self.sandbox_max_cells,
                self.sandbox_cpus,
            ),
        )

"""Configuration of the provider of cells: apart from it, as settings need no event loop and no metrics."""

from dataclasses import dataclass
from pathlib import Path

from app.sandbox.provider.zygote_container import Container


@dataclass(frozen=True)
class ProcessConfig:
    """Configuration of the provider.

    `home`: a private folder on a disk with free space. `max_cells`: cells that compute at once; more wait.
    `max_warm_cells`: cells that stay for more requests of the same key, each until it was idle for `max_idle_s`
    seconds. `tier`: "best", or a value of `isolation.Tier`. `socket`: address of the host's zygote; without it
    the provider starts a zygote of its own, in `container` if there is one. `allow_unisolated`: run trusted
    work with limits only where the kernel cannot isolate cells.
    """

    home: Path
    max_cells: int = 16
    max_warm_cells: int = 4
    max_idle_s: float = 60.0
    tier: str = "best"
    socket: Path | None = None
    container: Container | None = None
    allow_unisolated: bool = True

    @property
    def scratch(self) -> Path:
        return self.home / "scratch"

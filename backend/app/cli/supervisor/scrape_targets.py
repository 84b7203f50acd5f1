"""Scrape targets of one machine's processes, as a file for Prometheus (`file_sd_configs`)."""

import json
import socket
from pathlib import Path

from app.settings import Settings


class Targets:
    """Holds the workers' listening sockets: a worker that is started again is found at the same port."""

    def __init__(self, settings: Settings) -> None:
        self._host, self._port = settings.metrics_host, settings.metrics_port
        self._addresses: dict[str, str] = {}
        self._sockets: list[socket.socket] = []

    def listen(self, part: str) -> socket.socket | None:
        """For the figures of this part, from METRICS_PORT up; None when nobody wants them. Raises Conflict."""
        if self._port is None:
            return None
        from app.observability.metrics.metrics_server import open_socket  # noqa: PLC0415 - with METRICS_PORT only

        # A port of 0 stays 0, by which each worker gets a free one.
        listening = open_socket(self._host, self._port and self._port + len(self._sockets))
        self._sockets.append(listening)
        host, port = listening.getsockname()[:2]
        self.add(part, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        return listening

    def add(self, part: str, address: str) -> None:
        self._addresses[part] = address

    def leave(self, path: Path) -> None:
        groups = [{"targets": [address], "labels": {"part": part}} for part, address in self._addresses.items()]
        path.write_text(json.dumps(groups, indent=2))

    def close(self) -> None:
        for listening in self._sockets:
            listening.close()

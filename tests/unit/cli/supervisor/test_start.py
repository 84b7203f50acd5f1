"""The start of the service: its stages are announced, and a port that is taken is told."""

import socket
from pathlib import Path

import pytest

from app.cli.supervisor.service import Service
from app.cli.supervisor.start_timing import StartTiming
from app.errors import Conflict
from app.settings import load_settings


def test_a_stage_is_announced_when_the_one_before_it_has_ended() -> None:
    announced: list[str] = []
    stages = StartTiming(announced.append)
    assert announced == []
    stages.end("servers launched", next_stage="Waiting for the servers.")
    stages.end("servers ready", waited=True)
    assert announced == ["Waiting for the servers."]
    assert "longest chain of work" in stages.describe()


def test_a_port_of_another_program_is_told_with_the_option_that_chooses_another(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = load_settings(
            _env_file=None, labcrew_home=tmp_path / "home", api_host="127.0.0.1", api_port=port
        )
        with pytest.raises(Conflict, match=rf"uses the port {port} of 127.0.0.1.*labcrew up --port {port + 1}"):
            Service(settings, lambda line: None).start()

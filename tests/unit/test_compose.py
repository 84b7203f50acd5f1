"""The compose file and the image: secrets, privileges, and the command that starts Redis."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from app.servers.folders import _valkey_program
from app.settings import load_settings

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
SECRETS = {"SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "METRICS_TOKEN"}
OURS = {"api", "worker-steps", "worker-compute", "migrate"}


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_has_capabilities_or_gains_privileges(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not service.keys() & {"cap_add", "privileged", "pid", "network_mode", "devices"}


@pytest.mark.parametrize(("name", "user"), [("postgres", "postgres"), ("redis", "redis")])
def test_servers_whose_images_begin_as_root_begin_as_their_user(name: str, user: str) -> None:
    assert SERVICES[name]["user"] == user


def test_the_commands_that_make_secrets_make_all_of_them() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    required = set(re.findall(r"\$\{(\w+):\?", text))
    assert required == SECRETS - {"METRICS_TOKEN"}, "without a token nobody sees figures, and all else works"
    for page in (text, (ROOT / "README.md").read_text()):
        (names,) = re.findall(r"for name in ([A-Z_ ]+);", page)
        assert set(names.split()) == SECRETS


@pytest.mark.parametrize("name", sorted(OURS))
def test_our_containers_are_production_with_every_secret(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {secret: secret[0].lower() * 64 for secret in SECRETS}
    for variable, text in SERVICES[name]["environment"].items():
        filled = re.sub(r"\$\{(\w+)(?::[-?]([^}]*))?\}", lambda m: values.get(m[1], ""), str(text))
        monkeypatch.setenv(variable, filled)
    settings = load_settings(_env_file=None)
    assert settings.production
    assert settings.redis_address == f"redis://:{values['REDIS_PASSWORD']}@redis:6379/0"
    assert settings.secret_key is not None
    assert settings.metrics_token is not None


def test_the_image_is_production() -> None:
    stages = (ROOT / "Dockerfile").read_text().split("\nFROM ")
    assert "LABCREW_ENV=production" in stages[-1]
    assert re.search(r"^USER labcrew$", stages[-1], re.MULTILINE)


PASSWORD = "p" * 64


@pytest.fixture
def started(tmp_path: Path) -> Iterator[int]:
    """The port of a server that the compose file's own command started, in a folder for its /tmp."""
    (tmp_path / "redis-server").symlink_to(_valkey_program())
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = int(free.getsockname()[1])
    shell, flag, script = SERVICES["redis"]["command"]
    script = script.replace("$$", "$").replace("/tmp/", f"{tmp_path}/")
    environment = {"PATH": f"{tmp_path}:{os.defpath}", "REDIS_PASSWORD": PASSWORD}
    command = [shell, flag, f"{script} --port {port} --bind 127.0.0.1"]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert any("Ready to accept connections" in line for line in server.stdout)
        yield port
        arguments = Path(f"/proc/{server.pid}/cmdline").read_bytes()
        server.terminate()
    assert PASSWORD.encode() not in arguments
    assert (tmp_path / "redis.conf").stat().st_mode & 0o077 == 0


def test_redis_asks_for_its_password(started: int) -> None:
    with redis.Redis(port=started) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()
    with redis.Redis(port=started, password=PASSWORD) as known:
        assert known.ping()
        assert known.config_get("maxmemory-policy") == {"maxmemory-policy": "volatile-lru"}

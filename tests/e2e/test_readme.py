"""The clients that the README shows run as they stand, but for address, key and time budget."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import Up
from tests.patience import HANG_GUARD_S

README = (Path(__file__).parents[2] / "README.md").read_text()
TABLE = "age,fare,survived\n" + "".join(
    f"{age},{(age * 7) % 50},{int((age * 7 + age * age * 13 % 60) % 80 > 40)}\n" for age in range(1, 200)
)
"""Survival goes with the fare and with what no column knows."""


SHORTER = {
    "sh": ('\\"never\\"}', '\\"never\\", \\"time_budget_s\\": 5}'),
    "python": ('"never"}', '"never", "time_budget_s": 5}'),
}
"""Text of a snippet -> the same with a budget of seconds: the default of a minute shows nothing more."""


def snippet(language: str) -> str:
    blocks = re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    return str(blocks[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "titanic.csv").write_text(TABLE)
    return tmp_path


def test_the_shell_client_runs_to_the_results(up: Up, folder: Path) -> None:
    script = snippet("sh").replace("http://127.0.0.1:8000", up.addresses.api).replace(*SHORTER["sh"])
    ran = subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, text=True, capture_output=True, timeout=HANG_GUARD_S, check=True
    )
    lines = ran.stdout.splitlines()
    assert any(line.startswith("data:") and "session_finished" in line for line in lines)
    assert json.loads(lines[-1])["result"]["headline"]


def test_the_python_client_survives_a_heartbeat(up: Up, folder: Path, labcrew, capsys, monkeypatch) -> None:
    email = "grace@example.com"
    assert (
        labcrew(up.home, "user", "add", email, "--password-stdin", stdin="correct horse battery\n").returncode
        == 0
    )
    key = labcrew(up.home, "key", "create", email).stdout.split()[-1]
    program, call = snippet("python").split("\n\nasyncio.run(")
    program = program.replace("http://127.0.0.1:8000", up.addresses.api)
    program = program.replace(*SHORTER["python"]).replace(
        "ws://127.0.0.1:8000", up.addresses.api.replace("http", "ws", 1)
    )
    assert call.startswith("main(")
    monkeypatch.chdir(folder)
    namespace: dict[str, object] = {}
    exec(program, namespace)
    namespace["websockets"] = _WithHeartbeat(namespace["websockets"])
    call = call.strip().removesuffix(")").replace('"lab_..."', repr(key))
    exec(f"asyncio.run({call})", namespace)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "..."
    assert "session_finished" in printed
    assert "headline" in printed[-1]


class _WithHeartbeat:
    """The module `websockets`, whose sockets yield a heartbeat before anything else."""

    def __init__(self, module) -> None:
        self._module = module

    def connect(self, *arguments, **options):
        return _Connection(self._module.connect(*arguments, **options))


class _Connection:
    def __init__(self, connection) -> None:
        self._connection = connection

    async def __aenter__(self):
        return self._messages(await self._connection.__aenter__())

    async def __aexit__(self, *raised) -> None:
        await self._connection.__aexit__(*raised)

    async def _messages(self, socket):
        yield json.dumps({"type": "heartbeat"})
        async for message in socket:
            yield message

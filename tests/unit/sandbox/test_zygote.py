import json
import os
import socket
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from app.sandbox.exchange.contract import Limits
from app.sandbox.kernel.isolation import Tier
from app.sandbox.zygote import process as zygote
from app.sandbox.zygote.process import Zygote

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cells need Linux")


def test_a_cell_that_cannot_be_forked_leaves_no_filesystem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filesystems: list[int] = []

    def create(size_bytes: int, inodes: int) -> int:
        filesystems.append(os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY))
        return filesystems[-1]

    def refuse(own_pidfd: int) -> int:
        raise BlockingIOError("the host has no more processes")

    monkeypatch.setattr(zygote, "create_bounded_filesystem", create)
    monkeypatch.setattr(zygote, "fork_first_process", refuse)
    client, zygote_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = {"run": 1, "trusted": False, "first": True, "limits": asdict(Limits()), "output": str(tmp_path)}
    socket.send_fds(client, [json.dumps(request).encode()], [0, 1, 2])
    client.shutdown(socket.SHUT_WR)
    proc = os.open("/proc", os.O_RDONLY)
    Zygote(Tier.NAMESPACES, proc, tmp_path).serve(zygote_end, {}, None)
    os.close(proc)
    with client:
        answers = [json.loads(client.recv(4096)) for _ in range(2)]
    assert "no more processes" in answers[1]["reason"]
    assert len(filesystems) == 1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(filesystems[0])

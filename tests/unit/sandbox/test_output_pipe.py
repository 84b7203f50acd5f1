"""What a cell writes to a pipe is read while it computes, and the pipe ends with it, however it ends."""

import asyncio
from pathlib import Path

import pytest

from app.sandbox.outputs.pipe import stream_output


def write(path: Path, *pieces: bytes) -> None:
    for piece in pieces:
        with path.open("wb") as pipe:
            pipe.write(piece)


async def test_a_stream_larger_than_the_pipe_is_complete_before_the_value(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    sent = bytes(range(256)) * 20_000

    async def compute() -> int:
        await asyncio.to_thread(write, path, sent[:7], sent[7:])
        return 5

    async with stream_output(path, compute()) as flowing:
        assert await flowing.pipe.read() == sent
        assert await flowing.completion == 5


async def test_a_computation_that_never_writes_ends_the_pipe_too(tmp_path: Path) -> None:
    async def compute() -> None:
        await asyncio.sleep(0)
        raise KeyError("no file")

    async with stream_output(tmp_path / "pipe", compute()) as flowing:
        assert await flowing.pipe.read() == b""
        with pytest.raises(KeyError, match="no file"):
            await flowing.completion


async def test_leaving_the_block_early_cancels_the_computation(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def compute() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with stream_output(tmp_path / "pipe", compute()):
        await asyncio.sleep(0)
        assert not ended.is_set()
    assert ended.is_set()

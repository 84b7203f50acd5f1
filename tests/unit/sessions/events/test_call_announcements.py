"""Announcements of a running call: at once, and again until it has returned."""

import asyncio

from app.sessions.events.call_announcements import announced
from app.sessions.events.events import ToolCalled

CALL = ToolCalled(step=1, agent="assistant", tool="run_python", call="tool:1.0", arguments={}, attempt=1)


async def test_a_call_is_announced_until_it_has_returned() -> None:
    emitted: list[ToolCalled] = []
    third = asyncio.Event()

    def emit(call: ToolCalled) -> None:
        emitted.append(call)
        if len(emitted) == 3:
            third.set()

    async with announced(emit, CALL, repeat_s=0):
        assert emitted == [CALL]
        await third.wait()
    count = len(emitted)
    await asyncio.sleep(0)
    assert len(emitted) == count

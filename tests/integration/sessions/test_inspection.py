"""`celery inspect` beside running workers: it reads, and can stop nothing."""

import asyncio
from functools import partial
from typing import Any

from tests.integration.sessions.conftest import Lab
from tests.patience import hang_guard

from app.worker.celery_app import make_celery

TIMEOUT_S = 2.0
"""Seconds before it is asked again; an answer ends the wait, since `limit` counts answers."""


async def test_a_worker_tells_its_queues_and_jobs_and_takes_no_orders(lab: Lab, redis_url: str) -> None:
    lab.start_worker()
    app = make_celery(redis_url)

    async def ask(command: str, **arguments: Any) -> dict[str, Any]:
        """The one answer of the workers of this broker, asked again until they listen."""
        send = partial(app.control.broadcast, command, arguments, reply=True, timeout=TIMEOUT_S, limit=1)
        async with hang_guard():
            while not (answers := await asyncio.to_thread(send)):
                pass
        [(name, answer)] = answers[0].items()
        assert name.startswith("steps-compute-")
        return dict(answer) if isinstance(answer, dict) else {"value": answer}

    assert await ask("ping") == {"ok": "pong"}
    assert [queue["name"] for queue in (await ask("active_queues"))["value"]] == ["steps", "compute"]
    assert set((await ask("registered"))["value"]) == {"labcrew.advance", "labcrew.fit"}
    for order in ("shutdown", "pool_shrink", "cancel_consumer", "enable_events"):
        assert (await ask(order)).keys() == {"error"}
    session = await lab.create()
    assert (await lab.ended(session))["status"] == "completed"
    assert (await ask("stats"))["total"]["labcrew.advance"] >= 1

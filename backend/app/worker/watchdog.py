"""A Celery consumer that reads nothing and notices nothing, found and freed.

When Redis dies while messages are acknowledged, each failed acknowledgement keeps its prefetch credit. With all
credits gone the consumer waits for ever. No setting prevents it; giving the credits back does.
"""

import logging
import threading
import time
from typing import Any

from celery.worker import state

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.5
_STALLED_AFTER = 4


def stalled(can_consume: bool, reserved: int, active: int) -> bool:
    """Nothing is running and nothing may be fetched: nobody will ever give a credit back."""
    return not can_consume and not reserved and not active


def watch(consumer: Any) -> threading.Thread:
    """Watch a Celery consumer from a thread of its own, for as long as the process lives."""
    thread = threading.Thread(target=_watch_for_ever, args=(consumer,), name="labcrew-watchdog", daemon=True)
    thread.start()
    return thread


def _watch_for_ever(consumer: Any) -> None:
    seen = 0
    while True:
        time.sleep(_LOOK_EVERY_S)
        try:
            qos = consumer.task_consumer.channel.qos
            idle = stalled(qos.can_consume(), len(state.reserved_requests), len(state.active_requests))
        except AttributeError:  # between two connections there is no channel
            continue
        seen = seen + 1 if idle else 0
        if seen >= _STALLED_AFTER:
            log.warning("the Celery consumer had lost its %d credits: given back", len(qos._delivered))
            qos._delivered.clear()
            qos._dirty.clear()
            seen = 0

"""Held-out tasks, and those that slow peers run, chosen by hashes of their names."""

import hashlib
from collections.abc import Iterable

HELD_OUT_COUNT = 20
"""Tasks whose results stay unseen until the end: enough for a standard error of the mean near 0.02."""
PEER_TASK_COUNT = 12
"""Tasks on which AutoGluon and FLAML run: each takes its budget."""


def held_out_tasks(names: Iterable[str]) -> set[str]:
    return _first_by_hash("aside", names, HELD_OUT_COUNT)


def peer_tasks(names: Iterable[str]) -> set[str]:
    return _first_by_hash("peers", names, PEER_TASK_COUNT)


def order_by_hash(names: Iterable[str], purpose: str = "order") -> list[str]:
    """Names in an order that no property of a task decides."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{purpose}/{name}".encode()).hexdigest())


def _first_by_hash(purpose: str, names: Iterable[str], count: int) -> set[str]:
    return set(order_by_hash(names, purpose)[:count])

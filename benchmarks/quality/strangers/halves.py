"""The tasks that are kept aside until the end, and those that slow peers run, by hashes of their names."""

import hashlib
from collections.abc import Iterable

KEPT_ASIDE = 20
"""Tasks whose results nobody looks at before the end: enough for a standard error of the mean near 0.02."""
PEER_TASKS = 12
"""Tasks on which AutoGluon and FLAML run: each takes its budget."""


def kept_aside(names: Iterable[str]) -> set[str]:
    return _draw("aside", names, KEPT_ASIDE)


def peer_tasks(names: Iterable[str]) -> set[str]:
    return _draw("peers", names, PEER_TASKS)


def order_by_hash(names: Iterable[str], purpose: str = "order") -> list[str]:
    """Names in an order that no property of a task decides."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{purpose}/{name}".encode()).hexdigest())


def _draw(purpose: str, names: Iterable[str], count: int) -> set[str]:
    return set(order_by_hash(names, purpose)[:count])

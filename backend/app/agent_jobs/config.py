"""Settings of the queue of jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class QueueConfig:
    """`url`: None without a queue. `owners`: address of the account of each `workflow_owner`.

    Times in seconds.
    """

    url: str | None = None
    owners: Mapping[str, str] = field(default_factory=dict)
    listener_s: float = 10.0
    """Time after which a listener that shows no life counts as dead: its messages are queued again."""
    claim_s: float = 10.0
    """Time after which the claim of a worker on a job that it has to answer runs out."""
    answer_s: int = 86_400
    """Time that an answer stays in Redis; it stays a row for longer."""
    busy_pause_s: float = 0.02
    idle_pause_s: float = 1.0
    """Pauses between two looks at open jobs, while there are some and while there are none."""

"""How patient a session's machinery is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.errors import InvalidInput
from app.sessions.budget import Amounts, Resource, resolve_budget


@dataclass(frozen=True)
class SessionsConfig:
    """Times in seconds. Short ones recover sooner from a killed process and cost more statements."""

    lease_s: float = 6.0
    """A driver or fit that has not renewed for so long is taken for dead."""
    renew_s: float = 1.5
    slice_s: float = 1.0
    """A session that has run for so long goes to the end of the queue."""
    sweep_s: float = 1.0
    grace_s: float = 2.0
    """How long a queued wake-up may take before the sweeper sends it again."""
    drain_s: float = 10.0
    """How long a running step may go on after its worker was asked to stop."""
    time_limit_s: float = 3600.0
    """Of a whole session, without the time it waits for its user."""
    ending_s: float = 600.0
    """What a session may take to end after its budget of seconds is used up: a hundred times what it takes, so
    that it reports on a busy machine too."""
    default_budget: Mapping[str, float] = field(default_factory=dict)
    """Of each resource (`sessions.budget.Resource`), what a session gets that asks for none."""
    max_budget: Mapping[str, float] = field(default_factory=dict)
    unpriced_models: tuple[str, ...] = ()
    """Chat models without a price: a budget of money cannot be kept with them."""
    stranded_grace_s: float = 600.0
    """How long a session waits for a worker that runs its version of the graph, before it ends and says so."""
    max_crashes: int = 10
    """Leases that may run out at one place before the session is given up."""
    max_live_per_owner: int = 0
    """Sessions of one owner that have not ended, unless the owner has a quota of their own; 0 is no limit."""
    max_running: int = 0
    """Sessions that run at a time; more wait in line. 0 is no limit."""
    max_running_per_owner: int = 0
    """Of those, one owner's, unless the owner has a quota of their own; 0 is no limit."""

    @property
    def resource_limits(self) -> Amounts:
        """Of each resource, the most that a session may ever have; of seconds it is the time limit."""
        return {Resource.SECONDS: self.time_limit_s} | {Resource(k): v for k, v in self.max_budget.items()}

    def make_budget(self, asked: Mapping[str, float | None]) -> dict[str, float]:
        """The budget of a new session that asks for this; raises InvalidInput."""
        budget = resolve_budget(asked, self.default_budget, self.resource_limits)
        if Resource.COST in budget and self.unpriced_models:
            raise InvalidInput(
                "no_price",
                "A budget of money needs prices, and LLM_PRICES has none for "
                f"{', '.join(self.unpriced_models)}.",
                field="preferences.budget.cost_usd",
            )
        return budget

"""Settings of the machinery that drives sessions: times and limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.errors import InvalidInput
from app.sessions.budget_resources import Amounts, Resource, resolve_budget


@dataclass(frozen=True)
class SessionsConfig:
    """Times in seconds. Shorter ones recover sooner from a killed process and cost more statements."""

    lease_s: float = 6.0
    """Duration of a lease of a driver or fit that is not renewed."""
    renew_s: float = 1.5
    """Interval of renewals: a quarter of the lease, so that a late one does not lose it."""
    slice_s: float = 1.0
    """Time after which a running session goes to the end of the queue, so that short ones wait less."""
    sweep_s: float = 1.0
    """Longest interval between two passes of one sweeper."""
    grace_s: float = 2.0
    """Age at which the sweeper sends a queued job again."""
    drain_s: float = 10.0
    """Time that a running step may take after its worker was asked to stop."""
    time_limit_s: float = 3600.0
    """Time limit of a session, without the time that it waits for its user."""
    ending_s: float = 600.0
    """Time for ending after the budget of seconds is used up: a hundred times what it takes on an idle machine,
    so that a session reports on a busy one too."""
    default_budget: Mapping[str, float] = field(default_factory=dict)
    """Default limits of a session by resource (`sessions.budget_resources.Resource`)."""
    max_budget: Mapping[str, float] = field(default_factory=dict)
    """Upper bounds of the limits that a user may request, by resource."""
    unpriced_models: tuple[str, ...] = ()
    """Chat models without a price, with which a budget of money cannot be enforced."""
    stranded_grace_s: float = 600.0
    """Time that a session waits for a worker with its version of the graph before it fails."""
    max_crashes: int = 10
    """Leases that may expire at one step or fit before it fails: a crash so often is not one of the host."""
    max_live_per_owner: int = 0
    """Live sessions of an owner without a quota of their own; 0 is no limit."""
    max_running: int = 0
    """Sessions that run at the same time; more wait in the admission queue. 0 is no limit."""
    max_running_per_owner: int = 0
    """Running sessions of an owner without a quota of their own; 0 is no limit."""
    max_running_turns_per_owner: int = 0
    """Running turns of conversations of an owner without a quota of their own; 0 is no limit."""

    @property
    def resource_limits(self) -> Amounts:
        """Upper bound of each resource. That of seconds is at most the time limit."""
        bounds = {Resource(name): amount for name, amount in self.max_budget.items()}
        # Above it a budget would move the deadline of its session past the time limit.
        seconds = min(self.time_limit_s, bounds.get(Resource.SECONDS, self.time_limit_s))
        return {**bounds, Resource.SECONDS: seconds}

    def make_budget(self, requested: Mapping[str, float | None]) -> dict[str, float]:
        """Return the budget of a new session. Raises InvalidInput."""
        budget = resolve_budget(requested, self.default_budget, self.resource_limits)
        if Resource.COST in budget and self.unpriced_models:
            raise InvalidInput(
                "no_price",
                "A budget of money needs prices, and LLM_PRICES has none for "
                f"{', '.join(self.unpriced_models)}.",
                field="preferences.budget.cost_usd",
            )
        return budget

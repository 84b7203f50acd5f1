"""Quotas of a user: rates and maximum amounts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MIB = 1 << 20
_UNITS = ("second", "minute", "hour", "day", "month", "year")


def _check_rate(text: str) -> str:
    """Check `600/minute`, or `0` for none; a single window, so that the response headers can state it."""
    if text in ("", "0"):
        return ""
    # Every command checks the settings, also their defaults: the library would be a tenth of its imports.
    if _is_plain_rate(text):
        return text
    import limits  # noqa: PLC0415

    if len(limits.parse_many(text)) != 1:
        raise ValueError("it must be one rate, such as 600/minute, or 0 for none")
    return text


def _is_plain_rate(text: str) -> bool:
    """Check for the usual notation, `600/minute`; the library `limits` reads others: `600 per 5 minutes`."""
    amount, _, unit = text.partition("/")
    return amount.isascii() and amount.isdigit() and unit in _UNITS


Rate = Annotated[str, Field(max_length=40), AfterValidator(_check_rate)]
Amount = Annotated[int, Field(ge=0, le=2**31 - 1)]


@dataclass(frozen=True)
class Quotas:
    """Quotas. Rates are in the notation of `limits` (`600/minute`), empty for none; 0 is no limit."""

    requests: str = ""
    views: str = ""
    """Reads of rows and figures of tables, which do not count as requests: scrolling is ten a second."""
    uploads: str = ""
    compute: str = ""
    """CPU seconds of computations in a window: `36000/day`."""
    sessions: int = 0
    """Sessions that have not ended, including waiting ones, and as many runs."""
    running_sessions: int = 0
    running_turns: int = 0
    """Turns of conversations that run; one that waits for its user does not."""
    sockets: int = 0
    """Sockets and event streams."""
    stored_mb: int = 0
    """Datasets and artifacts."""

    def with_overrides(self, changes: Mapping[str, Any]) -> "Quotas":
        """Return quotas with a user's own values; unknown names, of another version, are ignored."""
        overrides = {name: value for name, value in changes.items() if name in _NAMES and value is not None}
        return replace(self, **overrides) if overrides else self


NO_QUOTAS = Quotas()
_NAMES = frozenset(Quotas.__dataclass_fields__)


class QuotaUpdate(BaseModel):
    """A user's own quotas; what is null is as the settings say, 0 or "" is no limit."""

    model_config = ConfigDict(extra="forbid")

    requests: Rate | None = Field(default=None, examples=["600/minute"])
    views: Rate | None = Field(
        default=None, description="Reads of rows and figures of tables.", examples=["6000/minute"]
    )
    uploads: Rate | None = Field(default=None, examples=["60/hour"])
    compute: Rate | None = Field(
        default=None, description="CPU seconds of computations in a window.", examples=["36000/day"]
    )
    sessions: Amount | None = Field(default=None, description="Sessions that have not ended, and as many runs.")
    running_sessions: Amount | None = Field(default=None, description="Those that run; more wait in a queue.")
    running_turns: Amount | None = Field(
        default=None, description="Turns of conversations that run; more wait in a queue."
    )
    sockets: Amount | None = Field(default=None, description="Open sockets and event streams.")
    stored_mb: Amount | None = Field(default=None, description="Datasets and artifacts, in MiB.")

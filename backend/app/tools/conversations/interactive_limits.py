"""Limits of work that a person waits for."""

from app.sandbox.exchange.contract import Limits

INTERACTIVE_LIMITS = Limits(profile="interactive")
"""Limits of one execution in a conversation, which settings give: a person waits for it."""
SERVICE_LIMITS = Limits(time_s=30.0)
"""Limits of the service's own work for an answer, such as an Excel file of all rows: the memory of a study."""

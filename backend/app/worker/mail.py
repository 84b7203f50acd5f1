"""E-mails of workflows: from the service's address, to recipients of their owner."""

from uuid import UUID

from app.auth.rate_limits import RateLimiter, RateMeter, make_refusal
from app.resources import Resources
from app.workflows.document_check import make_no_mail_error, read_address
from app.workflows.requests.mail import Mail, send_mail

MAX_MAILS = "100/hour"
"""E-mails of an owner: a schedule of every minute with one message each, and some more."""


async def send_owner_mail(
    resources: Resources, owner: UUID, to: str | None, subject: str, text: str, key: str
) -> None:
    """Send an e-mail of a workflow once; to None it goes to its owner.

    Raises InvalidInput without a mail server, Forbidden for a recipient that is not allowed, TooMany above the
    rate, PassingFailure if the server does not take it now, Unavailable.
    """
    config = resources.settings.mail
    if config is None:
        raise make_no_mail_error()
    own_address = await read_address(resources.open_uow, owner)
    recipient = config.check_recipient(own_address if to is None else to, own_address)
    usages = await RateLimiter(resources.redis).take([RateMeter("mails", str(owner), MAX_MAILS)])
    refusal = make_refusal(usages)
    if refusal is not None:
        raise refusal
    await send_mail(config, Mail(recipient, subject, text, key))

"""The SMTP server of workflows' e-mails, and the addresses that they may go to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.errors import Forbidden, InvalidInput


@dataclass(frozen=True)
class MailConfig:
    """`url`: `smtp://[user:password@]host[:port]`, or `smtps://` with TLS from the start.

    `recipients`: addresses, and `@domain` for all of a domain; an owner's own address needs none.
    """

    url: str = field(repr=False)
    sender: str
    recipients: Sequence[str] = ()

    def check_recipient(self, address: str, own_address: str) -> str:
        """Return the address in lower case. Raises InvalidInput, and Forbidden if it is not allowed."""
        checked = check_address(address).lower()
        domain = checked.rpartition("@")[2]
        if checked != own_address and checked not in self.recipients and f"@{domain}" not in self.recipients:
            raise Forbidden(
                "recipient_not_allowed",
                "E-mails of workflows go to your own address, and to those that an operator allows by "
                "MAIL_RECIPIENTS.",
            )
        return checked


def check_address(address: str) -> str:
    """Return an e-mail address as it is written usually. Raises InvalidInput."""
    # Its patterns take 40 ms, and settings are read at the start of every command.
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415

    try:
        return validate_email(address, check_deliverability=False).normalized
    except EmailNotValidError as error:
        raise InvalidInput("recipient_invalid", "The recipient of an e-mail is no address.") from error

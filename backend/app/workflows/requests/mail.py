"""Messages by e-mail, sent by the SMTP server of the settings."""

import asyncio
import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import unquote, urlsplit

from app.errors import InvalidInput, Unavailable
from app.workflows.requests.mail_config import MailConfig
from app.workflows.requests.passing import PassingFailure

MAX_SUBJECT_CHARS = 200
"""Characters of a subject: programs of mail show about a third of it."""
_TIMEOUT_S = 30.0
"""Seconds for each answer of the server."""
_PORTS = {"smtp": 25, "smtps": 465}


@dataclass(frozen=True)
class Mail:
    """`key` makes the Message-ID: a message that is sent again has the same one."""

    to: str
    subject: str
    text: str
    key: str

    def to_message(self, sender: str) -> EmailMessage:
        """Return the message. Line breaks and other control characters leave the subject."""
        message = EmailMessage(policy=SMTP)
        message["From"], message["To"] = sender, self.to
        message["Subject"] = _one_line(self.subject)[:MAX_SUBJECT_CHARS]
        message["Message-ID"] = f"<{_one_line(self.key)}@{sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(self.text)
        return message


async def send_mail(config: MailConfig, mail: Mail) -> None:
    """Send a message once.

    Raises PassingFailure if the server does not take it now, so that it was not sent, Unavailable if the server
    does not answer, InvalidInput if it never takes the message.
    """
    await _send(config, mail.to, mail.to_message(config.sender))


async def _send(config: MailConfig, recipient: str, message: EmailMessage) -> None:
    try:
        await asyncio.to_thread(_deliver, config, recipient, message)
    except smtplib.SMTPRecipientsRefused as error:
        raise _make_refusal(max(code for code, _ in error.recipients.values())) from None
    except smtplib.SMTPResponseException as error:
        raise _make_refusal(error.smtp_code) from None
    except (smtplib.SMTPException, OSError) as error:
        # Without the text of the error: it may hold the login.
        detail = f"The mail server of this service does not answer: {type(error).__name__}."
        raise Unavailable("request_failed", detail) from None


def _deliver(config: MailConfig, recipient: str, message: EmailMessage) -> None:
    url = urlsplit(config.url)
    host, port = url.hostname or "", url.port or _PORTS[url.scheme]
    context = ssl.create_default_context()
    if url.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_TIMEOUT_S, context=context)
    else:
        server = smtplib.SMTP(host, port, timeout=_TIMEOUT_S)
    # Not `with server`, which raises for an odd answer to QUIT: the message was taken before it.
    try:
        if url.scheme == "smtp" and ((server.ehlo() and server.has_extn("starttls")) or url.username):
            # A login never goes out in the clear: without STARTTLS this raises.
            server.starttls(context=context)
        if url.username:
            server.login(unquote(url.username), unquote(url.password or ""))
        # To this recipient alone: without it smtplib takes all that the headers name.
        server.send_message(message, config.sender, [recipient])
        with suppress(smtplib.SMTPException, OSError):
            server.quit()
    finally:
        server.close()


def _make_refusal(code: int) -> Unavailable | InvalidInput:
    if code < 500:
        return PassingFailure("request_failed", f"The mail server does not take the message now ({code}).")
    return InvalidInput("mail_refused", f"The mail server refuses the message ({code}).")


def _one_line(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())

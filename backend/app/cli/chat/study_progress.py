"""A study of a conversation in the terminal: its progress until it ends, or asks."""

from rich.console import Console

from app.cli.api_client.client import LabClient
from app.cli.api_client.received_events import QuestionEvent
from app.cli.terminal.sanitize import plain


def follow_study(client: LabClient, study: str, console: Console) -> None:
    """Show what a study says until it has ended or asks; the next message answers it."""
    session = client.session(study)
    if session.ended:
        return
    for event in client.events(study):
        if isinstance(event, QuestionEvent) and _is_open(client, study, event):
            console.print(f"[yellow]{plain(event.text)}[/]")
            for number, option in enumerate(event.options, 1):
                console.print(f"  {number}. {plain(str(option))}")
            return
    session = client.session(study)
    if session.error is not None:
        console.print(f"[red]{plain(session.error.detail)}[/]")
    elif session.result is not None:
        console.print(plain(session.result.headline or "The study has ended."))


def _is_open(client: LabClient, study: str, event: QuestionEvent) -> bool:
    """Test if a question waits still: the events of a study begin with those that were answered."""
    question = client.session(study).question
    return question is not None and question.key == event.question

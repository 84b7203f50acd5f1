"""A proposed change of a workflow, or the question that has to be answered first."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.workflows.document import Node, WorkflowDocument


@dataclass(frozen=True)
class ChangedDocument:
    """A workflow as it would be, and a sentence that says what changed."""

    document: WorkflowDocument
    summary: str


@dataclass(frozen=True)
class ChangeQuestion:
    """A question whose answer is needed first. `options`: answers to choose from."""

    text: str
    options: tuple[str, ...] = ()


Change = ChangedDocument | ChangeQuestion


def ask_about_unread(parts: Sequence[str]) -> ChangeQuestion:
    """Make the question about words that are not understood. `parts`: at least one."""
    quotes = " and ".join(repr(part) for part in parts)
    verb = "are" if len(parts) > 1 else "is"
    return ChangeQuestion(f"{quotes} {verb} not understood, so nothing was changed. Say it in other words.")


def choose_node(nodes: Sequence[Node], words: str, document: WorkflowDocument) -> Node | ChangeQuestion:
    """Return the only node, or ask which one is meant."""
    if len(nodes) == 1:
        return nodes[0]
    if not nodes:
        ids = tuple(node.id for node in document.nodes)
        return ChangeQuestion(f"No step of this workflow is meant by {words.strip()!r}. Which one is it?", ids)
    return ChangeQuestion(
        f"{words.strip()!r} may be one of {len(nodes)} steps. Which one is it?", tuple(n.id for n in nodes)
    )

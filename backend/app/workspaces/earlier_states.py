"""Earlier states of the tables of a conversation, which `undo` goes back to. Pure."""

from collections.abc import Iterable, Mapping

from app.workspaces.snapshot import Entry

State = Mapping[str, Entry]
"""Tables and views by name."""


def find_earlier_state(states: Iterable[State], changes: int | None) -> State | None:
    """Find the tables before the last `changes` changes, None for all; None where there were fewer.

    `states`: those after each turn, the oldest first. A state that equals the one before the last change took
    that change back: so `undo` twice goes back two changes, and not there and back again.
    """
    stack: list[State] = [{}]
    for state in states:
        if len(stack) > 1 and state == stack[-2]:
            stack.pop()
        elif state != stack[-1]:
            stack.append(state)
    if changes is None:
        return {} if len(stack) > 1 else None
    return stack[-1 - changes] if changes < len(stack) else None

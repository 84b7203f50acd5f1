"""Exceptions by who can act on them.

LabError               the caller can act; `code` is stable and part of the API
  NotFound             the object does not exist, or belongs to another user
  Conflict             the object is in a state that does not allow the operation
  InvalidInput         the input is wrong; the message says where
  Unauthorized         the caller is unknown
  Forbidden            the caller is known, and not allowed
  TooLarge             over a stated limit
  TooMany              over a rate or a quota
  Unavailable          a required server or kernel feature is missing now
ToolRefused            the agent can act: returned to it as a message, so that it corrects its call

No caller can act on any other exception: it rises to an edge, is logged and becomes a 500 or a failed session.
"""

import errno
from collections.abc import Mapping, Sequence
from typing import ClassVar


class LabError(Exception):
    """A refusal in one readable sentence.

    `code` is stable (snake_case, part of the API); `detail` says what is wrong and what to do;
    `facts` are JSON values for programs (the field, the limit, the nearest names).
    """

    kind: ClassVar[str] = "invalid"

    def __init__(self, code: str, detail: str, **facts: object) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.facts: Mapping[str, object] = facts


class NotFound(LabError):
    kind = "not_found"


class Conflict(LabError):
    kind = "conflict"


class InvalidInput(LabError):
    kind = "invalid"


class Unauthorized(LabError):
    kind = "unauthorized"


class Forbidden(LabError):
    kind = "forbidden"


class TooLarge(LabError):
    kind = "too_large"


class TooMany(LabError):
    kind = "too_many"


class Unavailable(LabError):
    kind = "unavailable"


def is_disk_full(error: BaseException) -> bool:
    """Return True for a write without space: on the disk, in a quota, or under a limit of this process."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ToolRefused(Exception):
    """An agent's tool call that is refused; the text goes back to the agent.

    `kind`: one of `tools.tool_errors.ToolErrorType`. `field`: the argument at fault; `nearest`: valid names.
    `action`: the call in words, of one that its user rejected.
    """

    def __init__(
        self,
        text: str,
        *,
        kind: str = "failed",
        field: str | None = None,
        nearest: Sequence[str] = (),
        action: str | None = None,
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.field = field
        self.nearest = tuple(nearest)
        self.action = action

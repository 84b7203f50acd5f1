"""Authors of versions: how an owner made them."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

AuthorKind = Literal["person", "api_key", "conversation", "job"]


@dataclass(frozen=True)
class Author:
    """`reference`: the API key, or the session of the conversation's turn or of the job."""

    kind: AuthorKind
    reference: UUID | None = None

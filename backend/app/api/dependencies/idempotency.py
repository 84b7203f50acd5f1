"""The header that makes a repeated request harmless."""

from typing import Annotated

from fastapi import Header

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="A repeated request with the same key creates nothing and returns the first result.",
        examples=["b1946ac9-titanic-1"],
    ),
]

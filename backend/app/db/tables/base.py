"""Base class, column types and conventions of all tables.

Times are aware UTC, sizes bytes, ids random UUIDs. Digests are lower-case hexadecimal SHA-256.
"""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import DateTime, Double, MetaData, Text, func
from sqlalchemy.dialects.postgresql import ARRAY, JSON, JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUUID
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Json = dict[str, Any]

# Plain JSON keeps the text as written: jsonb reorders keys and turns 1e16 into an integer, so that a replay
# would differ from the live run.
VERBATIM = JSON


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - read by SQLAlchemy, never written
        str: Text,
        UUID: PgUUID(as_uuid=True),
        datetime: DateTime(timezone=True),
        Json: JSONB,
        list[Any]: JSONB,
        list[UUID]: ARRAY(PgUUID(as_uuid=True)),
        list[str]: ARRAY(Text),
        float: Double,
    }


def new_id() -> Mapped[UUID]:
    return mapped_column(primary_key=True, default=uuid4)


def now() -> Mapped[datetime]:
    return mapped_column(server_default=func.now())

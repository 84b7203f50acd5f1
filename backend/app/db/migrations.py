"""Bring a database to this code's schema."""

from pathlib import Path

from alembic.config import Config

from alembic import command

_FOLDER = Path(__file__).parents[2] / "alembic"


def config(database_url: str) -> Config:
    """Alembic's settings, made here so that no file holds an address."""
    settings = Config()
    settings.set_main_option("script_location", str(_FOLDER))
    settings.set_main_option("path_separator", "os")
    settings.set_main_option("sqlalchemy.url", database_url.replace("%", "%%"))
    return settings


def upgrade(database_url: str, revision: str = "head") -> None:
    """Runs its own event loop: call it from a thread where one is running."""
    command.upgrade(config(database_url), revision)


def downgrade(database_url: str, revision: str = "base") -> None:
    command.downgrade(config(database_url), revision)

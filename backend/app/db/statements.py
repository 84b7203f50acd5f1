"""Named SQL statements in `.sql` files beside the modules that run them."""

import re
from importlib.resources import files

_NAME = re.compile(r"^-- name: ([a-z_]+)\n", re.MULTILINE)


class Statements:
    """The statements of one file as attributes: `-- name: claim` begins `statements.claim`.

    Comment lines stay in the text that is sent to Postgres, so that they appear in its logs.
    """

    def __init__(self, text: str) -> None:
        """Raises ValueError for a file that names a statement twice, or none."""
        _, *parts = _NAME.split(text)
        names, bodies = parts[::2], parts[1::2]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"every statement needs a name of its own: {', '.join(names) or 'no name found'}")
        self._texts = {name: body.strip() for name, body in zip(names, bodies, strict=True)}

    def __getattr__(self, name: str) -> str:
        """Return a statement. Raises AttributeError for a name that the file does not have."""
        try:
            return self._texts[name]
        except KeyError:
            raise AttributeError(f"no statement is named {name!r}") from None

    def __dir__(self) -> list[str]:
        return sorted(self._texts)


def load(package: str, name: str) -> Statements:
    """Load the statements of `sql/<name>.sql` in a package."""
    return Statements((files(package) / "sql" / f"{name}.sql").read_text())

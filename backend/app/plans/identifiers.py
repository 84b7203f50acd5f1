"""Names as SQL identifiers, for statements that are written as text."""


def quote_identifier(name: str) -> str:
    """Quote a name as an SQL identifier: any text is a name then, and none ends the quotes."""
    return '"' + name.replace('"', '""') + '"'

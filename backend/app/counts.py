"""Numbers of things as messages say them."""


def describe_count(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 row`, `1,313 rows`. `plural`: where it is not the noun with an `s`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def describe_size(rows: int, columns: int) -> str:
    """Return the size of a table: `1,313 rows, 12 columns`."""
    return f"{describe_count(rows, 'row')}, {describe_count(columns, 'column')}"

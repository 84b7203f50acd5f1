"""The reason why a value is not kept for later programs."""


class NotKept(Exception):
    """A value that no later program can have. Its text is a noun phrase: `a generator`."""


_NOUNS = {
    "function": "a function that no statement of its own defines",
    "generator": "a generator",
    "module": "a module",
    "type": "a class that no statement of its own defines",
    "TextIOWrapper": "an open file",
    "BufferedReader": "an open file",
    "BufferedWriter": "an open file",
}


def describe_kind(value: object) -> str:
    kind = type(value)
    if kind.__name__ in _NOUNS:
        return _NOUNS[kind.__name__]
    if kind.__module__ == "__main__":
        return f"an instance of the program's own class {kind.__name__}"
    return f"an object of the class {kind.__name__}"

"""Exception of a user's program; apart from what runs programs, which loads the drawing libraries."""


class ProgramRaised(Exception):
    """An exception of the program. `kind`: its type; the text names the line."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind

"""The argument of every command that takes an existing session.

A module of its own, so that the commands can load what carries them out late without a circle.
"""

from typing import Annotated

import typer

Session = Annotated[
    str, typer.Argument(metavar="SESSION", help="A session's id, the beginning of one, or `last`.")
]

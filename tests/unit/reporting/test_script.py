"""A notebook as a script: prose stays prose, whatever line ends it holds."""

import ast

import pytest

from app.reporting.script import notebook_to_script


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_prose_never_becomes_code(end: str) -> None:
    made = notebook_to_script({"cells": [{"cell_type": "markdown", "source": f"# Title{end}import os"}]})

    assert ast.parse(made).body == []
    assert "import os" in made


def test_code_stays_as_it_is_in_its_order() -> None:
    cells = [
        {"cell_type": "code", "source": ["a = 1\n", "b = 2"]},
        {"cell_type": "markdown", "source": "Then:"},
        {"cell_type": "code", "source": "c = a + b"},
    ]

    assert notebook_to_script({"cells": cells}) == "a = 1\nb = 2\n\n# Then:\n\nc = a + b\n"

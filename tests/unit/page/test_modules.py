"""Tests of the page's stores and components, in Node: each file beside this one that ends with `.test.mjs`."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.chromium import NODE, ROOT
from tests.patience import HANG_GUARD_S

FOLDER = Path(__file__).parent
COMPILER = ROOT / "frontend" / "node_modules" / "svelte"


@pytest.mark.skipif(not (NODE.exists() and COMPILER.exists()), reason="the page's packages are not installed")
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.test.mjs")), ids=lambda path: path.name)
def test_module_of_the_page(path: Path) -> None:
    command = [NODE, "--import", FOLDER / "hooks.mjs", "--test", path]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=HANG_GUARD_S)
    assert done.returncode == 0, done.stdout + done.stderr

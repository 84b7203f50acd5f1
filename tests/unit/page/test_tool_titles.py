"""Words of the page for the tools of the crew."""

import importlib
import pkgutil
import re

from tests.chromium import ROOT

import app.tools
from app.tools.registry import REGISTRY

SOURCE = ROOT / "frontend" / "src" / "lib" / "evidence" / "tool_titles.ts"
ENTRY = re.compile(r"^\t(\w+): '", re.MULTILINE)


def test_every_tool_has_a_title_in_the_page_and_every_title_a_tool() -> None:
    for module in pkgutil.walk_packages(app.tools.__path__, "app.tools."):
        importlib.import_module(module.name)
    assert set(ENTRY.findall(SOURCE.read_text())) == {spec.name for spec in REGISTRY.values()}

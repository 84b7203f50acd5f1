"""The example table that Labcrew ships, for those who have none at hand."""

from importlib.util import find_spec
from pathlib import Path

from app.errors import NotFound

EXAMPLE_NAME = "titanic"


def find_example() -> Path:
    """Return the file of 1,313 passengers, as the package `bokeh_sampledata` ships them. Raises NotFound."""
    spec = find_spec("bokeh_sampledata")
    if spec is None or not spec.submodule_search_locations:
        raise NotFound(
            "example_not_found", "The package bokeh_sampledata, which has the example table, is not installed."
        )
    return Path(spec.submodule_search_locations[0]) / "_data" / "titanic_all.csv"

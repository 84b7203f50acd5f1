"""Check the types of the web page against the API's own OpenAPI document."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from build_page import NODE, SOURCE

from app.main import create_app
from app.settings import load_settings

PACKAGES = SOURCE / "node_modules"
FLAGS = ("--alphabetize", "--default-non-nullable=false")
"""A field of a request that has a default may be left out; those of answers are required in the document."""
SCHEMA = SOURCE / "src" / "lib" / "api" / "schema.d.ts"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        document.write_text(json.dumps(create_app(load_settings(_env_file=None)).openapi()))
        commands = (
            (PACKAGES / "openapi-typescript" / "bin" / "cli.js", document, "--output", SCHEMA, *FLAGS),
            (PACKAGES / "@sveltejs" / "kit" / "svelte-kit.js", "sync"),
            (PACKAGES / "svelte-check" / "bin" / "svelte-check", "--fail-on-warnings"),
        )
        return next((code for command in commands if (code := run_node(*command))), 0)


def run_node(*command: Path | str) -> int:
    """Run a program of the page's packages; what it says is shown only if it fails."""
    environment = {**os.environ, "NO_COLOR": "1", "PATH": f"{NODE.parent}:{os.environ.get('PATH', '')}"}
    done = subprocess.run(  # noqa: S603 - commands of this file
        [str(part) for part in (NODE, *command)], cwd=SOURCE, env=environment, text=True, capture_output=True
    )
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

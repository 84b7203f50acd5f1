"""A browser, a running service, and visitors who watch that the page keeps its own rules."""

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.chromium import PACKAGE, find_chromium, missing_reason
from tests.patience import HANG_GUARD_S, ended

OWN_PAGE = {"X-Labcrew": "1"}
PASSWORD = "correct horse battery"
AXE = PACKAGE.parents[1] / "axe-core" / "axe.min.js"
DESKTOP = (1280, 800)
PHONE = (360, 740)
"""Logical pixels."""

PAGE_GUARD_S = 300.0
"""Seconds that one claim about a page may take to come true. The longest takes 20 s on two quiet processors; a
page that waits for nothing would otherwise cost the suite a quarter of an hour at each claim."""

expect.set_options(timeout=PAGE_GUARD_S * 1000)


@pytest.fixture(scope="package")
def studio(start_up: Callable[..., Any]) -> Iterator[Any]:
    """A running service with the page; started once for all tests of this folder."""
    # A turn that is to go on until a test stops it does so on a slow machine, too.
    with running_studio(start_up, INTERACTIVE_MAX_EXECUTION_TIME="900") as up:
        yield up


@contextmanager
def running_studio(start_up: Callable[..., Any], **settings: str) -> Iterator[Any]:
    """Run a service with the page and these settings."""
    if reason := missing_reason():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="labcrew-page-") as folder:
        up = start_up(Path(folder) / "home", **settings)
        yield up
        if up.process.poll() is None:
            up.process.terminate()
        ended(up.process)


# Not for the session: where Playwright's loop runs, tests of asyncio in the same process could not run theirs.
@pytest.fixture(scope="module")
def browser(studio: Any) -> Iterator[Browser]:
    chromium = find_chromium()
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium.program, env=dict(chromium.environment), args=list(chromium.switches)
        )
        yield launched
        launched.close()


class Visit:
    """A page in a browser of its own, and everything that it does against the rules of the service."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self.address = address
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PAGE_GUARD_S * 1000)
        self.account = ""
        self.faults: list[str] = []
        self.ignored: list[str] = []
        """Parts of faults that a test causes itself, such as a refused request."""
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("console", self._on_console)
        context.on("request", self._on_request)

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text} ({message.location.get('url')})")

    def _on_request(self, request: Any) -> None:
        if not request.url.startswith((f"{self.address}/", "blob:", "data:")):
            self.faults.append(f"request to elsewhere: {request.url}")

    def open(self, path: str) -> None:
        self.page.goto(f"{self.address}{path}")

    def sign_in(self, account: str | None = None) -> None:
        """Sign an account in, as the page's form does; a new one where none is named."""
        self.account = account or f"page{random.randrange(10**9)}@example.com"
        login = {"email": self.account, "password": PASSWORD}
        api = f"{self.address}/api/v1"
        if account is None:
            httpx.post(f"{api}/auth/register", json=login, timeout=HANG_GUARD_S).raise_for_status()
        done = self.context.request.post(f"{api}/auth/session", data=login, headers=OWN_PAGE)
        assert done.ok, done.text()

    def call(self, method: str, path: str, **request: Any) -> Any:
        """Send a request of this visitor's to the API and return what it answers; None for an empty answer."""
        address = f"{self.address}/api/v1{path}"
        response = self.context.request.fetch(address, method=method, headers=OWN_PAGE, **request)
        assert response.ok, response.text()
        return response.json() if response.body() else None

    def check_access(self) -> None:
        """Check by axe that everybody can use what is visible once all that appears has appeared."""
        # The frame and skeletons fade in. Looked at on the way, their words have too little contrast.
        self.page.evaluate(_ANIMATIONS_ENDED)
        self.page.evaluate(AXE.read_text())
        report = self.page.evaluate("axe.run({ resultTypes: ['violations'] })")
        assert [_violation(visit) for visit in report["violations"]] == []

    def check_width(self) -> None:
        """Check that the page itself does not scroll sideways."""
        width = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert width[0] <= width[1], (
            f"{self.page.url} is {width[0]} wide in a window of {width[1]}: {self.page.evaluate(_WIDE_PARTS)}"
        )

    def check_rules(self) -> None:
        """Check that nothing broke the policy, failed in the console or left for another site."""
        broken = [fault for fault in self.faults if not any(part in fault for part in self.ignored)]
        assert broken == []


_ANIMATIONS_ENDED = """async () => {
    const hasEnd = (animation) => Number.isFinite(animation.effect.getComputedTiming().endTime);
    const running = () => document.getAnimations().filter((it) => it.playState === "running" && hasEnd(it));
    while (running().length) await Promise.allSettled(running().map((it) => it.finished));
}"""
"""Waits for the end of each animation that has one. It is over where its element is taken away."""

_WIDE_PARTS = """[...document.querySelectorAll("body *")]
    .filter(part => part.getBoundingClientRect().right > innerWidth && !part.closest(".scroll"))
    .map(part => part.outerHTML.slice(0, 120))"""
"""The parts of a page that reach beyond its window, but for those that scroll."""


def _violation(violation: dict[str, Any]) -> str:
    return f"{violation['id']}: {violation['nodes'][0]['html']} ({len(violation['nodes'])})"


Theme = Literal["light", "dark"]


@pytest.fixture
def visit(browser: Browser, studio: Any) -> Iterator[Callable[..., Visit]]:
    """Open a browser window of its own, signed in as a new account where not told otherwise."""
    visits: list[Visit] = []

    @contextmanager
    def _context(size: tuple[int, int], theme: Theme) -> Iterator[BrowserContext]:
        viewport = {"width": size[0], "height": size[1]}
        context = browser.new_context(
            viewport=viewport, color_scheme=theme, reduced_motion="reduce", locale="en-GB", timezone_id="UTC"
        )
        yield context
        context.close()

    with ExitStack() as stack:

        def open_visit(
            size: tuple[int, int] = DESKTOP,
            theme: Theme = "light",
            signed_in: bool = True,
            account: str | None = None,
        ) -> Visit:
            visits.append(Visit(stack.enter_context(_context(size, theme)), studio.addresses.api))
            if signed_in:
                visits[-1].sign_in(account)
            return visits[-1]

        yield open_visit
        for visit in visits:
            visit.check_rules()


@pytest.fixture(scope="session")
def titanic() -> Path:
    """1,313 passengers, as the package `bokeh_sampledata` ships them."""
    spec = find_spec("bokeh_sampledata")
    assert spec
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "_data" / "titanic_all.csv"

"""First visits of the page in a real browser: bytes over the wire, first paint and long tasks.

    python -m benchmarks.page.run --address http://127.0.0.1:8000/sign-in#CODE [--path / --path /data]

The address is one that `labcrew sign-in` prints. Times are those of this machine now; bytes are not.
"""

import argparse
from urllib.parse import urlsplit

from playwright.sync_api import Browser, sync_playwright
from tests.chromium import find_chromium

OBSERVE = """
globalThis.longTasks = [];
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((task) => task.duration)))
  .observe({ type: 'longtask', buffered: true });
"""
MEASURE = """
(() => {
  const own = performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
    .filter((entry) => !entry.name.includes('/api/'));
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return {
    files: own.length,
    bytes: own.reduce((sum, entry) => sum + entry.encodedBodySize, 0),
    paint_ms: paint ? Math.round(paint.startTime) : null,
    longest_task_ms: Math.round(Math.max(0, ...longTasks)),
  };
})()
"""
SETTLED_MS = 2_000
"""After the first paint, for tasks that follow it; a measurement, not a test."""


def main() -> None:
    """Print one line for each path."""
    parser = argparse.ArgumentParser(description="Measure first visits of the web page.")
    parser.add_argument(
        "--address", required=True, help="address that signs in, as `labcrew sign-in` prints it"
    )
    parser.add_argument("--path", action="append", help="path to visit; by default home, data and runs")
    options = parser.parse_args()
    chromium = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.program, env=dict(chromium.environment), args=list(chromium.switches)
        )
        measure(browser, options.address, options.path or ["/", "/data", "/runs"])
        browser.close()


def measure(browser: Browser, address: str, paths: list[str]) -> None:
    """Sign in once; visit each path with an empty cache of its own."""
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    first = browser.new_context()
    page = first.new_page()
    page.goto(address)
    page.get_by_role("navigation", name="Main").wait_for()
    state = first.storage_state()
    print(f"{'path':30} {'files':>6} {'kB':>8} {'paint ms':>9} {'longest task ms':>16}")
    for path in paths:
        context = browser.new_context(storage_state=state)
        context.add_init_script(OBSERVE)
        page = context.new_page()
        page.goto(f"{origin}{path}")
        page.get_by_role("heading").first.wait_for()
        page.wait_for_timeout(SETTLED_MS)
        facts = page.evaluate(MEASURE)
        paint, task = facts["paint_ms"], facts["longest_task_ms"]
        print(f"{path:30} {facts['files']:>6} {facts['bytes'] / 1000:>8.1f} {paint!s:>9} {task:>16}")
        context.close()


if __name__ == "__main__":
    main()

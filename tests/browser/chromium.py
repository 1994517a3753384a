"""A headless Chromium for the tests: pages from ``file://``, their log, their requests, sizes.

Needs Debian's ``chromium`` and ``chromium-driver``, and selenium from the extra ``browser``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
DESK, PHONE = (1100, 900), (360, 740)


class Browser:
    """One browser. `open` waits until the page says that it is ready."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, path: Path, size: tuple[int, int] = DESK, dark: bool = False) -> None:
        """Opens a page in a viewport of exactly that size. Forgets what was logged before."""
        width, height = size
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", media="", features=[scheme])
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.as_uri())
        self.settle()

    def media(self, name: str) -> None:
        """Shows the page as ``print`` or, with an empty name, as on a screen."""
        self.command("Emulation.setEmulatedMedia", media=name, features=[])

    def settle(self) -> None:
        """Waits until observers have been called and frames drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; let n = 4;"
            "const next = () => (n-- ? requestAnimationFrame(next) : done()); next();"
        )

    def script(self, text: str, *arguments: object) -> Any:
        return self.driver.execute_script(text, *arguments)

    def command(self, name: str, **values: object) -> Any:
        return self.driver.execute_cdp_cmd(name, values)

    def log(self) -> list[str]:
        """Everything in the console since the page was opened."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses of everything that was asked for since the page was opened."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def picture(self, path: Path, whole: bool = False, height: int = 0) -> None:
        """A screenshot as PNG; of the whole page, or of its first ``height`` pixels."""
        values: dict[str, object] = {"format": "png"}
        if whole or height:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            tall = min(size["height"], height or size["height"])
            clip = {"x": 0, "y": 0, "width": size["width"], "height": tall, "scale": 1}
            values |= {"captureBeyondViewport": True, "clip": clip}
        data = self.command("Page.captureScreenshot", **values)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self) -> bytes:
        """The page as it is printed, on A4."""
        values = {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69}
        return base64.b64decode(self.command("Page.printToPDF", **values)["data"])


@contextmanager
def started() -> Iterator[Browser]:
    """A browser that is gone at the end."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for name in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{name}")
    options.add_argument("--hide-scrollbars")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield Browser(driver)
    finally:
        driver.quit()

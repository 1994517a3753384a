"""Remakes the pictures of ``docs/images``: ``python -m tests.browser.screenshots``.

Look at them before they are committed: a browser of another version draws its letters otherwise.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image

from tests.browser.chromium import PHONE, Browser, started
from tests.cli import ROOT, SAMPLES, run

IMAGES = ROOT / "docs" / "images"
LARGEST = 60_000
FAILING, PASSING = SAMPLES / "draft_top_p_untested.json", SAMPLES / "three_tokens.json"


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, started() as browser:
        failing = exported(Path(folder) / "failing.html", FAILING)
        passing = exported(Path(folder) / "passing.html", PASSING)
        browser.open(failing, (860, 900))
        taken(browser, "report-different.png", until=".lesson .pair")
        browser.open(failing, PHONE, dark=True)
        taken(browser, "report-phone-dark.png", until=".tiles")
        browser.open(passing, (760, 900))
        taken(browser, "three-bars.png", since=".inside figure", until=".inside figure")


def exported(path: Path, capture: Path) -> Path:
    run("check", capture.relative_to(ROOT), "--export", f"html={path}")
    return path


def taken(browser: Browser, name: str, until: str, since: str = "") -> None:
    """The page from its top, or from one element, to the end of another, in few colours."""
    browser.script("specdist.drawNow(document.body)")
    browser.settle()
    ends = browser.script(
        "const at = (css) => document.querySelector(css).getBoundingClientRect();"
        "const [since, until] = arguments;"
        "const box = since ? at(since) : {left: 8, right: innerWidth - 8, top: 12 - scrollY};"
        "const bottom = at(until).bottom + scrollY + 16;"
        "return [box.left - 8, box.top + scrollY - 12, box.right + 8, bottom]",
        since,
        until,
    )
    path = IMAGES / name
    left, top, right, bottom = map(round, ends)
    browser.picture(path, height=bottom)
    image = Image.open(io.BytesIO(path.read_bytes())).convert("RGB")
    image = image.crop((left, top, right, image.height))
    image.quantize(48, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}  {image.width} x {image.height}, {size:,} bytes")
    if size > LARGEST:
        raise SystemExit(f"{name} is larger than {LARGEST:,} bytes")


if __name__ == "__main__":
    main()

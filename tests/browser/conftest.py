"""One browser for all tests of the folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Browser, started


@pytest.fixture(scope="session")
def _chromium() -> Iterator[Browser]:
    with started() as browser:
        yield browser


@pytest.fixture
def browser(_chromium: Browser) -> Browser:
    """A browser on a screen, with scripts allowed."""
    _chromium.media("")
    _chromium.command("Emulation.setScriptExecutionDisabled", value=False)
    return _chromium

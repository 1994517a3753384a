"""pytest: the fixture `assert_lossless`, and `--specdist PATH`: steps of captures as test items.

pytest imports this module at every start, so that it imports nothing of its own: what reads
captures is imported once ``--specdist`` is given, what checks rows once the fixture is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from specdist.model.report import Report

_PATHS = (
    "Steps of captures as test items: a file or a folder; repeatable. Without a PATH those of "
    "`captures` in specdist.toml or [tool.specdist] of the root folder."
)
_OPTIONS = "How --specdist checks, in the words of `specdist check`."
_MARKER = "specdist: a step of a capture (--specdist); `-m specdist` runs nothing else"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and the ini key."""
    group = parser.getgroup("specdist", "specdist (lossless speculative decoding)")
    group.addoption("--specdist", action="append", nargs="?", const="", metavar="PATH", help=_PATHS)
    group.addoption("--specdist-options", metavar='"OPTIONS"', help=_OPTIONS)
    parser.addini("specdist_options", _OPTIONS, default="")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker and, where captures are asked for, the plugin that collects them."""
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("specdist"):
        from specdist.pytest_plugin.capture_plugin import CapturePlugin

        config.pluginmanager.register(CapturePlugin(config), "specdist-captures")
    elif config.getoption("specdist_options"):
        raise pytest.UsageError("--specdist-options is given without --specdist")


@pytest.fixture(scope="session")
def assert_lossless() -> Callable[..., Report]:
    """`specdist.testing.assert_lossless`: target and draft rows, sampling options or a kernel."""
    from specdist.testing import assert_lossless

    return assert_lossless

"""The skeleton of every page: one file that loads nothing.

The policy forbids every request and every script but the one whose hash it names
(Content Security Policy level 3, section 2.3.1), so that a text which escaped its place could
still not run.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from specdist.reports.html.asset_files import asset
from specdist.reports.html.embedded import embedded_json, escaped

LIBRARY = "d3.min.js"
STYLES = ("page.css", "figures.css")
SCRIPTS = ("page.js", "numbers.js")
"""Loaded before the scripts of any page: tooltips, copy buttons, numbers as they are packed."""


def page(title: str, body_html: str, data: object, scripts: tuple[str, ...]) -> str:
    """The whole file. ``body_html`` is markup; ``data`` becomes ``specdist.data`` of the scripts,
    which are names of files in ``assets/`` and find the drawing library as ``d3``."""
    style = "\n".join(asset(name) for name in STYLES)
    names = (LIBRARY, *SCRIPTS, *scripts)
    script = "\n".join(asset(name).rstrip() for name in names) + "\n"
    parts = (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        '<link rel="icon" href="data:,">',
        f"<title>{escaped(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        asset("signs.svg").strip(),
        body_html,
        f'<script type="application/json" id="data">{embedded_json(data)}</script>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    )
    return "\n".join(parts) + "\n"


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hashed(style)}'; script-src '{_hashed(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}"

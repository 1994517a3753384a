"""Texts of any origin inside a page: token texts, file names, messages.

A lone surrogate cannot be written in UTF-8 and a bidirectional control reorders what stands beside
it, so both are shown as escapes. Inside a script element only ``<`` can end the data early
(HTML standard, section "Restrictions for contents of script elements").
"""

from __future__ import annotations

import json
from html import escape

from specdist.reports.forms.clean_text import printable


def escaped(text: str) -> str:
    """The text for element content and for attributes in double quotes."""
    return escape(printable(text), quote=True)


def embedded_json(data: object) -> str:
    """JSON in ASCII that stays inside its script element whatever texts it holds."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

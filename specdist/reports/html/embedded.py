"""Texts of any origin inside a page: token texts, file names, messages.

A lone surrogate cannot be written in UTF-8 and a bidirectional control reorders what stands beside
it, so both are shown as escapes. Inside a script element only ``<`` can end the data early
(HTML standard, section "Restrictions for contents of script elements").
"""

from __future__ import annotations

import json
import re
from html import escape

_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def shown(text: str) -> str:
    """The text with what cannot or must not be shown spelled as an escape: ``\\ud83d``."""
    return _UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def escaped(text: str) -> str:
    """The text for element content and for attributes in double quotes."""
    return escape(shown(text), quote=True)


def embedded_json(data: object) -> str:
    """JSON in ASCII that stays inside its script element whatever texts it holds."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

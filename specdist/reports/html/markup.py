"""Elements as text. What is no `Html` is escaped, so that nothing can be forgotten."""

from __future__ import annotations

from collections.abc import Iterable

from specdist.reports.html.embedded import escaped

_VOID = frozenset({"meta", "link", "input", "br", "hr", "wbr"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Part = str | Html | None


def html(*parts: Part) -> Html:
    """Parts one after another."""
    return Html("".join(p if isinstance(p, Html) else escaped(p) for p in parts if p is not None))


def element(tag: str, *parts: Part, **attributes: str | bool | None) -> Html:
    """``<tag name="value">parts</tag>``. A trailing underscore of an attribute's name is dropped
    and others are hyphens: ``class_``, ``aria_label``; None and False leave it out."""
    written = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        written += f" {name}" if value is True else f' {name}="{escaped(value)}"'
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{html(*parts)}</{tag}>")


def listed(items: Iterable[Part], tag: str = "ul", **attributes: str | None) -> Html:
    """A list; empty where there is nothing to list."""
    made = [element("li", item) for item in items]
    return element(tag, *made, **attributes) if made else Html()


def icon(name: str) -> Html:
    """One of the signs that the skeleton defines. It says nothing that words do not say too."""
    return Html(f'<svg class="icon" aria-hidden="true"><use href="#icon-{escaped(name)}"/></svg>')


def copied(command: str) -> Html:
    """A line to paste with its button."""
    return element(
        "div",
        element("pre", element("code", command), tabindex="0"),
        element("button", "copy", type="button", class_="copy", aria_label="copy this line"),
        class_="paste",
    )

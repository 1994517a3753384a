"""What the bars of a page show, against the masses of the JSON report of the same run."""

from __future__ import annotations

from typing import Any

from tests.browser.chromium import Browser

#: Bars of a picture: their kind, where they stand in the group, and their length on the screen.
_BARS = """
const root = document.querySelector('.step .inside') ?? document.body;
const all = arguments[0] ? document.querySelectorAll('.mount .plot')
  : root.querySelectorAll('.plot');
const barOf = (bar) => {
  const box = bar.getBoundingClientRect();
  return {kind: bar.dataset.kind, width: Number(bar.getAttribute('width')),
          height: Number(bar.getAttribute('height')), shown: [box.width, box.height]};
};
const itemOf = (item) => ({token: item.dataset.token,
                           bars: [...item.querySelectorAll('rect.mass')].map(barOf)});
return [...all].map((plot) => ({scale: Number(plot.dataset.scale),
                                items: [...plot.querySelectorAll('.item')].map(itemOf)}));
"""
PIXEL = 0.02


def plots(browser: Browser, of_findings: bool = False) -> list[Any]:
    """Every picture inside the first opened step, or inside the findings."""
    browser.script("specdist.drawNow(document.body)")
    browser.settle()
    found: list[Any] = browser.script(_BARS, of_findings)
    return found


def wrong_columns(plot: Any, position: Any) -> list[str]:
    """Columns of the mass picture that are not as high as the JSON report says."""
    by_name = {repr(token["text"]): token for token in position["tokens"]}
    wrong = []
    for item in plot["items"]:
        token = by_name.pop(item["token"])
        drafted, accepted = _mass(token, "drafted"), _mass(token, "accepted")
        columns = [
            [("target", _mass(token, "reference"))],
            [("accepted", accepted), ("rejected", drafted - accepted)],
            [("accepted", accepted), ("recovered", _mass(token, "recovered"))],
        ]
        expected = [part for column in columns for part in column if part[1] > 0]
        drawn = [(bar["kind"], bar["height"] / plot["scale"]) for bar in item["bars"]]
        if [kind for kind, _ in drawn] != [kind for kind, _ in expected]:
            wrong.append(f"{item['token']}: {drawn} instead of {expected}")
            continue
        for bar, (kind, mass) in zip(item["bars"], expected, strict=True):
            pixels = mass * plot["scale"]
            if abs(bar["height"] - pixels) > PIXEL or abs(bar["shown"][1] - pixels) > 1:
                wrong.append(f"{item['token']} {kind}: {bar['height']} instead of {pixels} pixels")
        output = accepted + _mass(token, "recovered")
        if abs(output - _mass(token, "output")) > 1e-12:
            wrong.append(f"{item['token']}: the report's own output is {token['output']}")
    return [*wrong, *(f"{name} is not drawn" for name in by_name)]


def wrong_differences(plot: Any, position: Any) -> list[str]:
    """Bars of the difference picture that are wrong in length or order."""
    expected = {}
    for token in position["tokens"]:
        size = abs(_mass(token, "output") - _mass(token, "reference"))
        if size:
            expected[repr(token["text"])] = size
    drawn = {item["token"]: item["bars"][0]["width"] / plot["scale"] for item in plot["items"]}
    wrong = [
        f"{name}: {drawn.get(name)} instead of {size}"
        for name, size in expected.items()
        if abs(drawn.get(name, 0) - size) > PIXEL / plot["scale"]
    ]
    if list(drawn.values()) != sorted(drawn.values(), reverse=True):
        wrong.append(f"not sorted: {drawn}")
    return wrong + [f"{name} does not differ" for name in drawn if name not in expected]


def _mass(token: Any, column: str) -> float:
    value: float = token[column]["approx"]
    return value

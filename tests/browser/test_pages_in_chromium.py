"""The pages in a real Chromium: nothing is fetched, nothing complains, bars are the masses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import DESK, PHONE, Browser, started
from tests.cli import ROOT, run

SAMPLES = ROOT / "sample_inputs"
FAILS = SAMPLES / "draft_top_p_untested.json"
MOST_BYTES = 3_000_000
MOST_SECONDS = 2.0


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as made:
        yield made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "report.html"
    sources = (FAILS, SAMPLES / "three_tokens.json", SAMPLES / "top_two_listed.json")
    assert run("check", *sources, "--export", f"html={path}", "-q").code == 1
    return path


def exact(number: dict[str, Any]) -> Fraction:
    return Fraction(number["exact"])


def bars(browser: Browser) -> dict[str, dict[str, list[float]]]:
    """Heights of the bars of the first picture, as masses: token -> kind -> one number a bar."""
    return browser.script(
        """
        const svg = document.querySelector("svg.plot[data-scale]");
        const scale = Number(svg.dataset.scale), found = {};
        for (const item of svg.querySelectorAll(".item")) {
          const kinds = found[item.dataset.token] = {};
          for (const rect of item.querySelectorAll("rect.mass")) {
            (kinds[rect.dataset.kind] ??= []).push(rect.getBoundingClientRect().height / scale);
          }
        }
        return found;
        """
    )


def test_nothing_is_fetched_and_nothing_complains(browser: Browser, page: Path) -> None:
    for size in (DESK, PHONE):
        for dark in (False, True):
            browser.open(page, size, dark)
            assert browser.log() == []
            asked = [url for url in browser.requests() if not url.startswith("data:")]
            assert asked == [page.as_uri()]


def test_bars_are_as_high_as_the_masses_of_the_report(browser: Browser, page: Path) -> None:
    report = run("check", FAILS, "--format", "json").json()
    tokens = report["steps"][0]["positions"][0]["tokens"]
    browser.open(page)
    shown = bars(browser)
    assert len(shown) == len(tokens) == 4
    for token in tokens:
        kinds = shown[repr(token["text"])]
        target, drafted, accepted, recovered = (
            exact(token[name]) for name in ("reference", "drafted", "accepted", "recovered")
        )
        close = {"abs": 0.004}  # a pixel of a picture of some 250
        assert kinds.get("target", [0.0]) == [pytest.approx(float(target), **close)]
        drawn = kinds.get("accepted", [0.0, 0.0])
        assert drawn[0] == pytest.approx(float(min(accepted, drafted)), **close)
        assert drawn[-1] == pytest.approx(float(accepted), **close)
        rejected = kinds.get("rejected", [0.0])[0]
        assert rejected == pytest.approx(float(drafted - min(accepted, drafted)), **close)
        assert kinds.get("recovered", [0.0])[0] == pytest.approx(float(recovered), **close)


def test_a_token_says_its_exact_masses(browser: Browser, page: Path) -> None:
    browser.open(page)
    said = browser.script(
        'return [...document.querySelectorAll("svg.plot .item")].map('
        '(item) => item.getAttribute("aria-label")).filter(Boolean)'
    )
    (label,) = [text for text in said if " the'" in text and "recovered" in text][:1]
    for text in ("1/2", "4/15", "8/15", "1/30"):
        assert text in label


def test_nothing_is_wider_than_a_phone(browser: Browser, page: Path) -> None:
    for size in (PHONE, DESK):
        browser.open(page, size)
        wide = browser.script("return document.documentElement.scrollWidth")
        assert wide <= size[0]
    browser.media("print")
    assert browser.pdf().startswith(b"%PDF")


def test_texts_of_tokens_are_never_markup(browser: Browser, tmp_path: Path) -> None:
    texts = [
        "</script><script>window.hurt=1</script>",
        "<img src=x onerror=hurt=1>",
        "\u202e\u2028",
    ]
    capture = {
        "vocab": texts,
        "steps": [
            {
                "id": "<b onclick=hurt=1>",
                "positions": [
                    {"target": ["1/2", "3/10", "1/5"], "draft": ["1/5", "3/10", "1/2"],
                     "roles": {"residual_draft": "one-hot"}}
                ],
            }
        ],
    }  # fmt: skip
    source, path = tmp_path / "x.json", tmp_path / "x.html"
    source.write_text(json.dumps(capture), "utf-8")
    assert run("check", source, "--export", f"html={path}", "-q").code == 1
    browser.open(path)
    assert browser.log() == []
    assert browser.script("return window.hurt === undefined")
    assert browser.script('return document.querySelectorAll("main img").length') == 0


def test_a_thousand_steps_stay_small_and_open_fast(browser: Browser, tmp_path: Path) -> None:
    """The bound in seconds is wide, for machines are shared; the time is printed."""
    size = 48
    weights = [[1 + (7 * i * (k + 3) + k) % 97 for i in range(size)] for k in range(2000)]
    rows = [[f"{w}/{sum(row)}" for w in row] for row in weights]
    steps = [
        {"id": str(k), "positions": [{"target": rows[2 * k], "draft": rows[2 * k + 1]}]}
        for k in range(1000)
    ]
    source, path = tmp_path / "many.json", tmp_path / "many.html"
    source.write_text(json.dumps({"kind": "probabilities", "steps": steps}), "utf-8")
    assert run("check", source, "--export", f"html={path}", "-q").code == 0
    assert path.stat().st_size < MOST_BYTES
    browser.open(path)
    assert browser.log() == []
    ready = float(browser.script("return document.documentElement.dataset.ready")) / 1000
    print(f"1,000 steps: {path.stat().st_size:,} bytes, ready after {ready:.2f} s")
    assert ready < 3 * MOST_SECONDS


def test_a_sweep_draws_a_mark_for_every_setting(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "sweep.html"
    rows = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10")
    options = ("--sweep", "temperature=0.5:2:0.5", "--plot", path, "--format", "json")
    result = run("what-if", *rows, *options)
    browser.open(path)
    assert browser.log() == []
    drawn = browser.script(
        'return [...document.querySelectorAll("#sweep .mark")].map('
        "(mark) => Number(mark.dataset.rate))"
    )
    rates = [point["acceptance_rate"]["approx"] for point in result.json()["points"]]
    assert drawn == pytest.approx(rates, rel=1e-12)

"""Markdown as GitHub's own parser (cmark-gfm) renders it."""

from __future__ import annotations

import re
from pathlib import Path

import cmarkgfm
from cmarkgfm.cmark import Options
from lxml import html

from specdist.reports.forms.clean_text import one_line
from specdist.reports.forms.form import FormOptions
from specdist.reports.forms.markdown import render
from tests.form_samples import HOSTILE, SAMPLES, steps_of
from tests.formats.outside import documents

TAGS = {
    "div", "h2", "h3", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "pre",
    "details", "summary",
}  # fmt: skip


def parsed(text: str) -> html.HtmlElement:
    rendered = cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE)
    return html.fromstring(f"<div>{rendered}</div>")


def test_nothing_but_what_is_meant_comes_out(tmp_path: Path) -> None:
    for name, text in documents("markdown", tmp_path):
        page = parsed(text)
        assert {node.tag for node in page.iter()} <= TAGS, name
        assert [node.tag for node in page][:2] == ["h2", "p"], name
        assert page.xpath("//h2")[0].text.startswith("specdist "), name
        for table in page.xpath("//table"):
            widths = {len(row.xpath("./th|./td")) for row in table.xpath(".//tr")}
            assert len(widths) == 1, name
        assert "|" not in "".join(page.xpath("//p/text()")), name


def test_texts_of_a_capture_come_out_as_they_were() -> None:
    page = parsed(render(SAMPLES["hostile"][0], FormOptions()))
    (cells, *_) = page.xpath("//table[1]/tbody/tr")
    assert [cell.text_content() for cell in cells[:3]] == [
        "different",
        one_line(HOSTILE),
        one_line(HOSTILE),
    ]
    assert all(len(cell) == 1 and cell[0].tag == "code" for cell in cells[1:3])
    settings = page.xpath("//details//tbody/tr/td/code/text()")
    assert settings == [one_line(HOSTILE), one_line(HOSTILE), "draft-lengths", one_line(HOSTILE)]


def test_each_finding_is_a_block_and_each_step_a_row() -> None:
    page = parsed(render(steps_of(600, failing=lambda number: number % 3 == 0), FormOptions()))
    rows = page.xpath("//table[1]/tbody/tr")
    assert [row[0].text_content() for row in rows[:200]] == ["different"] * 200
    blocks = page.xpath("//pre/code/text()")
    assert len(blocks) > 20
    assert all(block.startswith("error[output-mismatch]: ") for block in blocks)
    assert all(block.endswith("= explain: specdist explain output-mismatch\n") for block in blocks)
    (left,) = re.findall(r"(\d+) more findings left out", page.text_content())
    assert int(left) + len(blocks) == 200

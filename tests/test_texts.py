"""``check --texts A B``: two recorded outputs, first differences, near-ties; never a law."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from specdist.exact.spacing import exponent_of, is_on_grid, spacing
from specdist.model.row import NumberFormat
from specdist.verify.texts.near_tie import spacing_of
from tests.cli import ROOT, Result, exact, run

FIELD = ROOT / "tests" / "data" / "field"
SCHEMA = json.loads((ROOT / "specdist" / "schemas" / "texts.schema.json").read_text("utf-8"))
LAW_WORDS = ("equal", "different", "undecided", "lossless", "within-tolerance")


def put(folder: Path, name: str, content: Any) -> Path:
    """A file of that name: text as it is, bytes as they are, all else as JSON."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_bytes(text.encode("utf-8"))
    return path


def compared(folder: Path, first: Any, second: Any, *options: Any, ending: str = "json") -> Result:
    files = put(folder, f"a.{ending}", first), put(folder, f"b.{ending}", second)
    return run("check", "--texts", *files, *options)


def report(folder: Path, first: Any, second: Any, *options: Any, ending: str = "json") -> Any:
    result = compared(folder, first, second, *options, "--format", "json", ending=ending)
    found = result.json()
    jsonschema.validate(found, SCHEMA)
    assert found["law_checked"] is False
    assert found["summary"]["outputs"] == len(found["outputs"])
    codes = {"identical": 0, "near-tie": 0, "unexplained": 1, "empty": 3, "open": 4}
    assert result.code == codes[found["match"]]
    return found


def test_identical_texts_pass_and_are_said_to_prove_no_law(tmp_path: Path) -> None:
    result = compared(tmp_path, "the cat\n", "the cat\n", ending="txt")
    assert (result.code, result.stderr) == (0, "")
    first = result.stdout.splitlines()[0]
    assert first == "texts only: one recorded run against another, and no law was checked"
    assert "identical: the outputs of these two runs are the same" in result.stdout
    assert "8 characters found the same" in result.stdout
    assert "identical texts prove no law" in " ".join(result.stdout.split())
    assert "specdist explain claims" in result.stdout
    assert result.stdout.endswith(
        "1 output compared: 1 identical, 0 near-tie, 0 open, 0 unexplained\n"
    )


def test_no_word_of_a_verdict_about_laws(tmp_path: Path) -> None:
    for second in ("a b", "a c"):
        result = compared(tmp_path, "a b", second, ending="txt")
        words = result.stdout.replace("-", " ").split()
        assert not {*words} & {*LAW_WORDS}, result.stdout
        found = report(tmp_path, "a b", second, ending="txt")
        assert found["match"] not in LAW_WORDS


def test_the_first_differing_character_is_shown_with_both_sides(tmp_path: Path) -> None:
    result = compared(tmp_path, "a\tbé\u200b.", "a\tbé .", ending="txt")
    assert result.code == 4
    assert "parts at character 4" in result.stdout
    assert "'\\u200b' (U+200B ZERO WIDTH SPACE)" in result.stdout
    assert "'a\\tbé'  >>> ' ' <<<  '.'" in result.stdout


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        ("caf\u00e9", "cafe\u0301", "the same after Unicode normalisation (NFC)"),
        ("a b\n", "a b", "the same but for blank space"),
        ("a\r\nb", "a\nb", "the same but for blank space"),
    ],
)
def test_differences_that_are_hard_to_see(
    first: str, second: str, note: str, tmp_path: Path
) -> None:
    found = report(tmp_path, first, second, ending="txt")
    assert found["match"] == "open"
    assert note in found["outputs"][0]["notes"]


def test_an_output_that_ends_earlier(tmp_path: Path) -> None:
    first = {"choices": [{"text": "one two", "token_ids": [1, 2], "finish_reason": "length"}]}
    second = {"choices": [{"text": "one two three", "token_ids": [1, 2, 3]}]}
    (output,) = report(tmp_path, first, second)["outputs"]
    assert (output["match"], output["unit"], output["same"]) == ("open", "token", 2)
    assert output["difference"]["first"]["here"] is None
    assert output["difference"]["second"]["here"] == "3"
    assert "cut at its limit (length)" in output["difference"]["reason"]


# ------------------------------------------------------------------ spacing and near-ties


def test_spacings_are_those_of_numpy() -> None:
    rng = np.random.default_rng(7)
    values = [*rng.normal(0, 30, 200), *(2.0 ** rng.integers(-20, 14, 100)), 1e-7, 65000.0]
    for dtype, numbers in (
        (np.float16, NumberFormat.FLOAT16),
        (np.float32, NumberFormat.FLOAT32),
        (np.float64, NumberFormat.FLOAT64),
    ):
        for value in (dtype(abs(value)) for value in values):
            assert spacing_of(numbers, Fraction(float(value))) == Fraction(
                float(np.spacing(value))
            ), (dtype, value)
    for value in (np.float32(abs(value)) for value in values):
        bits = int(value.view(np.uint32)) & 0xFFFF0000
        low, high = np.array([bits, bits + 0x10000], np.uint32).view(np.float32).astype(float)
        assert spacing_of(NumberFormat.BFLOAT16, Fraction(low)) == Fraction(high) - Fraction(low)
        assert is_on_grid(Fraction(low), 8, -126)
        assert not is_on_grid(Fraction(low) + (Fraction(high) - Fraction(low)) / 3, 8, -126)


def test_exponents_at_the_ends_of_a_binade() -> None:
    for power in (-30, -1, 0, 1, 9):
        value = Fraction(2) ** power
        assert exponent_of(value) == power
        assert exponent_of(value * Fraction(999, 1000)) == power - 1
        assert exponent_of(value * Fraction(1999, 1000)) == power
    assert spacing(Fraction(0), 8, -126) == Fraction(2) ** -133


def rows_of(margin: float, top: float = 10.25, at: int = 2) -> Any:
    """Five float32 rows of six tokens; in row ``at`` token 4 leads token 1 by ``margin``."""
    rows = np.full((5, 6), -3, np.float32)
    rows[:, 3] = 5
    rows[at, 3] = 0
    rows[at, 4], rows[at, 1] = top, np.float32(top) - np.float32(margin)
    return rows


A, B = [3, 3, 4, 3, 3], [3, 3, 1, 5, 5]


def with_rows(folder: Path, rows: Any, *options: Any) -> Any:
    np.save(folder / "rows.npy", rows)
    return report(
        folder, {"token_ids": A}, {"token_ids": B}, "--target", folder / "rows.npy", *options
    )


@pytest.mark.parametrize(
    ("margin", "numbers", "match", "words"),
    [
        (0.0078125, "bfloat16", "near-tie", "0.0078125 is below the bfloat16 spacing 0.0625 at"),
        (0.0078125, "float16", "open", "one step of float16, and both values are rounded"),
        (0.0078125, "float32", "unexplained", "8192 spacings of float32"),
        (0.0078125, None, "open", "a near-tie in bfloat16, none in float32; --numbers says"),
        (1.1875, "bfloat16", "unexplained", "19 spacings of bfloat16 (0.0625)"),
        (1.2, "bfloat16", "unexplained", "over 19 spacings of bfloat16"),
        (1.2, None, "unexplained", "of bfloat16 (0.0625), the coarsest format in use"),
        (0.0, "float32", "near-tie", "a tie: the two values are equal"),
        (0.0, None, "near-tie", "a tie"),
        (0.0625, "bfloat16", "open", "one step of bfloat16, and both values are rounded"),
        (0.07, "bfloat16", "unexplained", "over 1 spacing of bfloat16"),
    ],
)
def test_a_near_tie_is_a_margin_below_the_spacing(
    margin: float, numbers: str | None, match: str, words: str, tmp_path: Path
) -> None:
    options = () if numbers is None else ("--numbers", numbers)
    found = with_rows(tmp_path, rows_of(margin), *options)
    assert found["match"] == match
    (output,) = found["outputs"]
    assert (output["unit"], output["same"], output["difference"]["index"]) == ("token", 2, 2)
    (weighed,) = output["difference"]["weighed"]
    assert words in weighed["says"]
    top, other = Fraction(float(rows_of(margin)[2, 4])), Fraction(float(rows_of(margin)[2, 1]))
    assert (exact(weighed["emitted"]), exact(weighed["other"])) == (top, other)
    assert exact(weighed["margin"]) == top - other


def test_sixteen_bit_logits_say_their_format_themselves(tmp_path: Path) -> None:
    rows = rows_of(0.25).astype(np.float16)
    found = with_rows(tmp_path, rows)
    assert found["match"] == "unexplained"
    assert "32 spacings of float16" in found["outputs"][0]["difference"]["weighed"][0]["says"]


def test_bit_patterns_of_bfloat16(tmp_path: Path) -> None:
    bits = (rows_of(0.25).view(np.uint32) >> 16).astype(np.uint16)
    found = with_rows(tmp_path, bits, "--numbers", "bfloat16")
    assert found["match"] == "unexplained"
    assert "4 spacings of bfloat16" in found["outputs"][0]["difference"]["weighed"][0]["says"]


def test_a_masked_token_has_no_margin_that_explains_it(tmp_path: Path) -> None:
    rows = rows_of(0)
    rows[2, 1] = -np.inf
    rows[2, 4] = 10.25
    assert with_rows(tmp_path, rows)["match"] == "unexplained"


def test_a_token_that_is_not_the_likeliest_was_perhaps_sampled(tmp_path: Path) -> None:
    rows = rows_of(0.5)
    rows[2, 0] = 12
    found = with_rows(tmp_path, rows, "--numbers", "bfloat16")
    assert found["match"] == "open"
    assert (
        "not the likeliest here, by 1.75" in found["outputs"][0]["difference"]["weighed"][0]["says"]
    )
    stated = with_rows(tmp_path, rows, "--numbers", "bfloat16", "--temperature", "0")
    assert stated["match"] == "unexplained"
    assert stated["sampling"] == "greedy (stated)"


def test_above_temperature_0_a_difference_proves_nothing(tmp_path: Path) -> None:
    found = with_rows(tmp_path, rows_of(3), "--numbers", "float32", "--temperature", "4/5")
    assert found["match"] == "open"
    assert "a difference proves nothing" in found["sampling"]
    assert found["outputs"][0]["difference"]["weighed"] == []


def test_what_an_answer_says_of_its_temperature_counts(tmp_path: Path) -> None:
    answers = [{"content": text, "tokens": [1], "temperature": 0.8} for text in ("a", "b")]
    assert "sampled at temperature 0.8" in report(tmp_path, *answers)["sampling"]


def answer(chosen: str, *tops: tuple[str, float]) -> Any:
    """A chat answer of two tokens; the second has alternatives."""
    listed = [{"token": token, "logprob": value} for token, value in tops]
    own = next(item for item in listed if item["token"] == chosen)
    first = {"token": "x", "logprob": -0.5, "top_logprobs": [{"token": "x", "logprob": -0.5}]}
    content = [first, {**own, "top_logprobs": listed}]
    choice = {"index": 0, "finish_reason": "stop", "message": {"content": f"x{chosen}"}}
    return {"choices": [{**choice, "logprobs": {"content": content}}]}


@pytest.mark.parametrize(
    ("ours", "theirs", "options", "match", "words"),
    [
        ((("a", -0.7), ("b", -0.7)), (("b", -0.7), ("a", -0.7)), (), "near-tie", "a tie"),
        (
            (("a", -0.701), ("b", -0.7025)),
            (("b", -0.701), ("a", -0.702)),
            ("--numbers", "bfloat16"),
            "near-tie",
            "below the bfloat16 spacing 0.00390625",
        ),
        (
            (("a", -0.7), ("b", -0.82)),
            (("b", -0.7), ("a", -0.82)),
            ("--numbers", "bfloat16"),
            "open",
            "where the logits were 16 or more in size",
        ),
        (
            (("a", -0.1), ("b", -2.5)),
            (("b", -0.1), ("a", -2.5)),
            (),
            "unexplained",
            "for logits below 256 in size (assumed)",
        ),
    ],
)
def test_alternatives_in_answers(
    ours: Any, theirs: Any, options: Any, match: str, words: str, tmp_path: Path
) -> None:
    found = report(tmp_path, answer("a", *ours), answer("b", *theirs), *options)
    assert found["match"] == match
    (output,) = found["outputs"]
    assert (output["unit"], output["difference"]["index"]) == ("token", 1)
    assert len(output["difference"]["weighed"]) == 2
    assert all(words in each["says"] for each in output["difference"]["weighed"])


# ------------------------------------------------------------------ what files may be


SHAPES = {
    "texts": (["a", "b"], 2),
    "token ids": ([1, 2, 3], 1),
    "lists of ids": ([[1, 2], [3]], 2),
    "an object of texts": ({"texts": ["a", "b"]}, 2),
    "an object of ids": ({"token_ids": [[1], [2]]}, 2),
    "vLLM, offline": ({"outputs": [{"text": "a", "token_ids": [1]}, {"text": "b"}]}, 2),
    "chat": ({"choices": [{"message": {"content": "a"}}, {"message": {"content": None}}]}, 2),
    "completions": ({"choices": [{"text": "a"}]}, 1),
    "responses": ({"output": [{"content": [{"type": "output_text", "text": "a"}]}]}, 1),
    "Anthropic": ({"type": "message", "content": [{"type": "text", "text": "a"}]}, 1),
    "Gemini": ({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, 1),
    "TGI": ([{"generated_text": "a"}, {"generated_text": "b"}], 2),
    "llama-server": ({"content": "a", "tokens": []}, 1),
    "Ollama": ({"response": "a", "done": True}, 1),
    "SGLang": ({"text": "a", "output_ids": [1], "meta_info": {}}, 1),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_json(shape: str, tmp_path: Path) -> None:
    content, count = SHAPES[shape]
    found = report(tmp_path, content, content)
    assert (found["match"], len(found["outputs"])) == ("identical", count)
    line = json.dumps(content)
    lines = report(tmp_path, f"{line}\n{line}\n", f"{line}\n{line}\n", ending="jsonl")
    assert len(lines["outputs"]) == 2 * count


def test_an_ollama_stream_is_put_together(tmp_path: Path) -> None:
    pieces = [{"response": "to", "done": False}, {"response": "day", "done": True}]
    lines = "".join(json.dumps(piece) + "\n" for piece in pieces)
    found = report(tmp_path, lines, lines.replace("day", "dax"), ending="jsonl")
    assert [output["same"] for output in found["outputs"]] == [4]


@pytest.mark.parametrize(
    "name",
    [
        "vllm/completions_top3_token_ids.json",
        "vllm/chat_top3_token_ids.json",
        "sglang/generate_top4.json",
        "hosted/openai_chat_top5.json",
        "llamacpp/server_completion_nprobs5.json",
        "hosted/ollama_generate_logprobs.json",
        "hosted/fireworks_new_logprobs.json",
    ],
)
def test_answers_of_engines_have_tokens_and_values(name: str, tmp_path: Path) -> None:
    text = (FIELD / name).read_text("utf-8")
    found = report(tmp_path, text, text)
    assert (found["match"], found["outputs"][0]["unit"]) == ("identical", "token")
    assert found["sources"][0]["form"] != "JSON document"
    for output in found["outputs"]:
        assert output["same"] == output["lengths"][0] > 0


def test_two_answers_whose_tokens_part(tmp_path: Path) -> None:
    text = (FIELD / "vllm" / "completions_top3_token_ids.json").read_text("utf-8")
    value = json.loads(text)
    arrays = value["choices"][0]["logprobs"]
    arrays["tokens"][3], arrays["token_logprobs"][3] = "token_id:63", -20.5
    arrays["top_logprobs"][3]["token_id:63"] = -20.5
    (output,) = report(tmp_path, text, value)["outputs"]
    assert (output["match"], output["difference"]["index"]) == ("open", 3)
    assert {each["tells"] for each in output["difference"]["weighed"]} >= {"sampled"}


def test_recorded_steps_are_compared_by_their_tokens(tmp_path: Path) -> None:
    trace = ROOT / "tests" / "data" / "captures" / "good" / "a"
    steps = (trace / "steps.jsonl").read_text("utf-8")
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in trace.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    result = run("check", "--texts", trace, copy)
    assert result.code == 0, result.stderr
    emitted = sum(len(json.loads(line)["emitted"]) for line in steps.splitlines())
    assert f"{emitted} tokens found the same" in result.stdout


def test_plain_text_that_looks_like_json(tmp_path: Path) -> None:
    assert report(tmp_path, "{not json", "{not json", ending="out")["match"] == "identical"
    assert report(tmp_path, '{"a": 1}', '{"a": 1}', ending="txt")["outputs"][0]["same"] == 8


def test_token_texts_from_a_vocabulary(tmp_path: Path) -> None:
    vocab = put(tmp_path, "vocab.json", ["zero", "one", "two"])
    result = compared(tmp_path, [1, 2], [1, 0], "--vocab", vocab)
    assert "1 'one'  >>> 2 'two' <<<" in result.stdout


# ------------------------------------------------------------------ refusals and output


BAD: dict[str, tuple[Any, Any, str]] = {
    "empty": ("", "a", "the file is empty"),
    "binary": (b"\x00\x01\x02", "a", "binary file: byte 0x00 stands at 0"),
    "not UTF-8": (b"ab\xff", "a", "byte 0xff is not UTF-8"),
    "gzip": (b"\x1f\x8b\x08", "a", "gzip"),
    "broken": ('["a"', ["a"], "ends too early"),
    "no text": ({"a": 1}, {"a": 1}, "no text and there are no token ids"),
    "more outputs": (["a", "b"], ["a"], "1 output, and"),
    "tokens and text": ([1], ["a"], "tokens and no text"),
    "a stream": ({"object": "chat.completion.chunk", "choices": []}, ["a"], "one piece of a"),
    "other prompts": (
        {"prompt": "x", "texts": ["a"]}, {"prompt": "y", "texts": ["a"]}, "another prompt",
    ),
    "ids that are none": ({"token_ids": [[1], [-2]]}, [[1], [2]], "is negative"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case: str, tmp_path: Path) -> None:
    first, second, words = BAD[case]
    result = compared(tmp_path, first, second)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error[unreadable-capture]:")
    assert words in " ".join(result.stderr.split())


def test_a_missing_file_and_one_file_twice(tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", "a")
    missing = run("check", "--texts", path, tmp_path / "b.txt")
    assert (missing.code, "no such file" in missing.stderr) == (2, True)
    (tmp_path / "link.txt").symlink_to(path)
    for other in (path, tmp_path / "link.txt"):
        twice = run("check", "--texts", path, other)
        assert (twice.code, twice.stdout) == (2, "")
        assert "one file twice" in twice.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--top-k", "3"), "--top-k says nothing about two recorded texts"),
        (("--draft", "x"), "--draft says nothing"),
        (("capture.json",), "captures and --texts are given together"),
        (("--temperature", "-1"), "temperature=-1 is out of range"),
        (("--format", "jsonl"), "a comparison of texts is not written as jsonl"),
        (("--export", "junit=x.xml"), "is not written as junit"),
    ],
)
def test_options_that_say_nothing_about_texts(
    options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    result = compared(tmp_path, "a", "b", *options, ending="txt")
    assert (result.code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())


def test_a_dump_must_be_of_the_first_output(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", rows_of(0)[:3])
    dump = ("--target", tmp_path / "rows.npy")
    short = compared(tmp_path, {"token_ids": A}, {"token_ids": B}, *dump)
    assert (short.code, "3 rows, and 5 tokens" in short.stderr) == (2, True)
    plain = compared(tmp_path, "a", "b", *dump, ending="txt")
    assert (plain.code, "has rows over token ids" in plain.stderr) == (2, True)


def test_empty_outputs_are_not_a_pass(tmp_path: Path) -> None:
    assert report(tmp_path, {"texts": [""]}, {"texts": [""]})["match"] == "empty"


def test_the_worst_output_decides(tmp_path: Path) -> None:
    found = report(tmp_path, ["a", "b", ""], ["a", "c", ""])
    assert found["match"] == "open"
    assert [output["match"] for output in found["outputs"]] == ["identical", "open", "empty"]
    result = compared(tmp_path, ["a", "b"], ["a", "c"], "--exit-zero")
    assert result.code == 0
    quiet = compared(tmp_path, ["a", "b"], ["a", "c"], "--quiet")
    assert quiet.stdout.splitlines()[0].startswith("open: output 1, character 0: ")
    assert len(quiet.stdout.splitlines()) == 2


def test_exports(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = compared(tmp_path, "a", "a", "--export", f"json={out}", ending="txt")
    assert result.code == 0
    assert json.loads(out.read_text("utf-8"))["schema"] == "specdist.texts/1"


def test_the_report_stays_within_80_columns(tmp_path: Path) -> None:
    long = "word " * 40
    for first, second in ((long, long + "x"), (long, "\u4e00" * 60)):
        result = compared(tmp_path, first, second, ending="txt")
        lines = [line for line in result.stdout.splitlines() if str(tmp_path) not in line]
        assert [line for line in lines if len(line) > 80] == []


def test_the_page_says_what_the_program_does() -> None:
    page = run("explain", "claims").stdout
    for words in ("1. The law", "2. The text", "3. Scores", "near-tie", "unexplained", "open"):
        assert words in page
    for other in ("texts", "near-tie", "same", "lossless", "seed", "scores"):
        assert run("explain", other).stdout == page

"""Acceptance counters: read from every source, defined, cross-checked, set beside exact rates."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdist.errors import CaptureError
from specdist.exact.interval import Interval
from specdist.model.counters import Counters, Rate
from specdist.readers.counters import open_counters
from specdist.readers.counters.prometheus import read_prometheus
from specdist.verify.counters.comparison import FirstPositions, comparisons, tail
from specdist.verify.counters.contradictions import contradictions
from specdist.verify.counters.figures import completed, difference, figures
from specdist.verify.counters.review import review
from tests.cli import SAMPLES, run

DATA = Path(__file__).parent / "data" / "field" / "counters"


def one(name: str) -> Counters:
    (found,) = open_counters(str(DATA / name))
    return found


def rates(counters: Counters) -> dict[tuple[str, int | None], Fraction]:
    return {(f.rate.name, f.position): f.value for f in figures(counters)}


def written(tmp_path: Path, value: Any, name: str = "counters.json") -> str:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(path)


def test_vllm_prometheus() -> None:
    found = one("vllm_metrics.prom")
    assert (found.steps, found.draft_tokens, found.accepted) == (8, 23, 12)
    assert found.accepted_at == (6, 4, 2)
    assert found.label == "engine=0, model_name=tiny"
    assert rates(found)["ACCEPTED_OF_DRAFTED", None] == Fraction(12, 23)
    assert rates(found)["EMITTED_A_STEP", None] == Fraction(5, 2)
    # 23 draft tokens in 8 steps of 3: who drafted fewer is not exported
    assert ("CONDITIONAL", 0) not in rates(found)
    assert not contradictions(found)


def test_llama_server_prometheus() -> None:
    found = one("llamacpp_metrics.prom")
    assert (found.steps, found.draft_tokens, found.accepted) == (9, 22, 2)
    assert found.accepted_at == (2, 0, 0)


def test_sglang_gauges_are_no_counters() -> None:
    found = one("sglang_metrics.prom")
    assert found.interval_only
    assert [(item.name, item.values) for item in found.reported] == [
        ("spec_accept_length", (Fraction(233, 100),)),
        ("spec_accept_rate", (Fraction(444, 1000),)),
    ]
    assert found.steps is None
    assert not comparisons(found, FirstPositions(3, Interval.of(1), Interval.of(1)))


def test_vllm_bench_is_in_percent() -> None:
    found = one("vllm_bench_serve.json")
    assert (found.steps, found.draft_tokens, found.accepted) == (8, 23, 12)
    rate = next(item for item in found.reported if item.rate is Rate.ACCEPTED_OF_DRAFTED)
    assert rate.percent
    assert abs(rate.values[0] - Fraction(12, 23)) < Fraction(1, 10**12)
    assert completed(found).accepted_at == (6, 4, 2)
    assert not contradictions(found)


def test_vllm_request() -> None:
    found = one("per_request_spec_metrics_detailed.json")
    assert (found.steps, found.draft_tokens, found.accepted) == (8, 23, 12)
    assert found.histogram == (2, 2, 2, 2)
    assert found.step_accepted == (3, 0, 1, 2, 3, 0, 1, 2)
    assert found.step_drafted == (3, 3, 3, 3, 3, 3, 3, 2)
    # drafted by position 8, 8, 7: the last step, of two draft tokens, tests no third
    assert rates(found)["CONDITIONAL", 2] == Fraction(2, 3)
    assert rates(found)["CONDITIONAL", 1] == Fraction(4, 6)
    assert not contradictions(found)


def test_conditional_and_unconditional_rates_of_the_same_counts() -> None:
    found = Counters("x", "x", "x", steps=20, draft_tokens=60, histogram=(4, 4, 6, 6))
    assert completed(found).accepted_at == (16, 12, 6)
    assert [rates(found)["UNCONDITIONAL", i] for i in range(3)] == [
        Fraction(4, 5), Fraction(3, 5), Fraction(3, 10),
    ]  # fmt: skip
    assert [rates(found)["CONDITIONAL", i] for i in range(3)] == [
        Fraction(4, 5), Fraction(3, 4), Fraction(1, 2),
    ]  # fmt: skip
    assert rates(found)["ACCEPTED_OF_DRAFTED", None] == Fraction(17, 30)
    assert rates(found)["EMITTED_A_STEP", None] == Fraction(27, 10)
    assert rates(found)["GEOMETRIC", None] == Fraction(55883, 27000)


def test_the_configured_maximum_is_another_denominator() -> None:
    found = Counters("x", "x", "x", step_accepted=(3, 0, 2), step_drafted=(3, 1, 2), draft_length=3)
    assert rates(found)["ACCEPTED_OF_DRAFTED", None] == Fraction(5, 6)
    assert rates(found)["OF_CONFIGURED", None] == Fraction(5, 9)


def request(**changes: Any) -> dict[str, Any]:
    """The counts of one vLLM request, with changes."""
    document = json.loads((DATA / "per_request_spec_metrics_detailed.json").read_text())
    inner = document["metrics"]["speculative_decoding"]
    inner |= changes
    return {"metrics": {"speculative_decoding": {k: v for k, v in inner.items() if v is not None}}}


WRONG = {
    "rate": ({"draft_acceptance_rate": 0.75}, "says 0.75, the counts give 12/23"),
    "length": ({"mean_acceptance_length": 1.5}, "says 1.5, the counts give 5/2"),
    "steps": ({"num_spec_steps": 9}, "steps, and the sum of the histogram: 9 and 8"),
    "accepted": ({"num_accepted_draft_tokens": 13}, "accepted, and the histogram's: 13 and 12"),
    "histogram": ({"acceptance_histogram": [3, 2, 1, 2]}, "histogram, and the steps listed"),
    "drafted": ({"num_draft_tokens": 24}, "draft tokens, and the sum over steps: 24 and 23"),
    "step": (
        {"per_step_drafted": [3, 3, 3, 3, 3, 3, 4, 1]},
        "step 7 accepts 2 of 1 draft tokens",
    ),
    "more steps": ({"per_step_drafted": [3, 3, 3, 3, 3, 3, 3]}, "8 steps of accepted and 7"),
    "too long": ({"num_spec_tokens": 2}, "23 draft tokens in 8 steps of at most 2"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_contradictions_are_found(name: str, tmp_path: Path) -> None:
    changes, message = WRONG[name]
    (found,) = open_counters(written(tmp_path, request(**changes)))
    said = [finding.message for finding in contradictions(found)]
    assert any(message in text for text in said), said


def test_a_reported_figure_of_another_definition_is_named(tmp_path: Path) -> None:
    (found,) = open_counters(written(tmp_path, request(mean_acceptance_length=1.5)))
    notes = [note for finding in contradictions(found) for note in finding.notes]
    assert any("bonus and recovered token not counted" in note for note in notes)


def test_more_accepted_than_drafted_and_rising_positions() -> None:
    text = (
        "vllm:spec_decode_num_drafts_total 8\nvllm:spec_decode_num_draft_tokens_total 10\n"
        "vllm:spec_decode_num_accepted_tokens_total 12\n"
        'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 5\n'
        'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="1"} 7\n'
    )
    (found,) = read_prometheus(text, "m.prom")
    said = " ".join(finding.message for finding in contradictions(found))
    assert "12 accepted of 10 draft tokens" in said
    assert "position 1 is accepted 7 times" in said


BAD = {
    "no counters": "process_start_time_seconds 1.0\n",
    "not a sample": "vllm:spec_decode_num_drafts_total eight\n",
    "half": "vllm:spec_decode_num_drafts_total 8.5\n",
    "negative": "vllm:spec_decode_num_drafts_total -8\n",
    "nan": "vllm:spec_decode_num_drafts_total NaN\n",
    "huge": "vllm:spec_decode_num_drafts_total 1e400\n",
    "twice": "vllm:spec_decode_num_drafts_total 8\nvllm:spec_decode_num_drafts_total 9\n",
    "labels": 'vllm:spec_decode_num_drafts_total{engine=0} 8\n',
    "gap": "vllm:spec_decode_num_drafts_total 8\n"
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="1"} 8\n',
    "words": "# HELP x\nthis is a text\n",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_prometheus_text(name: str, tmp_path: Path) -> None:
    result = run("check", str(SAMPLES / "three_tokens.json"), "--counters",
                 written(tmp_path, BAD[name], "m.prom"))  # fmt: skip
    assert result.code == 2
    assert result.stdout == ""
    assert "m.prom" in result.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"num_spec_steps": -1},
        {"num_spec_steps": 1.5},
        {"num_spec_steps": "many"},
        {"num_spec_steps": True},
        {"acceptance_histogram": {"a": 1}},
        {"acceptance_histogram": [1, None]},
        {"draft_acceptance_rate": -0.5},
        {"draft_acceptance_rate": "high"},
        {"draft_acceptance_rate": [[0.5]]},
    ],
)
def test_bad_json_counts(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(CaptureError):
        open_counters(written(tmp_path, request(**changes)))


def test_other_sources(tmp_path: Path) -> None:
    meta = {"spec_verify_ct": 4, "spec_num_correct_drafts": 5, "completion_tokens": 9,
            "spec_num_proposed_drafts": 12, "spec_accept_length": 2.25,
            "spec_accept_rate": 0.4166666666666667,
            "spec_correct_drafts_histogram": [1, 1, 2]}  # fmt: skip
    (sglang,) = open_counters(written(tmp_path, {"text": "x", "meta_info": meta}))
    assert (sglang.steps, sglang.accepted, sglang.draft_tokens, sglang.written) == (4, 5, 12, 9)
    assert not contradictions(sglang)
    timings = {"timings": {"draft_n": 21, "draft_n_accepted": 2, "predicted_n": 12}}
    (llama,) = open_counters(written(tmp_path, timings))
    assert rates(llama) == {("ACCEPTED_OF_DRAFTED", None): Fraction(2, 21)}
    perf = {"acceptance_rate": 0.5, "total_accepted_draft_tokens": 6, "total_draft_tokens": 12}
    (trt,) = open_counters(
        written(tmp_path, {"request_perf_metrics": {"speculative_decoding": perf}})
    )
    assert not contradictions(trt)
    record = {"engine": "vllm", "mean_acceptance_length": 3.0, "num_spec_steps": 2,
              "acceptance_histogram": {"1": 1, "3": 1}, "num_accepted_draft_tokens": 4}  # fmt: skip
    (aiperf,) = open_counters(written(tmp_path, record))
    assert aiperf.histogram == (0, 1, 0, 1)
    assert not contradictions(aiperf)


def test_spec_bench_counts_the_written_tokens_of_a_step(tmp_path: Path) -> None:
    choice = {"turns": ["a", "b"], "decoding_steps": [2, 1], "new_tokens": [5, 2],
              "wall_time": [0.1, 0.1], "accept_lengths": [4, 1, 2]}  # fmt: skip
    line = {"question_id": 1, "choices": [choice]}
    (found,) = open_counters(written(tmp_path, "\n".join([json.dumps(line)] * 2), "a.jsonl"))
    assert (found.steps, found.accepted, found.written) == (6, 8, 14)
    assert rates(found)["EMITTED_A_STEP", None] == rates(found)["TOKENS_A_STEP", None]


def test_the_difference_of_two_scrapes(tmp_path: Path) -> None:
    after = one("vllm_metrics.prom")
    before = Counters("b", "prometheus", "x", after.label, 3, 9, 5, (3, 2))
    found = difference(after, before)
    assert (found.steps, found.draft_tokens, found.accepted) == (5, 14, 7)
    assert found.accepted_at == (3, 2, 2)
    with pytest.raises(ValueError, match="fallen"):
        difference(before, after)
    result = run("check", str(SAMPLES / "three_tokens.json"), "--counters",
                 str(DATA / "llamacpp_metrics.prom"), "--counters-before",
                 str(DATA / "vllm_metrics.prom"))  # fmt: skip
    assert result.code == 2


@given(st.integers(1, 40), st.integers(1, 19), st.data())
def test_the_bound_covers_the_exact_tails(n: int, twentieths: int, data: Any) -> None:
    """Against the binomial tail itself, both ways."""
    mean = Fraction(twentieths, 20)
    k = data.draw(st.integers(0, n))
    chance = [comb(n, i) * mean**i * (1 - mean) ** (n - i) for i in range(n + 1)]
    share = Fraction(k, n)
    exact = sum(chance[k:]) if share > mean else sum(chance[: k + 1])
    if share != mean:
        assert exact <= Fraction(tail(share, mean, n))


def test_a_rate_above_what_one_draft_can_reach_is_an_error() -> None:
    exact = FirstPositions(10, Interval.of(7), Interval.of(7))
    many = Counters("x", "x", "x", steps=1000, accepted_at=(800,))
    few = Counters("x", "x", "x", steps=10, accepted_at=(8,))
    low = Counters("x", "x", "x", steps=1000, accepted_at=(600,))
    assert [f.severity.value for f in review((many,), exact).findings] == ["error"]
    assert review((few,), exact).findings == []
    assert [f.severity.value for f in review((low,), exact).findings] == ["warning"]


def test_a_rate_of_one_beside_rows_that_reject_sometimes(tmp_path: Path) -> None:
    """Three tokens, acceptance 7/10: 1,000 steps that accept everything."""
    counts = {"num_spec_steps": 1000, "num_draft_tokens": 1000, "num_accepted_draft_tokens": 1000,
              "acceptance_histogram": [0, 1000]}  # fmt: skip
    path = written(tmp_path, {"metrics": {"speculative_decoding": counts}})
    result = run(
        "check", str(SAMPLES / "three_tokens.json"), "--counters", path, "--format", "json"
    )
    assert result.code == 1
    report = result.json()
    assert report["verdict"] == "equal"  # of the rows; the counters are another matter
    (finding,) = report["findings"]
    assert finding["ident"] == "metric-mismatch"
    assert "above 7/10" in finding["message"]
    assert report["counters"][0]["comparisons"][0]["refuted"] is True
    allowed = run("check", str(SAMPLES / "three_tokens.json"), "--counters", path, "--allow",
                  "metric-mismatch")  # fmt: skip
    assert allowed.code == 0


def test_the_draft_rate_bounds_the_first_position() -> None:
    """Accepted / draft tokens is at most the rate of the first position, of equal lengths."""
    exact = FirstPositions(1, Interval.of(Fraction(1, 2)), Interval.of(Fraction(1, 2)))
    found = Counters("x", "x", "x", steps=500, draft_tokens=2000, accepted=1400, draft_length=4)
    (compared,) = comparisons(found, exact)
    assert compared.refuted
    assert compared.trials == 500
    assert not comparisons(
        Counters("x", "x", "x", draft_tokens=2000, accepted=1400), exact
    )  # without steps nothing says how many draft tokens share a fate


def test_inspect_shows_counters_with_their_definitions() -> None:
    result = run("inspect", str(DATA / "vllm_metrics.prom"))
    assert result.code == 0
    assert "12/23 = 0.5217" in result.stdout
    assert "accepted draft tokens / draft tokens" in result.stdout
    assert "counters stand beside a capture" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80 + len(str(DATA))

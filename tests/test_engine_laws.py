"""One configuration, many engines: recipes that give what the engines' own code printed.

Logits (2, 8/5, 3/5, 3/5, 0, -1), tokens 2 and 3 tie; prompt (1), output (2). The expected rows were
printed with four digits by the engines' filters (vLLM 0.33.0, SGLang 0.5.23, transformers 5.24.0,
llama.cpp 0c1e57098, mlx-lm 0.32.2) or computed from their formulas (FlashInfer 0.7.4, TensorRT-LLM,
exllamav3 1.6.5, Ollama).
"""

from __future__ import annotations

import pytest

from specdist.exact.law import RationalLaw
from specdist.model.row import FloatValues, Kind, NumberFormat, Row, Stage
from specdist.processing import apply_recipe, parse_recipe
from tests.processing_rows import PLACE, F, context, law, logits_row
from tests.test_processing_twins import float_probabilities

RECIPES = {
    "vllm pytorch": (
        "repetition-penalty:{r}",
        "frequency-penalty:{f}:scope=output",
        "presence-penalty:{s}:scope=output",
        "temperature:{t}:at-least=1/100",
        "min-p:{m}",
        "top-k:{k}",
        "top-p:{p}:threshold=float32:ties=highest-id",
    ),
    "vllm triton": (
        "repetition-penalty:{r}",
        "frequency-penalty:{f}:scope=output",
        "presence-penalty:{s}:scope=output",
        "temperature:{t}:at-least=1/100",
        "min-p:{m}",
        "top-k:{k}:ties=lowest-id",
        "top-p:{p}",
    ),
    "vllm flashinfer": (
        "repetition-penalty:{r}",
        "frequency-penalty:{f}:scope=output",
        "presence-penalty:{s}:scope=output",
        "temperature:{t}:at-least=1/100",
        "min-p:{m}",
        "top-k:{k}",
        "top-p:{p}:ties=all",
    ),
    # Overlap mode: additive penalties first. Joint filters: both look at the full law.
    "sglang flashinfer joint": (
        "frequency-penalty:{f}:scope=output",
        "presence-penalty:{s}:scope=output",
        "repetition-penalty:{r}:scope=output",
        "temperature:{t}:greedy-below=1/1000000",
        "top-p:{p}:ties=all",
        "top-k:{k}",
    ),
    # As soon as a request of the batch has min_p.
    "sglang flashinfer sequential": (
        "frequency-penalty:{f}:scope=output",
        "presence-penalty:{s}:scope=output",
        "repetition-penalty:{r}:scope=output",
        "temperature:{t}:greedy-below=1/1000000",
        "top-k:{k}",
        "top-p:{p}:ties=all",
        "min-p:{m}",
    ),
    # Top-p counts on the full law, so it stands before top-k.
    "sglang pytorch": (
        "frequency-penalty:{f}:scope=output",
        "presence-penalty:{s}:scope=output",
        "repetition-penalty:{r}:scope=output",
        "temperature:{t}:greedy-below=1/1000000",
        "top-p:{p}:boundary=exceed",
        "top-k:{k}:ties=lowest-id",
        "min-p:{m}",
    ),
    # No min-p, and penalties frozen over the drafted positions.
    "sglang verify": (
        "frequency-penalty:{f}:scope=output:drafts=frozen",
        "presence-penalty:{s}:scope=output:drafts=frozen",
        "repetition-penalty:{r}:scope=output:drafts=frozen",
        "temperature:{t}:greedy-below=1/1000000",
        "top-k:{k}",
        "top-p:{p}:ties=all",
    ),
    "transformers": (
        "repetition-penalty:{r}",
        "temperature:{t}",
        "top-k:{k}",
        "top-p:{p}:threshold=float32:ties=highest-id",
        "min-p:{m}",
    ),
    "llama.cpp": (
        "repetition-penalty:{r}:scope=last-64",
        "frequency-penalty:{f}:scope=last-64",
        "presence-penalty:{s}:scope=last-64",
        "top-k:{k}:ties=any",
        "top-p:{p}",
        "min-p:{m}",
        "temperature:{t}",
    ),
    "mlx-lm": (
        "repetition-penalty:{r}:scope=last-20",
        "presence-penalty:{s}:scope=last-20",
        "frequency-penalty:{f}:scope=last-20",
        "top-p:{p}:ties=all",
        "min-p:{m}",
        "top-k:{k}:ties=any",
        "temperature:{t}",
    ),
    "exllamav3": (
        "repetition-penalty:{r}",
        "presence-penalty:{s}",
        "frequency-penalty:{f}",
        "temperature:{t}",
        "min-p:{m}",
        "top-k:{k}:ties=any",
        "top-p:{p}",
    ),
    "ollama": (
        "top-k:{k}:ties=any",
        "temperature:{t}:at-least=1/10000000",
        "top-p:{p}:boundary=exceed",
        "min-p:{m}",
    ),
    "tensorrt-llm torch": (
        "repetition-penalty:{r}",
        "temperature:{t}:at-least=1/100000",
        "top-k:{k}",
        "top-p:{p}:boundary=exceed",
    ),
    "tensorrt-llm c++": (
        "temperature:{t}:plus=1/1000000",
        "repetition-penalty:{r}",
        "presence-penalty:{s}",
        "frequency-penalty:{f}",
        "top-k:{k}:ties=any",
        "top-p:{p}:boundary=partial",
    ),
}
"""Engine -> its steps in order; a step whose option is not set is left out."""

CONFIGURATIONS = {
    "A": {"t": "7/10"},
    "B": {"t": "7/10", "p": "9/10"},
    "C": {"t": "7/10", "k": "3"},
    "D": {"t": "7/10", "k": "3", "p": "9/10"},
    "E": {"t": "7/10", "m": "1/10"},
    "F": {"t": "7/10", "k": "3", "p": "9/10", "m": "1/10"},
    "G": {"t": "7/10", "k": "3", "p": "9/10", "m": "1/10", "r": "6/5"},
    "H": {"t": "7/10", "r": "6/5", "s": "1/2"},
}
"""T, top-k k, top-p p, min-p m, repetition r, presence s, frequency f."""

PLAIN = ".5245 .2962 .0710 .0710 .0301 .0072"
FOUR = ".5448 .3077 .0737 .0737 0 0"
LOW = ".5882 .3322 .0796 0 0 0"
HIGH = ".5882 .3322 0 .0796 0 0"
TWO = ".6391 .3609 0 0 0 0"
REPEATED = ".7216 .2784 0 0 0 0"
AT_ONE = ".5283 .2983 .0715 .0715 .0303 0"
AT_ONE_REPEATED = ".6574 .2536 0 .0890 0 0"
ALL_PRESENT = ".6883 .1300 .0395 .0932 .0395 .0095"
VLLM_PRESENT = ".6061 .2339 .0348 .0820 .0348 .0083"
SGLANG_PRESENT = ".5447 .3076 .0352 .0737 .0313 .0075"

LAWS = {
    "vllm pytorch": [PLAIN, FOUR, FOUR, HIGH, FOUR, HIGH, REPEATED, VLLM_PRESENT],
    "vllm triton": [PLAIN, FOUR, LOW, TWO, FOUR, TWO, REPEATED, VLLM_PRESENT],
    "vllm flashinfer": [PLAIN, FOUR, FOUR, FOUR, FOUR, FOUR, REPEATED, VLLM_PRESENT],
    "sglang flashinfer joint": [PLAIN, FOUR, FOUR, FOUR, "", "", "", SGLANG_PRESENT],
    "sglang flashinfer sequential": ["", "", "", "", FOUR, FOUR, TWO, ""],
    "sglang pytorch": [PLAIN, FOUR, LOW, LOW, FOUR, LOW, HIGH, SGLANG_PRESENT],
    "sglang verify": [PLAIN, FOUR, FOUR, FOUR, PLAIN, FOUR, TWO, SGLANG_PRESENT],
    "transformers": [PLAIN, FOUR, FOUR, HIGH, FOUR, HIGH, REPEATED, ""],
    "llama.cpp": [PLAIN, FOUR, LOW, LOW, AT_ONE, LOW, AT_ONE_REPEATED, ALL_PRESENT],
    "mlx-lm": [PLAIN, FOUR, LOW, LOW, AT_ONE, LOW, AT_ONE_REPEATED, ALL_PRESENT],
    "exllamav3": [PLAIN, FOUR, LOW, TWO, FOUR, TWO, REPEATED, ALL_PRESENT],
    "ollama": [PLAIN, FOUR, LOW, TWO, FOUR, TWO, "", ""],
    "tensorrt-llm torch": [PLAIN, FOUR, FOUR, LOW, PLAIN, LOW, REPEATED, ""],
    "tensorrt-llm c++": [
        PLAIN, "", "", ".6536 .3464 0 0 0 0", "", "", "",
        ".6615 .1548 .0471 .0895 .0380 .0091",
    ],
}  # fmt: skip
"""Engine -> its law under A to H; empty where the engine has no such option, or none is known."""

LOGITS = ["2", "1.6", "0.6", "0.6", "0", "-1"]
SEEN = context((1, 2), prompt_length=1)
CASES = [
    (engine, letter, expected)
    for engine, laws in LAWS.items()
    for letter, expected in zip(CONFIGURATIONS, laws, strict=True)
    if expected
]


def recipe(engine: str, letter: str) -> str:
    """The recipe of an engine under a configuration."""
    options = CONFIGURATIONS[letter]
    steps = [step for step in RECIPES[engine] if any(f"{{{name}}}" in step for name in options)]
    return ",".join(step.format(**options) for step in steps)


def digits(values: list[F]) -> list[str]:
    return [f"{float(value):.4f}".removeprefix("0") if value else "0" for value in values]


@pytest.mark.parametrize(("engine", "letter", "expected"), CASES)
def test_the_recipe_gives_the_engine_s_row(engine: str, letter: str, expected: str) -> None:
    made = law(recipe(engine, letter), logits_row(LOGITS), SEEN)
    assert digits(list(made.values)) == expected.split()


@pytest.mark.parametrize(("engine", "letter", "expected"), CASES)
def test_a_dumped_row_gives_it_too(engine: str, letter: str, expected: str) -> None:
    import numpy as np

    array = np.array([float(value) for value in LOGITS], dtype=np.float32)
    row = Row(FloatValues(array), Kind.LOGITS, Stage.RAW, NumberFormat.FLOAT32, PLACE)
    made = apply_recipe(parse_recipe(recipe(engine, letter)), row, SEEN).law
    assert not isinstance(made, RationalLaw)
    assert digits(float_probabilities(made)) == expected.split()


def test_one_configuration_has_five_laws() -> None:
    assert len({laws[3] for laws in LAWS.values() if laws[3]}) == 5


def test_a_lazy_grammar_is_neither_mask() -> None:
    lazy = law("top-k:3:ties=any,lazy-allowed:2+4+5", logits_row(LOGITS))
    first = law("allowed:2+4+5,top-k:3:ties=any", logits_row(LOGITS))
    assert digits(list(lazy.values)) == ["0", "0", ".6264", "0", ".2732", ".1005"]
    assert digits(list(first.values)) == ["0", "0", ".5712", "0", ".3135", ".1153"]

"""One configuration, many engines: explicit recipes give what the engines' own code printed.

Logits (2, 8/5, 3/5, 3/5, 0, -1), tokens 2 and 3 tie; prompt (1), output (2). The expected rows were
printed with four digits by the engines' filters (vLLM 0.33.0, SGLang 0.5.23, transformers 5.24.0,
llama.cpp 0c1e57098, mlx-lm 0.32.2) or computed from their formulas.
"""

from __future__ import annotations

import pytest

from tests.processing_rows import context, law, logits_row

LOGITS = ["2", "1.6", "0.6", "0.6", "0", "-1"]
SEEN = context((1, 2), prompt_length=1)
T = "temperature:7/10"
K_ALL, K_LOW = "top-k:3", "top-k:3:ties=lowest-id"
P_LOW, P_HIGH, P_ALL = "top-p:9/10", "top-p:9/10:ties=highest-id", "top-p:9/10:ties=all"
P_EXCEED = "top-p:9/10:boundary=exceed"
MIN = "min-p:1/10"
REP_ALL, REP_OUT = "repetition-penalty:6/5", "repetition-penalty:6/5:scope=output"
PRES_ALL, PRES_OUT = "presence-penalty:1/2", "presence-penalty:1/2:scope=output"
REP_64 = "repetition-penalty:6/5:scope=last-64"

PLAIN = ".5245 .2962 .0710 .0710 .0301 .0072"
FOUR = ".5448 .3077 .0737 .0737 0 0"
LOW = ".5882 .3322 .0796 0 0 0"
HIGH = ".5882 .3322 0 .0796 0 0"
TWO = ".6391 .3609 0 0 0 0"

TABLES = {
    "A every engine": (T, PLAIN),
    "B vllm pytorch": (f"{T},{P_HIGH}", FOUR),
    "B vllm triton": (f"{T},{P_LOW}", FOUR),
    "B sglang pytorch": (f"{T},{P_EXCEED}", FOUR),
    "B llama.cpp": (f"{P_LOW},{T}", FOUR),
    "B mlx-lm": (f"{P_ALL},{T}", FOUR),
    "C transformers": (f"{T},{K_ALL}", FOUR),
    "C vllm triton": (f"{T},{K_LOW}", LOW),
    "C sglang pytorch": (f"{T},{K_LOW}", LOW),
    "C llama.cpp": (f"{K_LOW},{T}", LOW),
    "C ollama": (f"{K_LOW},{T}", LOW),
    "D transformers": (f"{T},{K_ALL},{P_HIGH}", HIGH),
    "D vllm triton": (f"{T},{K_LOW},{P_LOW}", TWO),
    "D exllamav3": (f"{T},{K_LOW},{P_LOW}", TWO),
    "D ollama": (f"{K_LOW},{T},{P_EXCEED}", TWO),
    "D vllm flashinfer": (f"{T},{K_ALL},{P_ALL}", FOUR),
    "D sglang flashinfer joint": (f"{T},{P_ALL},{K_ALL}", FOUR),
    "D sglang verify": (f"{T},{K_ALL},{P_ALL}", FOUR),
    "D sglang pytorch full law": (f"{T},{P_EXCEED},{K_LOW}", LOW),
    "D llama.cpp": (f"{K_LOW},{P_LOW},{T}", LOW),
    "D mlx-lm": (f"{P_ALL},{K_LOW},{T}", LOW),
    "D tensorrt-llm torch": (f"{T},{K_ALL},{P_EXCEED}", LOW),
    "E transformers": (f"{T},{MIN}", FOUR),
    "E vllm": (f"{T},{MIN}", FOUR),
    "E llama.cpp": (f"{MIN},{T}", ".5283 .2983 .0715 .0715 .0303 0"),
    "E sglang verify": (T, PLAIN),
    "F transformers": (f"{T},{K_ALL},{P_HIGH},{MIN}", HIGH),
    "F vllm pytorch": (f"{T},{MIN},{K_ALL},{P_HIGH}", HIGH),
    "F vllm triton": (f"{T},{MIN},{K_LOW},{P_LOW}", TWO),
    "F ollama": (f"{K_LOW},{T},{P_EXCEED},{MIN}", TWO),
    "F vllm flashinfer": (f"{T},{MIN},{K_ALL},{P_ALL}", FOUR),
    "F sglang pytorch": (f"{T},{P_EXCEED},{K_LOW},{MIN}", LOW),
    "F llama.cpp": (f"{K_LOW},{P_LOW},{MIN},{T}", LOW),
    "F mlx-lm": (f"{P_ALL},{MIN},{K_LOW},{T}", LOW),
    "G transformers": (f"{REP_ALL},{T},{K_ALL},{P_HIGH},{MIN}", ".7216 .2784 0 0 0 0"),
    "G vllm triton": (f"{REP_ALL},{T},{MIN},{K_LOW},{P_LOW}", ".7216 .2784 0 0 0 0"),
    "G sglang pytorch": (f"{REP_OUT},{T},{P_EXCEED},{K_LOW},{MIN}", HIGH),
    "G sglang verify": (f"{REP_OUT},{T},{K_ALL},{P_ALL}", TWO),
    "G llama.cpp": (f"{REP_64},{K_LOW},{P_LOW},{MIN},{T}", ".6574 .2536 0 .0890 0 0"),
    "G mlx-lm": (f"{REP_ALL},{P_ALL},{MIN},{K_LOW},{T}", ".6574 .2536 0 .0890 0 0"),
    "H vllm": (f"{REP_ALL},{PRES_OUT},{T}", ".6061 .2339 .0348 .0820 .0348 .0083"),
    "H sglang": (f"{PRES_OUT},{REP_OUT},{T}", ".5447 .3076 .0352 .0737 .0313 .0075"),
    "H llama.cpp": (f"{REP_ALL},{PRES_ALL},{T}", ".6883 .1300 .0395 .0932 .0395 .0095"),
    "H tensorrt-llm c++": (f"{T},{REP_ALL},{PRES_ALL}", ".6615 .1548 .0471 .0895 .0380 .0091"),
}


@pytest.mark.parametrize("case", TABLES)
def test_the_recipe_gives_the_engine_s_row(case: str) -> None:
    recipe, expected = TABLES[case]
    made = law(recipe, logits_row(LOGITS), SEEN)
    assert [f"{float(value):.4f}".replace("0.", ".") for value in made.values] == [
        ".0000" if entry == "0" else entry for entry in expected.split()
    ]
    assert [bool(value) for value in made.values] == [entry != "0" for entry in expected.split()]


def test_one_configuration_has_five_laws() -> None:
    rows = {law(TABLES[case][0], logits_row(LOGITS)).values for case in TABLES if case[0] == "D"}
    assert len({tuple(bool(value) for value in row) for row in rows}) == 4

"""Rules over proposals from a Python file: the protocol, its checks, who may name them."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tests import oracle_joint as oracle
from tests.cli import SAMPLES, Result, exact, run
from tests.reader_files import write

RULES = SAMPLES / "rules"
ROWS = ("--target", "1/2,3/10,1/5", "--draft", "1/5,1/2,3/10")
TWO = (*ROWS, "--draft-length", 2)
P, Q = oracle.row("1/2", "3/10", "1/5"), oracle.row("1/5", "1/2", "3/10")
OWN = "--rule"


def rule_file(folder: Path, *body: str, head: str = "class Mine:") -> str:
    """A file with the class Mine, whose method has this body; its name with the class."""
    lines = ["from fractions import Fraction as F", "", head]
    lines += ["    def outcomes(self, proposal, models):", *(f"        {line}" for line in body)]
    return write(folder, "mine.py", "\n".join(lines) + "\n") + ":Mine"


def what_if(rule: object, *options: object) -> Result:
    return run("what-if", *TWO, OWN, rule, "--format", "json", "--exact", *options)


def flat(result: Result) -> str:
    return " ".join(result.stderr.split())


# ---- rules that users write ---------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_shipped_token_chain_is_token_verification(length: int) -> None:
    models = oracle.pair(oracle.constant(P, length + 1), oracle.constant(Q, length + 1))
    outcomes = oracle.token_chain(models, length)
    lengths = oracle.accepted_lengths(outcomes, length)
    rule = f"{RULES}/token_chain.py:TokenChain"
    result = run("what-if", *ROWS, "--draft-length", length, OWN, rule, "--format", "json",
                 "--exact")  # fmt: skip
    step = result.json()["steps"][0]
    assert (result.code, step["verdict"], step["rule"]) == (0, "equal", rule)
    assert [exact(value) for value in step["joint"]["accepted_length"]] == lengths
    assert step["joint"]["route"] == "proposals"


def test_the_shipped_faulty_rule_differs_by_what_its_coin_costs() -> None:
    models = oracle.pair(oracle.constant(P, 3), oracle.constant(Q, 3))
    ratio = [min(Fraction(1), p / q) for p, q in zip(P, Q, strict=True)]
    residual = oracle.normalise(oracle.over(P, Q))
    outcomes = []
    for tokens, mass in oracle.drafts(models, 2):
        first, both = ratio[tokens[0]], min(ratio[token] for token in tokens)
        outcomes += [
            (mass * (1 - first), (), residual),
            (mass * (first - both), tokens[:1], residual),
            (mass * both, tokens, P),
        ]
    law: dict[tuple[int, ...], Fraction] = {}
    for mass, kept, then in outcomes:
        for token, chance in enumerate(then):
            for rest, share in oracle.plain(models.target, 2 - len(kept)).items():
                key = (*kept, token, *rest)
                law[key] = law.get(key, Fraction(0)) + mass * chance * share
    distance = oracle.total_variation(law, oracle.plain(models.target, 3))
    assert distance > 0
    result = what_if(f"{RULES}/one_coin.py:OneCoin")
    step = result.json()["steps"][0]
    assert (result.code, step["verdict"]) == (1, "different")
    assert exact(step["joint"]["total_variation"]) == distance


def test_samples_are_short() -> None:
    for path in RULES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 25, path


def test_a_tree_a_law_by_hand_and_outcome_objects(tmp_path: Path) -> None:
    """Keeps the first child; the other tokens of the tree are known by their nodes."""
    rule = rule_file(
        tmp_path,
        "import specdist",
        "first, second = proposal.tree.children(-1)",
        "assert proposal.prefix(second) == (proposal.tokens[second],)",
        "assert models.size == 3 and models.one_hot == frozenset()",
        "kept = proposal.prefix(first)",
        "law = models.law('bonus-from', kept)",
        "yield specdist.Outcome(F(1, 3), kept, law, bonus=True)",
        "yield F(1, 3), kept, list(law)",
        "yield F(1, 3), [], kept[0]",
        "yield 0, (), None",
    )
    result = run("what-if", *ROWS, "--tree", 2, OWN, rule, "--format", "json", "--exact",
                 "--horizon", 1)  # fmt: skip
    step = result.json()["steps"][0]
    # Whatever the coin says, the first token is the first child, which is drawn from the draft.
    assert exact(step["joint"]["total_variation"]) == Fraction(3, 10)
    assert exact(step["joint"]["expected_accepted"]) == Fraction(2, 3)


def test_attributes(tmp_path: Path) -> None:
    own = rule_file(
        tmp_path,
        "yield 1, (), 0",
        head="class Mine:\n    name = 'always-zero'\n    title = 'emits token 0'\n"
        "    lossless = False",
    )
    report = what_if(own).json()
    assert report["steps"][0]["rule"] == own
    assert [finding["ident"] for finding in report["steps"][0]["findings"]] == ["lossy-by-design"]


def test_a_dataclass_with_a_method_that_returns_a_list(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class Mine:\n"
        "    token: int = 0\n"
        "    def outcomes(self, proposal, models):\n"
        "        return [(1, (), models.law('reference', ()))]\n"
    )
    assert what_if(write(tmp_path, "mine.py", text) + ":Mine").code == 0


def test_captures_recipes_and_workers(tmp_path: Path) -> None:
    step = {"models": {"target": ["1/2", "3/10", "1/5"], "draft": ["1/5", "1/2", "3/10"]},
            "draft_length": 2, "settings": {"top_p": "9/10", "rule": "token"}}  # fmt: skip
    path = write(tmp_path, "capture.json", json.dumps({"steps": [step] * 3}))
    rule = f"{RULES}/token_chain.py:TokenChain"
    result = run("check", path, OWN, rule, "--workers", 2, "--format", "json")
    assert result.code == 0
    assert [found["rule"] for found in result.json()["steps"]] == [rule] * 3


def test_compare_takes_it_as_a_variant() -> None:
    result = run("compare", *TWO, OWN, "token", OWN, f"{RULES}/one_coin.py:OneCoin")
    assert result.code == 0
    assert "one_coin.py:OneCoin" in result.stdout
    assert "7/50" in result.stdout


def test_the_line_to_paste_names_the_file(tmp_path: Path) -> None:
    rule = f"{RULES}/one_coin.py:OneCoin"
    shown = run("what-if", *TWO, OWN, rule, "--format", "json").json()
    (finding,) = shown["steps"][0]["findings"]
    assert finding["reproduce"].endswith(f"| specdist check - --rule {rule}")
    document = finding["reproduce"].partition("'%s' '")[2].partition("' |")[0]
    again = run("check", write(tmp_path, "c.json", document), OWN, rule, "--format", "json").json()
    assert again["steps"][0]["joint"] == shown["steps"][0]["joint"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    before = list(sys.path)
    rule = rule_file(tmp_path, "yield 1, (), 0")
    assert what_if(rule).code == 1
    assert sys.path == before
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


# ---- what is refused ----------------------------------------------------------------------------

BAD_OUTCOMES: list[tuple[tuple[str, ...], str, str]] = [
    # the body, the place after the file, a part of the message
    (("yield F(1, 2), (), 0",), 'proposal "0,0"', "its masses sum to 1/2"),
    (("yield F(1, 2), (), 0",) * 3, 'proposal "0,0"', "its masses sum to at least 3/2"),
    (("return []",), 'proposal "0,0"', "it has no outcomes"),
    (("yield F(-1, 2), (), 0",), 'proposal "0,0", outcome 1', "the mass is negative, -1/2"),
    (
        ("yield F(1, 2), (), 0", "yield F(-1, 2), (), 0", "yield 1, (), 0"),
        'proposal "0,0", outcome 2',
        "the mass is negative, -1/2",
    ),
    (("yield 0.5, (), 0",), 'proposal "0,0", outcome 1', "the mass is a float, 0.5"),
    (("yield True, (), 0",), 'proposal "0,0", outcome 1', "the mass is a bool"),
    (("yield '1', (), 0",), 'proposal "0,0", outcome 1', "the mass is a str, '1'"),
    (("yield 1, (1,), 0",), 'proposal "0,0", outcome 1', "tokens (1) are no path"),
    (("yield 1, (0, 0, 0), 0",), 'proposal "0,0", outcome 1', "(0,0,0) are no path"),
    (("yield 1, (0.0,), 0",), 'proposal "0,0", outcome 1', "are no path"),
    (("yield 1, 0, 0",), 'proposal "0,0", outcome 1', "the accepted tokens are an int"),
    (("yield 1, (), 3",), 'proposal "0,0", outcome 1', "next token 3 is outside the vocabulary"),
    (("yield 1, (), -1",), 'proposal "0,0", outcome 1', "next token -1 is outside"),
    (("yield 1, (), 1.0",), 'proposal "0,0", outcome 1', "the next token is a float, 1.0"),
    (("yield 1, (), [1, 0]",), 'proposal "0,0", outcome 1', "the law has 2 numbers"),
    (("yield 1, (), [F(1, 2), 0, 0]",), 'proposal "0,0", outcome 1', "the law sums to 1/2"),
    (("yield 1, (), [2, -1, 0]",), 'proposal "0,0", outcome 1', "the law at 1 is negative, -1"),
    (("yield 1, (), [1, 0.0, 0]",), 'proposal "0,0", outcome 1', "the law at 1 is a float"),
    (("yield 1, (), 0, 'yes'",), 'proposal "0,0", outcome 1', "bonus cannot be a str, 'yes'"),
    (("yield 1, ()",), 'proposal "0,0", outcome 1', "an outcome cannot be a tuple"),
    (("yield 1",), 'proposal "0,0", outcome 1', "an outcome cannot be an int"),
    (("return None",), "", "outcomes returned None"),
    (("if proposal.tokens == (2, 1): yield 1, (), 9", "yield 1, (), 0"),
     'proposal "2,1", outcome 1', "next token 9"),
    (("yield 1 / 0, (), 0",), "line 5", 'raised ZeroDivisionError for the proposal "0,0": div'),
    (("x = []", "yield 1, (), x[3]"), "line 6", "raised IndexError"),
    (("import json", "json.loads('{')", "yield 1, (), 0"), "line 6", "raised JSONDecodeError"),
    (("raise SystemExit(0)", "yield 1, (), 0"), "line 5", "raised SystemExit"),
    (("yield 1, (), models.law('acept_target', ())",), "line 5", "no role 'acept_target'"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "place", "message"), BAD_OUTCOMES, ids=str)
def test_bad_outcomes_exit_2_with_rule_and_place(
    body: tuple[str, ...], place: str, message: str, tmp_path: Path
) -> None:
    rule = rule_file(tmp_path, *body)
    result = what_if(rule)
    assert (result.code, result.stdout) == (2, "")
    assert message in flat(result)
    file = rule.removesuffix(":Mine")
    assert f"--> {file}{', ' if place else ''}{place}" in flat(result)
    assert "= expected:" in result.stderr or "= help:" in result.stderr


def test_a_one_hot_role_has_no_law(tmp_path: Path) -> None:
    rule = rule_file(tmp_path, "yield 1, (), models.law('accept_draft', ())")
    result = what_if(rule, "--role", "accept_draft=one-hot")
    assert result.code == 2
    assert "the role accept_draft is one-hot and has no law" in flat(result)
    seen = rule_file(tmp_path, "assert models.one_hot == {'accept_draft'}", "yield 1, (), 0")
    assert what_if(seen, "--role", "accept_draft=one-hot").code == 1


def test_a_missing_prefix_stays_the_fault_of_the_capture(tmp_path: Path) -> None:
    table = {"rows": {"": ["1/2", "3/10", "1/5"]}}
    document = {"models": {"target": table, "draft": table}, "draft_length": 1}
    path = write(tmp_path, "capture.json", json.dumps(document))
    rule = rule_file(tmp_path, "yield 1, (), models.law('reference', (1,))")
    result = run("check", path, OWN, rule)
    assert result.code == 2
    assert 'no row for the prefix "1"' in flat(result)
    assert f"{path}, models.target" in flat(result)


def test_verbose_shows_the_traceback(tmp_path: Path) -> None:
    rule = rule_file(tmp_path, "yield 1 / 0, (), 0")
    assert "Traceback" not in what_if(rule).stderr
    assert "-v shows the traceback" in flat(what_if(rule))
    loud = what_if(rule, "-v")
    assert loud.code == 2
    assert "Traceback (most recent call last)" in loud.stderr
    assert "yield 1 / 0, (), 0" in loud.stderr


FILES: list[tuple[str, str, str]] = [
    # text of the file, the class that is asked for, a part of the message
    ("class A(:\n", "A", "the rule file is not Python: invalid syntax"),
    ("\0", "A", "is not Python"),
    ("import nothing_of_this_name\n", "A", "raised ModuleNotFoundError while it was loaded"),
    ("x = 1 / 0\n", "A", "raised ZeroDivisionError while it was loaded: division by zero"),
    ("import sys\nsys.exit(0)\n", "A", "raised SystemExit while it was loaded"),
    ("class Alpha:\n    pass\n", "Alphq", "there is no class 'Alphq' --> FILE"),
    ("class Alpha:\n    pass\n", "Alphq", "did you mean Alpha?"),
    ("class Alpha:\n    pass\n", "", "the class of the rule is missing"),
    ("A = 3\n", "A", "A is int, not a class"),
    ("class A:\n    pass\n", "A", "has no method outcomes"),
    ("class A:\n    outcomes = 3\n", "A", "has no method outcomes"),
    ("class A:\n    def outcomes(self, proposal): pass\n", "A", "does not take a proposal and"),
    ("class A:\n    def outcomes(self, a, b, c): pass\n", "A", "does not take a proposal and"),
    ("class A:\n    def __init__(self, x): pass\n", "A", "raised TypeError while it was loaded"),
    ("class A:\n    name = 3\n    def outcomes(self, p, m): pass\n", "A", "name is int"),
    ("class A:\n    lossless = 1\n    def outcomes(self, p, m): pass\n", "A", "lossless is int"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "message"), FILES, ids=str)
def test_files_that_hold_no_rule(text: str, name: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, "mine.py", text)
    result = what_if(f"{path}:{name}")
    assert (result.code, result.stdout) == (2, "")
    assert message.replace("FILE", path) in flat(result)


def test_no_file_and_no_class(tmp_path: Path) -> None:
    missing = what_if(f"{tmp_path}/none.py:Mine")
    assert missing.code == 2
    assert "the rule file cannot be read: no such file" in flat(missing)
    assert what_if(f"{rule_file(tmp_path, 'yield 1, (), 0').removesuffix(':Mine')}").code == 2


def test_a_folder_is_no_rule(tmp_path: Path) -> None:
    (tmp_path / "mine.py").mkdir()
    result = what_if(f"{tmp_path}/mine.py:Mine")
    assert result.code == 2
    assert "cannot be read: is a directory" in flat(result)


def test_an_endless_rule_is_stopped(tmp_path: Path) -> None:
    rule = rule_file(tmp_path, "while True: yield 0, (), 0")
    result = what_if(rule, "--max-outcomes", 1000)
    assert result.code == 2
    assert "--max-outcomes" in flat(result)


# ---- only the command line runs code -----------------------------------------------------------

LOUD = "import pathlib\npathlib.Path({!r}).write_text('ran')\nclass Mine:\n    pass\n"


@pytest.fixture
def trap(tmp_path: Path) -> tuple[str, Path]:
    """A rule whose file leaves a mark when it is run."""
    mark = tmp_path / "mark"
    return write(tmp_path, "trap.py", LOUD.format(str(mark))) + ":Mine", mark


def test_a_capture_cannot_name_a_file(trap: tuple[str, Path], tmp_path: Path) -> None:
    rule, mark = trap
    rows = {"target": ["1/2", "1/2", 0], "draft": ["1/2", "1/2", 0]}
    for document in ({"models": rows, "draft_length": 1}, rows):
        path = write(tmp_path, "c.json", json.dumps({**document, "settings": {"rule": rule}}))
        result = run("check", path)
        assert result.code == 2
        assert "is a Python file" in flat(result)
        assert "only --rule on the command line" in flat(result)
        assert f"--> {path}, settings.rule" in flat(result)
    assert not mark.exists()


def test_a_config_file_cannot_name_a_file(
    trap: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule, mark = trap
    write(tmp_path, "specdist.toml", f'rule = "{rule}"\n')
    monkeypatch.chdir(tmp_path)
    for options in ((), (OWN, "token")):
        result = run("what-if", *TWO, *options)
        assert result.code == 2
        assert "only --rule on the command line" in flat(result)
        assert "--> specdist.toml" in flat(result)
    assert not mark.exists()


def test_python_cannot_name_a_file(trap: tuple[str, Path]) -> None:
    import specdist

    rule, mark = trap
    with pytest.raises(specdist.SettingsError, match="is a Python file"):
        specdist.check([1, 0], [1, 0], rule=rule)
    assert not mark.exists()


def test_rows_of_one_path_do_not_suffice(tmp_path: Path) -> None:
    rule = rule_file(tmp_path, "yield 1, (), 0")
    position = {"target": ["1/2", "3/10", "1/5"], "draft": ["1/5", "1/2", "3/10"]}
    block = write(tmp_path, "block.json", json.dumps({"positions": [position] * 2}))
    result = run("check", block, OWN, rule)
    assert result.code == 2
    assert "is about whole proposals, and this step has rows of one path" in flat(result)
    typed = run("what-if", *ROWS, OWN, rule)
    assert typed.code == 2
    assert "--draft-length N, or --tree COUNTS" in flat(typed)

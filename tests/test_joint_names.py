"""The names of rules over proposals are known without their modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from specdist.rules.joint.names import NAMES, is_joint
from specdist.rules.joint.registry import JOINT_RULES

SAMPLES = Path(__file__).parent.parent / "sample_inputs"


def test_the_names_are_those_of_the_registry() -> None:
    assert {rule.name: rule.aliases for rule in JOINT_RULES} == NAMES
    assert list(NAMES) == [rule.name for rule in JOINT_RULES]
    assert is_joint("token_chain:empty=first")
    assert is_joint("specinfer")
    assert not is_joint("token")


def test_a_check_of_rows_loads_no_rule_over_proposals() -> None:
    code = (
        "import sys\n"
        "from specdist.__main__ import main\n"
        f"sys.argv = ['specdist', 'check', {str(SAMPLES / 'three_tokens.json')!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name.startswith(('specdist.rules.joint.', "
        "'specdist.rules.lengths.', 'specdist.verify.joint.'))], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "['specdist.rules.joint.names']"

"""``--child-acceptance 1/2,1/4 --tree-nodes 4``: the best tree of drafts for that many nodes."""

from __future__ import annotations

from fractions import Fraction

from specdist.cli.option_values import share, whole
from specdist.cost.acceptance import tokens_law
from specdist.cost.lines import cost_lines
from specdist.cost.stated import MOST_BITS, MOST_LENGTH
from specdist.cost.tree_sizing import best_tree
from specdist.cost.wording import brief
from specdist.errors import SettingsError
from specdist.model.cost import CostSettings
from specdist.model.draft_tree import DraftTree
from specdist.model.figure import Figure
from specdist.model.joint_report import CostLine
from specdist.model.value_texts import shortened

_NAME, _NODES = "child-acceptance", "tree-nodes"
_SHOWN = 200


def tree_lines(text: str, nodes: str | None, options: CostSettings) -> tuple[CostLine, ...]:
    """Expected tokens of the best tree, the tree itself, and what they are worth under the costs.

    Raises SettingsError for numbers outside [0, 1], that rise or sum to more than 1, and for sizes
    beyond what is worked out.
    """
    if nodes is None:
        raise SettingsError(
            f"--{_NAME} is given without --{_NODES}",
            expected=f"--{_NODES} N, the root included",
        )
    chances = tuple(share(_NAME, part.strip()) for part in text.split(",")[: MOST_LENGTH + 1])
    size = whole(_NODES, nodes, 1)
    most = _most_nodes(chances)
    if size > most or len(chances) > MOST_LENGTH:
        raise SettingsError(
            f"{_NODES}={shortened(nodes)} is out of range for this {_NAME}",
            expected=f"from 1 to {most} nodes, and at most {MOST_LENGTH} children",
        )
    try:
        best = best_tree(chances, size - 1)
    except SettingsError as error:
        error.place = f"command line, --{_NAME}"
        raise
    survivals = _survivals(best.tree, chances)
    assumes = (
        f"child 1, 2, ... of any node is the accepted one with chance {_listed(chances)}, given "
        "that its parent is"
    )
    shape = CostLine("best tree", None, _shape(best.tree), assumes)
    tokens = Figure.of(best.expected_tokens)
    head = CostLine("expected tokens a step", tokens, "bonus token included", assumes)
    more = cost_lines(
        best.expected_tokens,
        tokens_law(survivals),
        best.tree.depth,
        options,
        draft_tokens=best.tree.nodes,
    )
    return (head, shape, *more)


def _most_nodes(chances: tuple[Fraction, ...]) -> int:
    bits = max(chance.denominator.bit_length() for chance in chances)
    return max(1, min(MOST_LENGTH, MOST_BITS // bits))


def _survivals(tree: DraftTree, chances: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """``Pr(at least d draft tokens are accepted)``: the chances of the nodes of depth d, of which
    one at most is accepted."""
    reach: list[Fraction] = []
    total = [Fraction(0)] * tree.depth
    for node, parent in enumerate(tree.parents):
        before = Fraction(1) if parent < 0 else reach[parent]
        reach.append(before * chances[tree.ranks[node]])
        total[tree.levels_of[node] - 1] += reach[node]
    return tuple(total)


def _shape(tree: DraftTree) -> str:
    """How it is written in a capture, and its size."""
    parents = ", ".join(map(str, tree.parents[:_SHOWN]))
    rest = ", ..." if tree.nodes > _SHOWN else ""
    size = f"{tree.nodes + 1} nodes with the root, depth {tree.depth}"
    return f'{size}: {{"parents": [{parents}{rest}]}}'


def _listed(chances: tuple[Fraction, ...]) -> str:
    shown = ", ".join(brief(chance) for chance in chances[:8])
    return shown + (", ..." if len(chances) > 8 else "")

"""Bugs to plant in the joint code, each with what it replaces: `test_joint_planted_bugs` shows that
the comparison with the oracle sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from specdist.model.role import Role
from tests.planted_bugs import PlantedBug

ZERO, ONE = Fraction(0), Fraction(1)
JOINT, VERIFY, LENGTHS = "specdist.rules.joint", "specdist.verify.joint", "specdist.rules.lengths"


def _no_weight(original: Any) -> Any:
    """[S - U]_+ in place of [r S - U]_+."""
    return lambda weight, *rest: original(ONE, *rest)


def _threshold_is_surplus(original: Any) -> Any:
    return lambda weight, left: min(left, ONE)


def _uncapped_weight(original: Any) -> Any:
    """r_i = r_{i-1} P/Q without the minimum."""

    def acceptance(token: Any, prefix: Any, laws: Any, use: Any, weight: Any = ONE) -> Any:
        tested = laws.law(_role("accept_draft"), prefix)[token]
        return weight * laws.law(_role("accept_target"), prefix)[token] / tested

    return acceptance


def _role(name: str) -> Any:

    return Role(name)


def _token_weight(original: Any) -> Any:
    """r_i = min(1, P/Q): the weight before is forgotten."""
    return lambda token, prefix, laws, use, weight: original(token, prefix, laws, use)


def _first_heads(original: Any) -> Any:
    """The first heads, not the last, is where independent coins stop."""

    def stops(thresholds: Any) -> Any:
        from specdist.rules.joint.stops import Stops

        chances, none_before = [], ONE
        for threshold in thresholds:
            chances.append(none_before * threshold)
            none_before *= 1 - threshold
        return Stops((none_before, *chances))

    return stops


def _coins(name: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda original: {**original, name: make(original[name])}


def _shared_as_independent(original: Any) -> Any:
    from specdist.rules.joint.block_coins import independent

    return independent


def _first_drafter(original: Any) -> Any:
    """Every rank has the rows of the first drafter."""
    return lambda self, rank=0: original(self, 0)


def _next_drafter(original: Any) -> Any:
    """The rows of the next rank's drafter."""
    return lambda self, rank=0: original(self, (rank + 1) % len(self.drafts))


def _not_merged(original: Any) -> Any:
    return lambda tree, tokens, index: (index,)


def _copies_twice(original: Any) -> Any:
    """The children of a merged duplicate are counted twice."""

    def copies(tree: Any, tokens: Any, index: int) -> Any:
        found = original(tree, tokens, index)
        return found if len(found) == 1 else (*found, found[-1])

    return copies


def _not_renormalised(original: Any) -> Any:
    from specdist.rules.joint.node_rule import outside

    return outside


def _not_normalised_excess(original: Any) -> Any:
    """The next stage is tested against [A - T]_+ as it is."""

    def excess(target: Any, draft: Any) -> Any:
        from specdist.rules.joint.recovered import positive_part

        return positive_part(target, draft)

    return excess


def _draft_is_next(original: Any) -> Any:
    """After a rejection the positive part of draft - target."""
    return lambda target, draft: original(draft, target)


def _highest_tie(original: Any) -> Any:
    return lambda row, tokens: max(tokens, key=lambda token: (row[token], token))


def _with_replacement(original: Any) -> Any:
    """Siblings without replacement are drawn as if independent, and may repeat."""

    def drawn(tree: Any, rows: Any, prefix: Any) -> Any:
        if tree.siblings == "without-replacement":
            return original(replace(tree, siblings="iid"), rows, prefix)
        return original(tree, rows, prefix)

    return drawn


def _bonus_before(original: Any) -> Any:
    """The bonus row of the prefix before."""

    def law(self: Any, role: Any, prefix: Any, rank: int = 0) -> Any:
        short = prefix[:-1] if role == "bonus_from" else prefix
        return original(self, role, short, rank)

    return law


def _bonus_is_reference(original: Any) -> Any:
    """The bonus token follows the reference whatever bonus_from says."""

    def law(self: Any, role: Any, prefix: Any, rank: int = 0) -> Any:
        asked = type(role)("reference") if role == "bonus_from" else role
        return original(self, asked, prefix, rank)

    return law


def _completed_with_the_draft(original: Any) -> Any:
    """Short outputs go on with draft draws wherever the draft has a row."""

    class Other:
        def __init__(self, laws: Any) -> None:
            self.laws, self.size, self.one_hot = laws, laws.size, laws.one_hot

        def law(self, role: Any, prefix: Any, rank: int = 0) -> Any:
            if role == "reference" and prefix:
                try:
                    return self.laws.law(type(role)("drafted_from"), prefix)
                except Exception:
                    return self.laws.law(role, prefix)
            return self.laws.law(role, prefix, rank)

    return lambda root, laws: original(root, Other(laws))


def _not_completed(original: Any) -> Any:
    """What a short output carries on is dropped."""

    def tree(emitted: Any, horizon: int) -> Any:
        longest = {tokens: mass for tokens, mass in emitted.items() if len(tokens) >= horizon}
        return original(longest or emitted, horizon)

    return tree


def _cut_too_short(original: Any) -> Any:
    return lambda emitted, horizon: original(emitted, max(horizon - 1, 1))


def _off_by_one(original: Any) -> Any:
    """Pr(more than i) for Pr(at least i)."""
    return lambda lengths: original([*lengths[1:], ZERO])


def _no_extra_token(original: Any) -> Any:
    """Expected tokens without the recovered or bonus token."""
    return lambda gathered: gathered.expected_accepted


def _after_wins(original: Any) -> Any:
    """Rows by the last token of a prefix win over those of whole prefixes."""

    def row(self: Any, prefix: Any) -> Any:
        found = self.after.get(prefix[-1]) if prefix else None
        return found or original(self, prefix)

    return row


def _one_more(original: Any) -> Any:
    """fixed:N verifies N + 1."""

    def chances(prefix: Any, tokens: Any, request: Any, use: Any) -> Any:
        return (Fraction(len(prefix) <= use.count()),) * len(tokens)

    return tuple(
        replace(rule, chances=chances) if rule.name == "fixed" else rule for rule in original
    )


def _stops_before(original: Any) -> Any:
    """stop-after drops the token of low probability, as own-probability does."""

    def goes_on(prefix: Any, request: Any, use: Any) -> Any:
        return original(prefix, request, use) and len(prefix) < 1

    return goes_on


def _ties_by_request(original: Any) -> Any:
    """Equal scores: always later positions first."""
    return lambda scores, ties: original(scores, "reverse")


def _rising_scores(original: Any) -> Any:
    return lambda scores, ties: original(scores, ties)[::-1]


def _speed_of_one_less(original: Any) -> Any:
    """The throughput of a batch that leaves out one token."""
    return lambda tokens, tables: original(max(tokens - 1, min(tables.throughput)), tables)


def _mean_of_requests(original: Any) -> Any:
    """Requests are taken for independent: the joint law is the product of their own laws."""

    def law(batch: Any, horizon: int) -> Any:
        found = original(batch, horizon)
        output = {(): ONE}
        for request in range(len(found.alone)):
            alone: dict[Any, Fraction] = {}
            for tokens, mass in found.output.items():
                alone[tokens[request]] = alone.get(tokens[request], ZERO) + mass
            output = {
                (*left, right): mass * more
                for left, mass in output.items()
                for right, more in alone.items()
            }
        return replace(found, output=output)

    return law


def _window_counts_itself(original: Any) -> Any:
    return lambda matches, gates, window, incomplete: original(
        matches, gates, max(window - 1, 0), incomplete
    )


def _every_prefix(original: Any) -> Any:
    """The optimum of a chain without "the output goes on as the target": the overlap."""

    def optimum(tree: Any, laws: Any) -> Any:
        found = original(tree, laws)
        return found._replace(block=found.overlap)

    return optimum


def _one_draft_less(original: Any) -> Any:
    return lambda target, draft, count: original(target, draft, max(count - 1, 1))


def _residual_role_forgotten(original: Any) -> Any:
    """A token recovered at the end of traversal follows what the node started with."""

    def rejected(self: Any, node: Any, child: Any, state: Any) -> Any:
        return replace(original(self, node, child, state), left=state.left)

    return rejected


def _weight_stays(original: Any) -> Any:
    """The weight of a node does not change when a child was rejected."""

    def rejected(self: Any, node: Any, child: Any, state: Any) -> Any:
        return replace(original(self, node, child, state), weight=state.weight)

    return rejected


BLOCK = f"{JOINT}.block_path"
TRAVERSAL = f"{JOINT}.traversal_rule:_Traversal"
LAWS = f"{VERIFY}.prefix_laws:ModelLaws"
JOINT_BUGS = [
    PlantedBug("the residual of a block without its weight", f"{BLOCK}:_surplus", _no_weight),
    PlantedBug("the threshold of a block is its surplus", f"{BLOCK}:block_threshold",
               _threshold_is_surplus),
    PlantedBug("the weight of a block is not capped", f"{JOINT}.block_walk:acceptance",
               _uncapped_weight),
    PlantedBug("the weight of a block forgets the one before", f"{JOINT}.block_walk:acceptance",
               _token_weight),
    PlantedBug("the first heads in place of the last", f"{JOINT}.block_walk:COINS",
               _coins("independent", _first_heads)),
    PlantedBug("one coin is taken for several", f"{JOINT}.block_walk:COINS",
               _coins("shared", _shared_as_independent)),
    PlantedBug("every rank has the first drafter", "specdist.model.conditional:Models.draft",
               _first_drafter),
    PlantedBug("every rank has the next drafter", "specdist.model.conditional:Models.draft",
               _next_drafter),
    PlantedBug("duplicates are not merged", f"{JOINT}.top_down:copies", _not_merged),
    PlantedBug("duplicates are not merged, from the leaves", f"{JOINT}.traversal_rule:copies",
               _not_merged),
    PlantedBug("the children of merged duplicates count twice", f"{JOINT}.top_down:copies",
               _copies_twice),
    PlantedBug("siblings are not renormalised", f"{JOINT}.rrs_rule:conditioned",
               _not_renormalised),
    PlantedBug("siblings are not renormalised, from the leaves",
               f"{JOINT}.traversal_rule:conditioned", _not_renormalised),
    PlantedBug("what is left after a rejection is not normalised", f"{JOINT}.rrs_rule:excess",
               _not_normalised_excess),
    PlantedBug("draft - target after a rejection", f"{JOINT}.rrs_rule:excess", _draft_is_next),
    PlantedBug("ties of the most probable tokens reversed", f"{JOINT}.draws:_most_probable",
               _highest_tie),
    PlantedBug("distinct siblings drawn independently", f"{JOINT}.draws:_drawn",
               _with_replacement),
    PlantedBug("the bonus row of the prefix before", f"{LAWS}.law", _bonus_before),
    PlantedBug("the bonus token follows the reference", f"{LAWS}.law", _bonus_is_reference),
    PlantedBug("completed with the draft", f"{VERIFY}.output:_blocks", _completed_with_the_draft),
    PlantedBug("short outputs are dropped", f"{VERIFY}.output:_tree", _not_completed),
    PlantedBug("outputs are cut too short", f"{VERIFY}.output:_tree", _cut_too_short),
    PlantedBug("survival is off by one", f"{VERIFY}.step:survival", _off_by_one),
    PlantedBug("expected tokens without the last one", f"{VERIFY}.step:expected_tokens",
               _no_extra_token),
    PlantedBug("rows by last token win", "specdist.model.conditional:ConditionalRows.row",
               _after_wins),
    PlantedBug("one token more is verified", f"{LENGTHS}.registry:LENGTH_RULES", _one_more),
    PlantedBug("the low token is dropped", f"{LENGTHS}.stop_after_rule:_goes_on", _stops_before),
    PlantedBug("later positions win every tie", f"{LENGTHS}.scheduler_rule:_sorted_slots",
               _ties_by_request),
    PlantedBug("the worst slots come first", f"{LENGTHS}.scheduler_rule:_sorted_slots",
               _rising_scores),
    PlantedBug("the throughput of one token less", f"{LENGTHS}.scheduler_rule:_speed",
               _speed_of_one_less),
    PlantedBug("requests are taken for independent", f"{VERIFY}.batch:batch_law",
               _mean_of_requests),
    PlantedBug("the window counts the mismatch", f"{JOINT}.window_rule:window_length",
               _window_counts_itself),
    PlantedBug("the overlap is called the optimum", f"{VERIFY}.optimum:chain_optimum",
               _every_prefix),
    PlantedBug("the optimum of one draft less", f"{JOINT}.optima.position_optimum:optimum_iid",
               _one_draft_less),
    PlantedBug("the residual of a node is not updated", f"{TRAVERSAL}._rejected",
               _residual_role_forgotten),
    PlantedBug("the weight of a node is not updated", f"{TRAVERSAL}._rejected", _weight_stays),
]  # fmt: skip

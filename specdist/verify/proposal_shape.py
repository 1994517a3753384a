"""The shape of the proposal of a step: what its capture says, and the options over it."""

from __future__ import annotations

from dataclasses import replace

from specdist.errors import CaptureError, SettingsError
from specdist.model.capture import Step
from specdist.model.conditional import Models
from specdist.model.draft_tree import DraftTree
from specdist.model.settings import CheckSettings


def proposal_tree(step: Step, settings: CheckSettings) -> DraftTree:
    """The tree that is drafted in a step over conditional models; an option wins over what the
    capture says of the same thing.

    Raises SettingsError for closed forms, which are those of one position, and CaptureError where
    there is no shape, or where drafted tokens or drafters do not fit it.
    """
    models, own = step.models, step.tree
    if models is None:
        raise ValueError("the step has no models")
    if settings.symbolic:
        raise SettingsError(
            "symbolic: closed forms are those of one position, and this step drafts a proposal",
            place=step.source,
            expected="no --symbolic, or rows of one position",
        )
    tree = settings.tree or own
    if tree is None:
        raise CaptureError(
            "the shape of the proposal is missing",
            place=step.source,
            expected="draft_length or tree in the step, or --draft-length N or --tree COUNTS",
        )
    siblings = settings.siblings or (own.siblings if own is not None else "iid")
    duplicates = settings.duplicates or (own.duplicates if own is not None else "separate")
    tokens = settings.draft_tokens
    if tokens is None and siblings == "given" and own is not None:
        tokens = own.tokens
    tree = replace(tree, siblings=siblings, duplicates=duplicates, tokens=tokens)
    _check_tokens(tree, models, step.source)
    _check_drafters(tree, models)
    return tree


def _check_tokens(tree: DraftTree, models: Models, place: str) -> None:
    if tree.siblings != "given":
        return
    expected = f"{tree.nodes} token ids, one for each node of the proposal"
    if tree.tokens is None:
        raise CaptureError(
            "siblings are given, and there are no draft tokens",
            place=place,
            expected=expected,
            advice="--draft-tokens, or draft_tokens in the step",
        )
    if len(tree.tokens) != tree.nodes:
        raise CaptureError(
            f"the proposal has {tree.nodes} nodes, and {len(tree.tokens)} draft tokens are given",
            place=place,
            expected=expected,
        )
    for node, token in enumerate(tree.tokens):
        if token >= models.size:
            raise CaptureError(
                f"draft token {token} of node {node} is outside the vocabulary of "
                f"{models.size} tokens",
                place=place,
                expected=f"0 to {models.size - 1}",
            )


def _check_drafters(tree: DraftTree, models: Models) -> None:
    most = max(tree.ranks, default=0) + 1
    drafters = len(models.drafts)
    if drafters not in (1, most):
        raise CaptureError(
            f"there are {drafters} drafters, and the most siblings are {most}",
            place=models.drafts[-1].place,
            expected="one draft model for all, or one for each rank among siblings",
        )

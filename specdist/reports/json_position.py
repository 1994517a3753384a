"""One position of the JSON report: its masses, and what is said of it beside its verdict."""

from __future__ import annotations

from dataclasses import asdict

from specdist.model.report import (
    Correction,
    LossyFigures,
    PositionResult,
    ProposalFigures,
    SeveralDrafts,
    TokenLine,
    UsedTarget,
)
from specdist.reports.json_numbers import Object, number, optional


def position_to_json(position: PositionResult, exact: bool) -> Object:
    """An element of ``positions``."""
    return {
        "index": position.index,
        "verdict": position.verdict.value,
        "vocab_size": position.vocab_size,
        "acceptance_rate": number(position.acceptance_rate, exact),
        "reference_acceptance_rate": number(position.reference_acceptance_rate, exact),
        "rejected_mass": number(position.rejected_mass, exact),
        "total_variation": number(position.total_variation, exact),
        "forbidden_mass": optional(position.forbidden_mass, exact),
        "used_target": _used_target(position.used_target, exact),
        "lossy": _lossy(position.lossy, exact),
        "proposal": _proposal(position.proposal, exact),
        "several_drafts": _several(position.several, exact),
        "roles": [asdict(use) for use in position.roles],
        "tokens": [_token(token, exact) for token in position.tokens],
    }


def _several(several: SeveralDrafts | None, exact: bool) -> Object | None:
    if several is None:
        return None
    return {
        "drafts": several.count,
        "siblings": several.siblings,
        "optimum": optional(several.optimum, exact),
    }


def _used_target(used: UsedTarget | None, exact: bool) -> Object | None:
    if used is None:
        return None
    return {
        "verdict": used.verdict.value,
        "total_variation": number(used.total_variation, exact),
    }


def _lossy(figures: LossyFigures | None, exact: bool) -> Object | None:
    if figures is None:
        return None
    return {
        "least_total_variation": number(figures.least_total_variation, exact),
        "excess": number(figures.excess, exact),
        "acceptance_if_targeted": number(figures.acceptance_if_targeted, exact),
    }


def _proposal(figures: ProposalFigures | None, exact: bool) -> Object | None:
    if figures is None:
        return None
    return {
        "reaching_mass": number(figures.reaching_mass, exact),
        "accepted_of_reaching": optional(figures.accepted_of_reaching, exact),
        "witness": figures.witness,
        "witness_keep": optional(figures.witness_keep, exact),
        "correction": _correction(figures.correction, exact),
    }


def _correction(correction: Correction | None, exact: bool) -> Object | None:
    if correction is None:
        return None
    return {
        "acceptance_rate": number(correction.acceptance_rate, exact),
        "total_variation": number(correction.total_variation, exact),
        "options": correction.options,
    }


def _token(token: TokenLine, exact: bool) -> Object:
    masses = ("reference", "drafted", "tested", "accepted")
    return {
        "id": token.id,
        "text": token.text,
        **{name: number(getattr(token, name), exact) for name in masses},
        "residual": optional(token.residual, exact),
        "recovered": number(token.recovered, exact),
        "output": number(token.output, exact),
    }

"""The rule `given`: acceptance probabilities that a capture brings are its rule."""

from __future__ import annotations

from dataclasses import replace

from specdist.errors import CaptureError
from specdist.model.capture import Position
from specdist.model.options import ProcessingOptions

RULE = "given"
_ROWS = {
    "accept": "the acceptance probability of each token",
    "recovery": "the law of the recovered token",
}
_NEEDED = (
    '"accept": a probability for each token, and "recovery": the law of the token after a '
    "rejection (zeros where nothing is ever rejected)"
)


def with_given_rule(
    options: ProcessingOptions, positions: tuple[Position, ...]
) -> ProcessingOptions:
    """The options of a step, with the rule `given` where a position brings its rows.

    Raises CaptureError for another rule beside such rows, and for the rule without them.
    """
    first = next((position for position in positions if position.given), None)
    rule = (options.rule or RULE if first is not None else options.rule or "").strip()
    if rule != RULE:
        if first is None:
            return options
        name = next(iter(first.given))
        raise CaptureError(
            f"{name} is given, and the rule is {rule[:40]}",
            place=_place(first),
            expected=f'no rule, or "rule": "{RULE}", beside captured acceptance probabilities',
        )
    for name, what in _ROWS.items():
        lacking = next((position for position in positions if name not in position.given), None)
        if lacking is not None:
            raise CaptureError(
                f"the rule is given, and {what} is not", place=_place(lacking), expected=_NEEDED
            )
    return options if options.rule == RULE else replace(options, rule=RULE)


def _place(position: Position) -> str:
    return position.target.place.removesuffix("target").removesuffix(".").removesuffix(", ")

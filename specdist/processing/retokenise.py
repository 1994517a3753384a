"""Retokenise: the string-level law of the first target token of a drafted text."""

from __future__ import annotations

from fractions import Fraction

from specdist.errors import SettingsError
from specdist.model.recipe import RecipeStep
from specdist.model.value_texts import count_from
from specdist.processing.context import RowContext
from specdist.processing.processor import Processor
from specdist.processing.rational_remakes import power_error, share_error
from specdist.processing.string_law import string_law
from specdist.processing.working_row import Remade, WorkingRow

PAGE = """\
retokenise N makes a draft row the law of the first target token of its text.

formula     draft tokens are drawn independently from the row until their text
            has N characters; psi(t) is the probability that the greedy longest
            match of that text begins with target token t, summed over all ways
            in which draft tokens make it.
value       a whole number, at least 1: the characters that settle the first
            target token, that is at least the longest target text that is met.
tie rule    none: the longest target text wins. Two target tokens of one text
            are an error where they are met.
empty row   cannot happen: every text begins with a target token, or it is an
            error.

The texts are the vocab and draft_vocab of the capture, or --vocab. Exact
on fractions; on dumps with a bound. The number of texts grows with every
character: at most 200,000 are followed. To test with the probability of the
sampled tokenisation alone is biased (arXiv 2502.05202, string-level rejection).

example
  Draft tokens a, b of probability 2/3, 1/3 over target texts a, ab, b, in a
  capture with "draft_recipe": "retokenise:2" (or give --draft-retokenise 2):

  $ specdist check sample_inputs/string_level_draft.json \\
      --draft-recipe retokenise:2
  token  reference   drafted
  'a'          1/2       4/9
  'ab'         1/4       2/9
  'b'          1/4       1/3

engines
  transformers 5.24.0 universal assisted decoding re-encodes the draft text
  (generation/candidate_generator.py), with a match rule in place of psi
"""


def _apply(row: WorkingRow, step: RecipeStep, context: RowContext) -> WorkingRow:
    texts, draft_texts = _texts(row, context)
    shares, bound = row.shares()
    psi = string_law(shares, draft_texts, texts, step.count())
    error = power_error(share_error(bound), Fraction(psi.draws))
    done = (step.text, texts, draft_texts)
    return row.remade(Remade(psi.masses, len(texts), error, done))


def _texts(row: WorkingRow, context: RowContext) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of the target's tokens and of the row's."""
    texts = context.texts
    own = context.draft_texts if context.draft_texts is not None else texts
    if texts is None or own is None:
        raise SettingsError(
            "retokenise needs the texts of the tokens, and they are not known",
            expected="a capture with vocab, and with draft_vocab where the draft has its own",
            advice="or give --vocab FILE",
        )
    if len(own) != row.size:
        raise SettingsError(
            f"retokenise: the draft vocabulary has {len(own)} texts, the row {row.size} tokens",
            expected="one text for each token of the row",
        )
    return texts, own


RETOKENISE = Processor(
    name="retokenise",
    metavar="N",
    summary="the law of the first target token of a drafted text of N characters",
    value=count_from(1),
    apply=_apply,
    page=PAGE,
    aliases=("retokenize",),
    any_stage=True,
)

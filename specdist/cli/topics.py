"""Pages about how things are said to specdist: recipes, roles, penalties, what a pass means."""

from __future__ import annotations

ROLES = """\
roles: the places of a sampler that should use the same distribution

  reference        what plain decoding samples from     the definition of right
  accept_target    numerator of the acceptance test     reference
  residual_target  what the residual starts from        reference
  bonus_from       where the bonus token is drawn       reference, at its row
  drafted_from     what the draft token was drawn from  anything
  accept_draft     denominator of the acceptance test   drafted_from, or one-hot
  residual_draft   what the residual subtracts          accept_draft

The right column is what a correct engine has there. Without further options
every target role has the target's recipe and every draft role the draft's, and
then the token rule is lossless for any rows. A check becomes a test of an
engine when a role says what the engine really does:

  --role drafted_from=top-p:9/10       a recipe for one role, repeatable
  "roles": {"drafted_from": [...]}     in a JSON capture, beside the rows: the
                                       row that the engine really used, taken
                                       as it is; a recipe may stand there too

A role never inherits from another role. The command line wins over a capture.
The verdict comes from the enumerated output law, never from comparing roles.

specdist explain ROLE, for each of them; specdist explain scope
"""

RECIPE = """\
recipe: ordered processing steps that make a distribution of a row

  raw                                  no step
  one-hot                              the point mass at the drafted token
  NAME:VALUE[:OPTION=VALUE...]         a step; steps are separated by ","

  temperature:0.8,top-p:0.95           in the order written
  top-k:50:ties=lowest-id              an option follows its value with a ":"
  top-p:0.9:boundary=exceed
  allowed:1+2+3                        lists are joined with "+"

Numbers are exact: 9/10, 0.9 and 1e-6 are rationals.

  --recipe RECIPE          target and draft side
  --draft-recipe RECIPE    where the draft differs
  --role ROLE=RECIPE       one role

Named options (--top-p 0.9:boundary=exceed) make a recipe in the default order:
allowed, banned, min-tokens, logit-bias, penalties, top-n-sigma, temperature,
min-p, top-k, top-p, typical-p, epsilon, eta. On top of --recipe in a config
file or a capture they replace the step of their name where it stands.

specdist explain PROCESSOR, for its value, options, tie rule and sources
"""

PENALTIES = """\
penalties: steps that depend on the tokens so far

  repetition-penalty:R    presence-penalty:R    frequency-penalty:R

They need the history: the token ids before the step.

  in a capture      "context": [1, 2, 3], "prompt_length": 2 on the step (or the
                    capture), "draft_tokens": [5, 6] for the rows of a block
  command line      --history 1,2,3 --prompt-length 2
  in the step       repetition-penalty:6/5:history=1+2+3:prompt=2

scope=all (default) counts prompt and output, scope=output the output only,
scope=last-N the last N tokens. drafts=counted (default) counts draft tokens
earlier in the block, drafts=frozen does not. min-tokens counts the same way.

specdist explain repetition-penalty, presence-penalty, frequency-penalty,
min-tokens
"""

ONE_HOT = """\
one-hot: the point mass at the drafted token

As a recipe it stands for the roles accept_draft and residual_draft only: what
an engine does that has no draft distribution (n-gram and prompt lookup, greedy
drafts). The token is accepted with the target's probability of it, and the
residual is the target without it.

  --role accept_draft=one-hot --role residual_draft=one-hot

Both together are lossless whatever drafted_from is; one of them alone is not.
Without a draft row, --draft-token ID (what-if) or {"one_hot": ID} in place of
the draft row (capture) says that the draft is this point mass.
"""

RAW = """\
raw: as it is

As a recipe (--recipe raw, --role drafted_from=raw): no step. Probabilities are
taken as they stand, logits get softmax at temperature 1.

As a stage (--stage raw, "stage": "raw"): the rows have been through nothing
yet, so a recipe applies to them. Rows of stage "temperature" take no further
temperature, rows of stage "processed" take no step at all: a role that needs a
recipe needs raw rows, or a row of its own in a JSON capture.
"""

SCOPE = """\
scope: what a pass means, and what it does not say

equal means: for the rows given, and for what the settings say is done with
them, the emitted token has the target's law exactly.

With no role overridden the token rule is lossless for any pair of rows. Then
"equal" says that the recipes can be applied to these rows and that the
arithmetic of the rule is right; it says nothing about an engine. To test an
engine, say what it really does:

  --role ROLE=RECIPE          the recipe that it really applies in one place
  "roles" in a JSON capture   the rows that it really used there

A verdict does not promise the same text under a fixed seed or in one run, nor
similar task scores. Speed is not measured. Only the rows given are checked; an
offline check is no test of a deployment.
"""

TOPICS: dict[str, tuple[str, str]] = {
    "roles": ("all roles on one page, and how to fill them", ROLES),
    "recipe": ("how processing steps are written", RECIPE),
    "penalties": ("steps that need the tokens so far, and how to give those", PENALTIES),
    "one-hot": ("the point mass at the drafted token", ONE_HOT),
    "raw": ("no step; rows that have been through nothing", RAW),
    "scope": ("what a pass means, and what no verdict says", SCOPE),
}
_OTHER_NAMES = {"role": "roles", "recipes": "recipe", "penalty": "penalties", "onehot": "one-hot"}


def topic(name: str) -> str | None:
    """The page of a topic; None when there is none."""
    _, page = TOPICS.get(_OTHER_NAMES.get(name, name), ("", None))
    return page

"""Pages about how things are said to specdist: recipes, roles, rules, numbers, what a pass means.

The texts are package data, ``topic_pages/NAME.txt``; each begins with ``NAME: `` and is shown as
it is.
"""

from __future__ import annotations

TOPICS: dict[str, str] = {
    "roles": "all roles on one page, and how to fill them",
    "recipe": "how processing steps are written",
    "engines": "what an engine does with your values, as a preset",
    "rules": "how an acceptance rule is written; the four kinds of rules",
    "proposal": "draft tokens that are dropped before their test, and the correction",
    "numerics": "random numbers, comparisons, epsilons, floors, empty residuals",
    "vocabulary-maps": "a draft with a vocabulary of its own",
    "capture": "what a JSON capture may carry, and where it goes",
    "dumps": "what engines write, how it is read, and what to run for a capture",
    "trace": "recorded steps, and what specdist replay makes of them",
    "audit": "what a real sampler emits, by driving its randomness",
    "models": "steps over conditional models: rows by prefix, chains and trees",
    "user-rules": "an acceptance rule of your own, from a Python file",
    "lengths": "how many drafted tokens are verified, in one chain or in a batch",
    "joint-laws": "how to read the report of a chain, a block or a tree of draft tokens",
    "cost": "what expected tokens are worth: factors, draft length, target calls, batches",
    "sweep": "the same rows under every setting of a grid, and the setting that loses a floor",
    "penalties": "steps that need the tokens so far, and how to give those",
    "one-hot": "the point mass at the drafted token",
    "raw": "no step; rows that have been through nothing",
    "scope": "what a pass means, and what no verdict says",
    "claims": 'the three things called "the same", and what each of them proves',
}

_OTHER_NAMES = {
    "roles": ("role",),
    "engines": ("engine", "preset", "presets", "off"),
    "recipe": ("recipes", "step", "steps", "draft-recipe"),
    "rules": ("rule", "kind", "kinds"),
    "proposal": ("proposals", "keep", "dropped", "keep-when", "keep-row", "own-probability",
                 "top-probability", "draft-entropy", "share", "only", "tokens"),
    "numerics": ("uniform", "inequality", "ratio", "ratio-epsilon", "residual-floor",
                 "zero-draft", "empty-residual", "unnormalised"),
    "vocabulary-maps": ("vocabulary-map", "draft-map", "draft-map-form", "draft-vocab"),
    "capture": ("captures", "accept", "recovery"),
    "dumps": ("dump", "formats", "format", "readers", "reader", "answers", "recording"),
    "trace": ("traces", "replay", "recorded-steps", "counterfactual"),
    "lengths": ("length", "schedule", "batch", "batches", "requests", "throughput"),
    "joint-laws": ("joint", "joint-law", "path", "optimum", "left"),
    "audit": ("audits", "adapter", "adapters", "traced", "probe"),
    "cost": ("costs", "acceptance", "best-draft-length", "child-acceptance", "tree-nodes",
             "draft-cost", "verify-cost", "draft-operations", "output-tokens", "roofline",
             "times"),
    "models": ("model", "draft-length", "tree", "siblings", "duplicates", "draft-tokens", "horizon",
               "max-outcomes"),
    "user-rules": ("user-rule", "my-rule"),
    "sweep": ("sweeps", "plot", "plots", "grid"),
    "penalties": ("penalty", "history", "prompt-length"),
    "one-hot": ("onehot",),
    "claims": ("claim", "same", "lossless", "texts", "near-tie", "seed", "scores"),
    "raw": ("stage",),
}  # fmt: skip
_BY_NAME = {name: topic for topic, names in _OTHER_NAMES.items() for name in (topic, *names)}


def topic(name: str) -> str | None:
    """The page of a topic, or of an option that it explains; None when there is none."""
    from importlib.resources import files

    known = _BY_NAME.get(name, name)
    if known not in TOPICS:
        return None
    return files("specdist.cli").joinpath("topic_pages", f"{known}.txt").read_text("utf-8")

"""What a verdict does not say; printed with every one."""

SCOPE = (
    "equal laws do not promise the same text under a fixed seed, the same text in one run, "
    "or similar task scores",
    "an equal law says nothing of speed; speed was not measured",
    "only the captured rows were checked: an offline check is not a test of a deployment",
)

"""A Triton kernel of rejection sampling, audited under Triton's interpreter: a step that takes its
random numbers as arguments.

specdist audit sample_inputs/audit/triton_kernel.py:step --mode probe --gamma 1 --steps 1
"""

import torch
from triton_interpreter import tl, triton

from specdist.audit import case, draw


@triton.jit
def verify(
    emitted,  # [places + 1], filled with -1
    drafted,  # [places]
    draft,  # [places, vocab]
    target,  # [places + 1, vocab]
    uniforms,  # [places]
    noise,  # [vocab], standard exponentials
    places,
    vocab,
    lanes: tl.constexpr,
):
    lane = tl.arange(0, lanes)
    accepted = 0
    testing = True
    for place in range(places):
        if testing:
            token = tl.load(drafted + place)
            p = tl.load(target + place * vocab + token)
            q = tl.load(draft + place * vocab + token)
            if tl.load(uniforms + place) * q < p:
                tl.store(emitted + place, token)
                accepted += 1
            else:
                testing = False
    weights = tl.load(target + accepted * vocab + lane, mask=lane < vocab, other=0.0)
    if accepted < places:
        tested = tl.load(draft + accepted * vocab + lane, mask=lane < vocab, other=0.0)
        weights = tl.maximum(weights - tested, 0.0)
    race = weights / tl.load(noise + lane, mask=lane < vocab, other=1.0)
    tl.store(emitted + accepted, tl.argmax(race, axis=0))


def step():
    for place in range(case.gamma):
        draw.categorical(case.draft(place))
    emitted = torch.full((case.gamma + 1,), -1)
    verify[(1,)](
        emitted,
        torch.tensor(case.drafted),
        case.draft_rows(),
        case.target_rows(),
        torch.tensor(draw.uniforms(case.gamma, "tl.rand")),
        torch.tensor(draw.exponentials(case.vocab)),
        case.gamma,
        case.vocab,
        lanes=triton.next_power_of_2(case.vocab),
    )
    return [token for token in emitted.tolist() if token >= 0]

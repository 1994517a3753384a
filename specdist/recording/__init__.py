"""Recording of real speculative decoding: rows, draft ids, uniforms and decisions as they happen.

    from specdist.recording import record

    with record("run1"):
        target.generate(ids, assistant_model=draft, do_sample=True, temperature=0.8, top_p=0.95)

Nothing of the library is changed: the functions are wrapped while the block runs, the random
numbers are those that are drawn anyway. Needs the extra ``capture``.
"""

from specdist.recording.recorder import Recording, record

__all__ = ["Recording", "record"]

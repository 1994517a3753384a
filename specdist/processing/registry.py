"""The one list of processors, in the default order of a recipe built from named options."""

from __future__ import annotations

from specdist.errors import SettingsError
from specdist.model.step_forms import nearest_names
from specdist.processing.allowed import ALLOWED
from specdist.processing.banned import BANNED
from specdist.processing.cast import CAST
from specdist.processing.epsilon import EPSILON
from specdist.processing.eta import ETA
from specdist.processing.frequency_penalty import FREQUENCY_PENALTY
from specdist.processing.gumbel_race import GUMBEL_RACE
from specdist.processing.inverse_cdf import INVERSE_CDF
from specdist.processing.lazy_allowed import LAZY_ALLOWED
from specdist.processing.logit_bias import LOGIT_BIAS
from specdist.processing.min_p import MIN_P
from specdist.processing.min_tokens import MIN_TOKENS
from specdist.processing.presence_penalty import PRESENCE_PENALTY
from specdist.processing.processor import Processor
from specdist.processing.repetition_penalty import REPETITION_PENALTY
from specdist.processing.retokenise import RETOKENISE
from specdist.processing.temperature import TEMPERATURE
from specdist.processing.top_k import TOP_K
from specdist.processing.top_n_sigma import TOP_N_SIGMA
from specdist.processing.top_p import TOP_P
from specdist.processing.typical_p import TYPICAL_P
from specdist.processing.vocab_map import VOCAB_MAP
from specdist.processing.vocab_size import VOCAB_SIZE

PROCESSORS: tuple[Processor, ...] = (
    VOCAB_MAP,
    VOCAB_SIZE,
    ALLOWED,
    BANNED,
    MIN_TOKENS,
    LOGIT_BIAS,
    REPETITION_PENALTY,
    PRESENCE_PENALTY,
    FREQUENCY_PENALTY,
    TOP_N_SIGMA,
    TEMPERATURE,
    MIN_P,
    TOP_K,
    TOP_P,
    TYPICAL_P,
    EPSILON,
    ETA,
    RETOKENISE,
    CAST,
    INVERSE_CDF,
    GUMBEL_RACE,
    LAZY_ALLOWED,
)

_BY_NAME = {
    name: processor for processor in PROCESSORS for name in (processor.name, *processor.aliases)
}


def processor_named(name: str) -> Processor:
    """The processor of that name or alias; underscores are read as hyphens.

    Raises `SettingsError` with the nearest names when there is none.
    """
    written = name.strip().replace("_", "-")
    processor = _BY_NAME.get(written)
    if processor is None:
        raise SettingsError(
            f"unknown processor {written[:40]!r}",
            expected="one of " + ", ".join(known.name for known in PROCESSORS),
            advice=nearest_names(written, _BY_NAME, lambda near: _BY_NAME[near].name),
        )
    return processor

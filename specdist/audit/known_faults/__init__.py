"""Known wrong rules as programs: their exact laws are compared with what was measured.

Each module holds the faults of one part of a sampler; `registry` lists them all, `matching` says
which of them have the very law that an audit measured.
"""

from specdist.audit.known_faults.matching import Observed, names_of

__all__ = ["Observed", "names_of"]

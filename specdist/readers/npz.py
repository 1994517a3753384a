""".npz: a zip of .npy members, stored (read by offset) or deflated (read forwards).

Unnamed arrays are called ``arr_0``, ``arr_1``; per-step arrays such as ``step_0``, ``step_1`` are
also offered as one tensor ``step_*``, in the order of their numbers.
"""

from __future__ import annotations

import re

from specdist.readers.npy import ObjectArrayError, npy_tensor
from specdist.readers.tensor import Archive, Tensor, stacked
from specdist.readers.zip_members import Member

_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})")


def read_npz(source: str, members: tuple[Member, ...]) -> Archive:
    """The arrays of the members. Object arrays are refused when they are asked for; everything
    else that is broken raises CaptureError."""
    tensors: dict[str, Tensor] = {}
    refused: dict[str, str] = {}
    for member in members:
        name = member.name.removesuffix(".npy")
        place = f"{source}, {name}"
        if not member.name.endswith(".npy"):
            refused[member.name] = "this member is no .npy array"
            continue
        try:
            tensors[name] = npy_tensor(member.storage, place, name)
        except ObjectArrayError as error:
            refused[name] = error.message
    return Archive(source, "npz", with_series(tensors), refused=refused)


def with_series(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Adds ``prefix*`` for tensors of equal shape whose names end in 0, 1, 2, ..."""
    series: dict[str, dict[int, Tensor]] = {}
    for name, tensor in tensors.items():
        match = _NUMBERED.fullmatch(name)
        if match is not None and match[1] != "arr_" and tensor.element.numbers is not None:
            series.setdefault(match[1], {})[int(match[2])] = tensor
    result = dict(tensors)
    for prefix, found in series.items():
        parts = [found[number] for number in sorted(found)]
        first = parts[0]
        same = all(p.shape == first.shape and p.element == first.element for p in parts)
        if len(parts) > 1 and same and max(found) - min(found) == len(parts) - 1:
            result[f"{prefix}*"] = stacked(f"{prefix}*", parts)
    return result

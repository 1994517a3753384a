"""Files that hold no rows, or hold them so that reading would run code: what they are, and what to
dump instead."""

from __future__ import annotations

import gzip
import pickle
import struct
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from specdist.errors import CaptureError, NotACaptureError, SpecdistError
from specdist.model.settings import ReadingSettings
from specdist.readers import describe, open_captures
from specdist.readers.refusals import first_global
from tests.cli import run
from tests.reader_files import (
    TorchPickle,
    evil_pickle,
    hf,
    npz,
    read_one,
    read_pair,
    safetensors,
    torch_file,
    write,
)

DATA = Path(__file__).parent / "data"
DISTILL = DATA / "field" / "distill"
HIDDEN = "save those logits"


def refused(path: str | Path) -> CaptureError:
    """The error of a file that is passed as a capture, and the same one as a side."""
    with pytest.raises(CaptureError) as error:
        read_pair(str(path), str(path))
    found = list(open_captures([str(path)], ReadingSettings()))
    assert [item.message for item in found] == [error.value.message]  # type: ignore[union-attr]
    return error.value


SAMPLES: dict[str, tuple[str, str, str]] = {
    "hidden states of vLLM": (
        str(DISTILL / "hs_0.safetensors"),
        "hidden states are no distribution: hidden_states bfloat16 [10, 4, 8]",
        HIDDEN,
    ),
    "a training record of SpecForge": (
        str(DISTILL / "specforge_eagle3.ckpt"),
        "hidden states are no distribution: hidden_state bfloat16 [1, 10, 8], aux_hidden_state "
        "bfloat16 [1, 10, 24]",
        HIDDEN,
    ),
    "the whole output of generate": (
        hf("out_modeloutput_full.pt"),
        "the pickle asks for transformers.generation.utils.GenerateDecoderOnlyOutput",
        "torch.save(out.logits, ...)",
    ),
    "a stream of an old torch": (
        hf("out_logits_tuple_legacy.pt"),
        "a torch stream from before version 1.6",
        "torch 1.6 or later",
    ),
    "a ragged list": (
        hf("ragged_object_pickle.npy"),
        "this array holds pickled Python objects",
        ".npz",
    ),
}


@pytest.mark.parametrize("case", SAMPLES)
def test_files_that_were_met(case: str) -> None:
    path, message, advice = SAMPLES[case]
    error = refused(path)
    assert message in error.message
    assert advice in error.advice
    assert error.place.startswith(path)


def test_gzipped_records(tmp_path: Path) -> None:
    record = (DISTILL / "specforge_eagle3.ckpt").read_bytes()
    error = refused(write(tmp_path, "data_0.ckpt.gz", gzip.compress(record)))
    assert "a gzipped record of hidden states" in error.message
    assert HIDDEN in error.advice
    plain = Path(hf("out_logits_tuple.pt")).read_bytes()
    error = refused(write(tmp_path, "out.pt.gz", gzip.compress(plain)))
    assert error.message == "a torch file inside gzip"
    assert "gunzip" in error.advice


NAMES = [
    "hidden_state", "hidden_states", "last_hidden_state", "aux_hidden_states", "inputs_embeds",
    "target_last_hidden_states", "out.hidden_states", "hidden_states.3", "embeddings",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_of_hidden_states(name: str, tmp_path: Path) -> None:
    tensors = {name: ("F32", np.ones((3, 8), np.float32)), "ids": ("I64", np.arange(3))}
    error = refused(write(tmp_path, "h.safetensors", safetensors(tensors)))
    assert isinstance(error, NotACaptureError)
    assert f"hidden states are no distribution: {name} float32 [3, 8]" in error.message


def test_logits_beside_hidden_states_are_the_rows(tmp_path: Path) -> None:
    logits = np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)
    both = {"hidden_states": ("F32", np.ones((3, 8), np.float32)), "logits": ("F32", logits)}
    path = write(tmp_path, "b.safetensors", safetensors(both))
    assert len(read_pair(path, path)[1]) == 3
    with pytest.raises(CaptureError, match="hidden states are no distribution"):
        read_pair(f"{path}::hidden_states", f"{path}::logits")
    # Nor are they offered as a side.
    with pytest.raises(SpecdistError, match="one side") as error:
        read_one(path)
    assert "hidden_states" not in error.value.advice


OTHERS: dict[str, tuple[bytes, str, str]] = {
    "arrow file": (b"ARROW1\x00\x00" + bytes(80), "an Arrow file", "parquet"),
    "arrow stream": (b"\xff\xff\xff\xff" + bytes(80), "an Arrow stream", "parquet"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(80), "an HDF5 file", "safetensors"),
    "a gguf model": (
        b"GGUF" + struct.pack("<I2Q", 3, 291, 24)
        + struct.pack("<Q", 20) + b"general.architecture" + struct.pack("<IQ", 8, 5) + b"llama",
        "a GGUF file of a model (general.architecture llama)",
        "llama-perplexity --kl-divergence-base",
    ),
    "weights": (
        safetensors({"model.layers.0.mlp.weight": ("F32", np.ones((4, 4), np.float32))}),
        "weights of a model are no distribution",
        "run the model",
    ),
    "top-k values": (
        npz({"topk_logprobs": -np.ones((3, 4), np.float32), "topk_ids": np.ones((3, 4), int)}),
        "values of listed tokens are no rows: their columns are no tokens: topk_logprobs",
        "logits of every token",
    ),
    "token ids": (
        npz({"input_ids": np.arange(5), "lengths": np.arange(2)}),
        "whole numbers are no distribution: input_ids int64 [5], lengths int64 [2]",
        "token ids",
    ),
    "a headerless row": (
        np.linspace(-3, 4, 40, dtype="<f4").tobytes(),
        "no reader recognises this content",
        "--reader llama-debug --vocab-size 40",
    ),
    "a printed row": (b"0: -0.5\n1: 2.25\n", "no reader recognises", "--reader llama-debug"),
    "noise": (bytes(range(3, 200)), "no reader recognises this content", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERS)
def test_recognised_by_content(case: str, tmp_path: Path) -> None:
    data, message, advice = OTHERS[case]
    error = refused(write(tmp_path, "x.bin", data))
    assert isinstance(error, NotACaptureError)
    assert message in error.message
    assert advice in error.advice
    assert bool(error.advice) is bool(advice)


@pytest.mark.parametrize("protocol", range(2, 6))
def test_a_bare_pickle_is_named_and_never_opened(protocol: int, tmp_path: Path) -> None:
    data = pickle.dumps([1, "two", OrderedDict()], protocol=protocol)
    error = refused(write(tmp_path, "x.pkl", data))
    assert "a bare pickle, which can run code and is never opened" in error.message
    assert "it asks for collections.OrderedDict" in error.message
    marker = tmp_path / "ran"
    refused(write(tmp_path, "evil.pkl", evil_pickle(marker)))
    assert not marker.exists()


def test_the_first_name_in_a_pickle() -> None:
    assert first_global(b"cvllm.outputs\nRequestOutput\n(tR.") == "vllm.outputs.RequestOutput"
    stacked = b"\x80\x04\x8c\x0cvllm.outputs\x94\x8c\x0dRequestOutput\x94\x93\x94)\x81\x94."
    assert first_global(stacked) == "vllm.outputs.RequestOutput"
    assert first_global(pickle.dumps([1, 2])) == ""
    assert first_global(b"\x80\x04nonsense") == ""
    assert first_global(stacked[:20]) == ""


def test_pickles_of_engines_get_their_advice(tmp_path: Path) -> None:
    made = {
        "vllm.outputs\nRequestOutput": "return_tokens_as_token_ids",
        "transformers.utils\nModelOutput": "out.logits",
        "somewhere\nElse": "safetensors",
    }
    for name, advice in made.items():
        data = b"\x80\x02c" + name.encode() + b"\n)\x81."
        assert advice in refused(write(tmp_path, "x.pkl", data)).advice


GLOBALS = {
    "numpy scalars": (b"cnumpy._core.multiarray\nscalar\n", "numpy._core.multiarray.scalar"),
    "numpy arrays": (b"cnumpy._core.multiarray\n_reconstruct\n", "_reconstruct"),
    "a cache": (b"ctransformers.cache_utils\nDynamicCache\n", "DynamicCache"),
    "float8": (b"ctorch._utils\n_rebuild_qtensor\n", "_rebuild_qtensor"),
    "a system call": (b"cposix\nsystem\n", "posix.system"),
}


@pytest.mark.parametrize("case", GLOBALS)
def test_torch_files_with_more_than_tensors(case: str, tmp_path: Path) -> None:
    asked, name = GLOBALS[case]
    pickled = TorchPickle().add(b"}").text("logits").add(asked, b")Rs").done()
    error = refused(write(tmp_path, "x.pt", torch_file(pickled, {})))
    assert name in error.message
    assert "nothing in a file is ever run" in error.expected
    assert error.advice


def test_nothing_of_all_this_ends_with_a_traceback(tmp_path: Path) -> None:
    for number, (data, _, _) in enumerate(OTHERS.values()):
        path = write(tmp_path, f"{number}.bin", data)
        for command in ("check", "inspect"):
            result = run(command, path)
            assert result.code in (0, 2)
            assert "Traceback" not in result.stderr
    # In a folder they are listed, and count for nothing.
    result = run("check", str(tmp_path))
    assert result.code in (2, 3)
    assert "Traceback" not in result.stderr


def test_inspect_says_the_same() -> None:
    told = dict(describe(str(DISTILL / "hs_0.safetensors"), ReadingSettings()))
    assert told["tensor hidden_states"] == "bfloat16 [10, 4, 8]"
    assert told["hidden_states"] == "hidden states are no distribution"

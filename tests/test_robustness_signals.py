"""Real signals to a run with workers: it ends at once, quietly, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cli import ROOT, scrubbed

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
SECONDS = 30
SCRIPT = """\
import sys
import specdist.verify.spread as spread
from specdist.__main__ import main
spread._ALONE_SECONDS = 0
sys.argv[0] = "specdist"
sys.exit(main())
"""


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair of dumps that keeps two workers busy for a long time."""
    folder = tmp_path_factory.mktemp("dump")
    row = np.random.default_rng(1).standard_normal(32_000).astype("f4")
    for side in ("target", "draft"):
        np.save(folder / f"{side}.npy", np.broadcast_to(row, (600, 32_000)))
        row = row[::-1] * 2
    return folder


def children(parent: int) -> list[int]:
    """The worker processes of a process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if int(status[1]) == parent and b"spawn_main" in command:
            found.append(int(folder.name))
    return found


def ended(process: int) -> bool:
    try:
        return "Z" in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True


class Running:
    """A run of its own process group, ``workers`` of it at work."""

    def __init__(self, folder: Path) -> None:
        options = "--target target.npy --draft draft.npy --workers 2 -T 0.7 --top-p 0.9"
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, "check", *options.split()],
            cwd=folder,
            env={**scrubbed(), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.workers: list[int] = []
        until = time.monotonic() + SECONDS
        while len(self.workers) < 2 and time.monotonic() < until:
            self.workers = children(self.process.pid)
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def end(self) -> tuple[int, str, str]:
        """Code and output once the run and all its workers have let go of the streams."""
        out, err = self.process.communicate(timeout=SECONDS)
        until = time.monotonic() + SECONDS
        while not all(map(ended, self.workers)) and time.monotonic() < until:
            time.sleep(0.02)
        assert all(map(ended, self.workers))
        return self.process.returncode, out.decode(), err.decode()


@pytest.fixture
def running(dump: Path) -> Iterator[Callable[[], Running]]:
    started: list[Running] = []

    def start() -> Running:
        started.append(Running(dump))
        return started[-1]

    yield start
    for run in started:
        for pid in (run.process.pid, *run.workers):
            if not ended(pid):
                os.kill(pid, signal.SIGKILL)
        run.process.wait()


@pytest.mark.parametrize("pause", [0.0, 0.6])
def test_ctrl_c_once_or_twice_ends_the_group_without_traceback(
    running: Callable[[], Running], pause: float
) -> None:
    run = running()
    time.sleep(pause)
    for _ in range(3):
        if run.process.poll() is None:
            os.killpg(run.process.pid, signal.SIGINT)
            time.sleep(0.03)
    assert run.end() == (130, "", "interrupted\n")


def test_sigterm_of_the_main_process_ends_the_workers(running: Callable[[], Running]) -> None:
    run = running()
    time.sleep(0.4)
    run.process.terminate()
    assert run.end() == (130, "", "interrupted\n")


def test_workers_end_when_the_main_process_is_killed(running: Callable[[], Running]) -> None:
    run = running()
    time.sleep(0.4)
    run.process.kill()
    assert run.end()[0] == -signal.SIGKILL


def test_a_killed_worker_is_an_error_with_advice(running: Callable[[], Running]) -> None:
    run = running()
    time.sleep(0.4)
    os.kill(run.workers[0], signal.SIGKILL)
    code, out, err = run.end()
    assert (code, out) == (2, "")
    assert "a worker process was killed" in err
    assert "--workers 1" in err
    assert "Traceback" not in err

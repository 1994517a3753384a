"""Shared settings of the suite."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("long", settings.get_profile("suite"), max_examples=2000)
os.environ.pop("GITHUB_STEP_SUMMARY", None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

"""Processes that tests start and stop."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from typing import Any


def interruptible(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a process that hears SIGINT, even where the tests themselves run under nohup or in the background."""
    return subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options)

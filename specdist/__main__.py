"""``python -m specdist`` and the ``specdist`` command: the one place that catches everything."""

from __future__ import annotations

import errno
import os
import sys

from specdist.errors import SpecdistError

_BUG = 70
_REPORT = "please report it with this command line and the capture, if you may share it"
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO}


def main() -> int:
    """Runs the command line of ``sys.argv`` and gives the exit code (design: exit codes)."""
    from specdist.cli import console, signals

    arguments = sys.argv[1:]
    console.prepare_streams()
    try:
        signals.end_on_terminate()
        return _run(arguments)
    except KeyboardInterrupt:
        signals.ignore_all()
        console.err("interrupted\n")
        return _ended(130)
    except OSError as error:
        if error.errno not in _UNWRITABLE or error.filename is not None:
            return _bug(error, arguments)
        console.silence_stdout()
        reason = (error.strerror or "input/output error").lower()
        console.err(f"error[output]: standard output cannot be written: {reason}\n")
        return 2
    except Exception as error:
        return _bug(error, arguments)


def _bug(error: Exception, arguments: list[str]) -> int:
    from specdist.cli import console

    if {"-v", "--verbose"} & set(arguments):
        import traceback

        console.err(traceback.format_exc())
    name = type(error).__name__
    text = " ".join(str(error).split())[:300]
    console.err(
        f"error[bug]: specdist stopped on {name}: {text}; this is a bug in specdist, "
        f"no verdict; {_REPORT} (-v shows the traceback)\n"
    )
    return _ended(_BUG)


def _ended(code: int) -> int:
    """The code of a run that ended early; what stdout still holds is written if it can be."""
    from specdist.cli import console

    try:
        sys.stdout.flush()
    except OSError:
        console.silence_stdout()
    return code


def _run(arguments: list[str]) -> int:
    """The command, its errors written to stderr, a closed pipe ended quietly."""
    from specdist.cli import console
    from specdist.cli.app import run
    from specdist.cli.exit_codes import ExitCode
    from specdist.reports import page

    try:
        with page.at(console.page_width(sys.stdout, os.environ)):
            code = run(arguments)
        console.flush_quietly()
    except SpecdistError as error:
        from specdist.reports.error_text import render_error

        if error.__cause__ is not None and {"-v", "--verbose"} & set(arguments):
            import traceback

            console.err("".join(traceback.format_exception(error.__cause__)))
        paint = console.paint_for(console.typed_colour(arguments), sys.stderr)
        with page.at(console.page_width(sys.stderr, os.environ)):
            console.err(render_error(error, paint))
        return _ended(ExitCode.NOT_STARTED)
    except BrokenPipeError:
        console.silence_stdout()
        return ExitCode.PASSED
    except SystemExit as stop:  # typer: completion scripts, and help into a closed pipe
        if isinstance(stop.__context__, BrokenPipeError):
            console.silence_stdout()
            return ExitCode.PASSED
        console.flush_quietly()
        return ExitCode.NOT_STARTED if stop.code else ExitCode.PASSED
    if code == ExitCode.INTERRUPTED and not isinstance(code, ExitCode):
        raise KeyboardInterrupt
    return code


if __name__ == "__main__":
    sys.exit(main())

"""``python -m specdist`` and the ``specdist`` command: the one place that catches everything."""

from __future__ import annotations

import sys

from specdist.errors import SpecdistError

_BUG = 70
_REPORT = "please report it with this command line and the capture, if you may share it"


def main() -> int:
    """Runs the command line of ``sys.argv`` and gives the exit code (design: exit codes)."""
    arguments = sys.argv[1:]
    try:
        from specdist.cli import console

        console.prepare_streams()
        return _run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    except Exception as error:
        if {"-v", "--verbose"} & set(arguments):
            import traceback

            traceback.print_exc()
        name = type(error).__name__
        text = " ".join(str(error).split())[:300]
        sys.stderr.write(
            f"error[bug]: specdist stopped on {name}: {text}; this is a bug in specdist, "
            f"no verdict; {_REPORT} (-v shows the traceback)\n"
        )
        return _BUG


def _run(arguments: list[str]) -> int:
    """The command, its errors written to stderr, a closed pipe ended quietly."""
    from specdist.cli import console
    from specdist.cli.app import run
    from specdist.cli.exit_codes import ExitCode

    try:
        code = run(arguments)
        sys.stdout.flush()
    except SpecdistError as error:
        from specdist.reports.error_text import render_error

        paint = console.paint_for(console.typed_colour(arguments), sys.stderr)
        sys.stderr.write(render_error(error, paint))
        return ExitCode.NOT_STARTED
    except BrokenPipeError:
        console.silence_stdout()
        return ExitCode.PASSED
    except SystemExit as stop:  # typer: completion scripts, and help into a closed pipe
        console.flush_quietly()
        return ExitCode.NOT_STARTED if stop.code else ExitCode.PASSED
    if code == ExitCode.INTERRUPTED and not isinstance(code, ExitCode):
        raise KeyboardInterrupt
    return code


if __name__ == "__main__":
    sys.exit(main())

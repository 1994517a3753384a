"""``--export FORM=PATH``: files beside the printed report, checked early and written late.

A path is tried before the run starts; files are written under another name beside their place and
renamed when all of them are whole, so a run that fails leaves none behind.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from specdist.errors import SettingsError
from specdist.reports.forms.registry import BY_NAME

if TYPE_CHECKING:
    from specdist.reports.forms.form import AnyReport, Form, FormOptions

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True, slots=True)
class Export:
    """A form and the file it goes to. ``appended``: to what is there, as a job summary is."""

    form: str
    path: str
    appended: bool = False


def read_exports(name: str, texts: Sequence[str]) -> tuple[Export, ...]:
    """``junit=report.xml`` and so on. Raises SettingsError for unknown forms and shared paths."""
    from specdist.cli.option_values import nearest

    found: dict[str, Export] = {}
    for text in texts:
        form, equals, path = text.partition("=")
        if not equals or not path or "\0" in path:
            raise SettingsError(
                f"{name}={text[:60]} names no file", expected="FORM=PATH, as junit=report.xml"
            )
        if form not in BY_NAME:
            raise SettingsError(f"{name}: unknown form {form!r}", advice=nearest(form, BY_NAME))
        if path == "-":
            raise SettingsError(
                f"{name}={text[:60]} names no file",
                expected="FORM=PATH",
                advice="--format writes to standard output",
            )
        key = _real(path)
        if key in found:
            raise SettingsError(
                f"{name}: {found[key].form} and {form} go to the same file",
                place=path,
                expected="a file for each form",
            )
        found[key] = Export(form, path)
    return tuple(found.values())


def with_summary(exports: Sequence[Export], printed: str) -> tuple[Export, ...]:
    """With the job summary of GitHub Actions where a run speaks to it."""
    path = os.environ.get(SUMMARY_VARIABLE, "")
    speaks = printed == "github" or any(export.form == "github" for export in exports)
    return (*exports, Export("markdown", path, True)) if path and speaks else tuple(exports)


def check_forms(printed: str, exports: Sequence[Export], what: str, known: Iterable[str]) -> None:
    """Refuses a form in which ``what`` is not written. Raises SettingsError."""
    names = tuple(known)
    for form in (printed, *(export.form for export in exports)):
        if form not in names:
            raise SettingsError(
                f"{what} is not written as {form}", expected=f"one of {', '.join(names)}"
            )


def forms(exports: Sequence[Export]) -> list[Form]:
    """The forms that are asked for."""
    return [BY_NAME[export.form] for export in exports]


def check_paths(exports: Sequence[Export], inputs: Sequence[str] = ()) -> None:
    """Refuses a path that cannot be written, or that is an input. Raises SettingsError."""
    if not exports:
        return
    read = {_real(name.partition("::")[0]) for name in inputs if name != "-"}
    for export in exports:
        place = f"--export {export.form}={export.path}"
        if _real(export.path) in read:
            raise SettingsError("the file is an input of this run", place=place)
        with _placed(place):
            if _is_special(export.path):
                continue
            target = Path(_real(export.path))
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(13, "the file is write-protected")
            with NamedTemporaryFile(dir=target.parent, prefix=".specdist-"):
                pass


def rendered(
    exports: Sequence[Export], report: AnyReport, options: FormOptions
) -> dict[Export, str]:
    """The texts of all files."""
    return {export: BY_NAME[export.form].render(report, options) for export in exports}


def write(exports: Sequence[Export], report: AnyReport, options: FormOptions) -> None:
    """Writes every file, or none. Raises SettingsError where the disk refuses."""
    write_texts(rendered(exports, report, options))


def write_texts(texts: Mapping[Export, str | bytes]) -> None:
    """Writes texts and pictures that are ready, all or none."""
    finished: list[tuple[Path, Path]] = []
    try:
        for export, text in texts.items():
            with _placed(f"--export {export.form}={export.path}"):
                finished += _written(export, text)
        for made, target in finished:
            made.replace(target)
    finally:
        for made, _ in finished:
            made.unlink(missing_ok=True)


def _written(export: Export, text: str | bytes) -> list[tuple[Path, Path]]:
    """The new file beside its place; nothing where it had to be written directly."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    if export.appended or _is_special(export.path):
        with open(export.path, "ab" if export.appended else "wb") as file:
            file.write(data)
        return []
    target = Path(_real(export.path))
    made = target.with_name(f".{target.name[:100]}.{os.getpid()}.specdist")
    try:
        made.write_bytes(data)
        if target.exists():
            made.chmod(stat.S_IMODE(target.stat().st_mode))
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    return [(made, target)]


def _real(path: str) -> str:
    """The path behind links; the path itself where that cannot be told."""
    try:
        return os.path.realpath(path)
    except OSError:  # the working directory is gone
        return path


def _is_special(path: str) -> bool:
    """A device or a pipe, which is written to as it is. Raises IsADirectoryError."""
    if not os.path.exists(path):
        return False
    if os.path.isdir(path):
        raise IsADirectoryError(21, "it is a directory")
    return not os.path.isfile(path)


@contextmanager
def _placed(place: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SettingsError(
            f"the file cannot be written: {(reason or 'input/output error').lower()}",
            place=place,
            expected="a path in a folder that exists and may be written",
        ) from None

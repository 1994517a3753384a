"""Reads the imports of the package with ``ast`` and says which of them break a rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Part of the package -> floor. Imports go to the same part or to a lower floor.
FLOORS = {
    "errors": -1,
    "exact": 0,
    "model": 1,
    "findings": 1,
    "cost": 2,
    "processing": 2,
    "rules": 2,
    "readers": 2,
    "engines": 3,
    "verify": 4,
    "audit": 4,
    "recording": 4,
    "reports": 5,
    "api": 5,
    "python_arrays": 5,
    "python_kernel": 5,
    "python_rows": 5,
    "python_sampling": 5,
    "python_tokens": 5,
    "testing": 6,
    "cli": 6,
    "pytest_plugin": 7,  # reads the options of specdist check, as the command line does
    "__main__": 7,
    "": 7,  # specdist/__init__.py, the public names
}
#: Arrows between two parts of one floor that are wanted: the catalogue speaks of model.Finding,
#: and the Python door reads Python rows.
SAME_FLOOR = {
    ("findings", "model"),
    ("api", "python_rows"),
    ("api", "python_tokens"),
    ("api", "python_sampling"),
    ("python_kernel", "python_arrays"),
    ("python_kernel", "python_rows"),
    ("python_rows", "python_arrays"),
    ("python_tokens", "python_arrays"),
    ("python_tokens", "python_rows"),
    ("python_sampling", "python_rows"),
}

#: Library -> prefixes of the modules that may import it anywhere.
ANYWHERE = {
    # The plugin reads options as the command line does, once --specdist is given.
    "typer": ("specdist.cli", "specdist.pytest_plugin"),
    "click": ("specdist.cli",),
    "rich": ("specdist.cli", "specdist.reports.terminal"),
    "sympy": (),
    "mpmath": (),
    "numpy": (),
}
#: Library -> prefixes of the modules that may import it inside functions only.
INSIDE_FUNCTIONS = {
    "sympy": ("specdist.exact.symbolic",),
    "mpmath": ("specdist.exact.symbolic",),
    "numpy": ("specdist",),
}
#: Modules that are only loaded once a float row is met, so numpy may stand at their top.
NUMPY_AT_THE_TOP: tuple[str, ...] = (
    "specdist.audit.noise_algebra",
    "specdist.audit.numpy_answers",
    "specdist.audit.numpy_draws",
    "specdist.audit.numpy_functions",
    "specdist.audit.numpy_generators",
    "specdist.audit.numpy_race",
    "specdist.audit.numpy_uniforms",
    "specdist.audit.torch_values",
    "specdist.audit.torch_answers",
    "specdist.audit.torch_state",
    "specdist.audit.torch_structure",
    "specdist.audit.torch_noise",
    "specdist.exact.code_counts",
    "specdist.exact.float_atoms",
    "specdist.exact.float_filter",
    "specdist.exact.float_sum",
    "specdist.exact.float_cuts",
    "specdist.exact.float_groups",
    "specdist.exact.float_lower",
    "specdist.exact.float_masses",
    "specdist.exact.float_overlap",
    "specdist.exact.float_relaxation",
    "specdist.exact.float_spans",
    "specdist.exact.float_quotients",
    "specdist.exact.float_space",
    "specdist.exact.float_terms",
    "specdist.exact.float_couplings",
    "specdist.exact.float_drafts_optimum",
    "specdist.exact.float_entries",
    "specdist.exact.float_entropy",
    "specdist.exact.float_envelope",
    "specdist.exact.float_exponential",
    "specdist.exact.float_prefix",
    "specdist.exact.float_raised",
    "specdist.exact.float_vector",
    "specdist.exact.law_bounds",
    "specdist.processing.float_box_powers",
    "specdist.processing.float_casts",
    "specdist.processing.float_changes",
    "specdist.processing.float_cuts",
    "specdist.processing.float_deviation",
    "specdist.processing.float_ends",
    "specdist.processing.float_entropy",
    "specdist.processing.float_grids",
    "specdist.processing.float_law",
    "specdist.processing.float_levels",
    "specdist.processing.float_listed",
    "specdist.processing.float_listing",
    "specdist.processing.float_reading",
    "specdist.processing.float_remakes",
    "specdist.processing.float_row",
    "specdist.processing.float_weights",
    "specdist.readers.engine_files.debug_text",
    "specdist.readers.engine_files.exllama",
    "specdist.readers.engine_files.kld",
    "specdist.readers.engine_files.kld_rows",
    "specdist.readers.engine_files.llama_debug",
    "specdist.readers.engine_files.distillkit",
    "specdist.readers.evidence",
    "specdist.readers.integers",
    "specdist.readers.processed_pair",
    "specdist.readers.row_blocks",
    "specdist.readers.row_columns",
    "specdist.readers.row_doubts",
    "specdist.readers.row_values",
    "specdist.readers.sides",
    "specdist.readers.traces.rows_of_steps",
)

FORBIDDEN_NAMES = {
    "utils", "util", "helpers", "helper", "common", "core", "misc",
    "token", "types", "json", "inspect", "numbers",
}  # fmt: skip


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    lazy: bool
    typing_only: bool


def modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Dotted name and path of every module below ``root`` (the package directory)."""
    for path in sorted(root.rglob("*.py")):
        parts = [root.name, *path.relative_to(root).with_suffix("").parts]
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def part_of(module: str) -> str:
    """``specdist.verify.run`` -> ``verify``; the package itself -> the empty string."""
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else ""


def imports(path: Path, module: str) -> Iterator[Import]:
    """Every import of a file, with the names of ``from a import b`` spelled ``a.b``."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    yield from _imports(ast.parse(path.read_text(encoding="utf-8")), package, False, False)


def _imports(node: ast.AST, package: str, lazy: bool, typing_only: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inside = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.body:
                yield from _imports(ast.Module([statement], []), package, inside, True)
            for statement in child.orelse:
                yield from _imports(ast.Module([statement], []), package, inside, typing_only)
        elif isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, lazy, typing_only)
        elif isinstance(child, ast.ImportFrom):
            base = child.module or ""
            if child.level:
                up = package.split(".")[: len(package.split(".")) - child.level + 1]
                base = ".".join([*up, base] if base else up)
            for alias in child.names:
                yield Import(f"{base}.{alias.name}", child.lineno, lazy, typing_only)
        else:
            yield from _imports(child, package, inside, typing_only)


def violations(root: Path, numpy_at_the_top: tuple[str, ...] = NUMPY_AT_THE_TOP) -> list[str]:
    """One line for each broken rule."""
    found = []
    for module, path in modules(root):
        for name in module.split(".")[1:]:
            if name in FORBIDDEN_NAMES:
                found.append(f"{module}: the name {name} says nothing or shadows a library")
        if part_of(module) not in FLOORS:
            found.append(f"{module}: {part_of(module)} has no floor")
            continue
        for item in imports(path, module):
            reason = _arrow(module, item, root.name) or _library(module, item, numpy_at_the_top)
            if reason:
                found.append(f"{module}:{item.line}: imports {item.module}: {reason}")
    return found


def _arrow(module: str, item: Import, package: str) -> str:
    if item.module == f"{package}.__version__" or item.module.split(".")[0] != package:
        return ""
    source, goal = part_of(module), part_of(item.module)
    if source == goal or (source, goal) in SAME_FLOOR:
        return ""
    if goal not in FLOORS:
        return f"{goal} has no floor"
    if FLOORS[goal] >= FLOORS[source]:
        return f"floor {FLOORS[goal]} is not below floor {FLOORS[source]}"
    return ""


def _library(module: str, item: Import, numpy_at_the_top: tuple[str, ...]) -> str:
    library = item.module.split(".")[0]
    if library not in ANYWHERE or item.typing_only:
        return ""
    if library == "numpy" and module in numpy_at_the_top:
        return ""
    if module.startswith(ANYWHERE[library]):
        return ""
    if module.startswith(INSIDE_FUNCTIONS.get(library, ())):
        return "" if item.lazy else "only inside functions"
    return "not in this part"


def lengths(root: Path) -> dict[str, int]:
    """Lines of every file and of every function, by ``path`` and ``path::name``."""
    sizes = {}
    for _, path in modules(root):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(root.parent).as_posix()
        sizes[name] = len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                key = f"{name}::{node.name}"
                sizes[key] = max(sizes.get(key, 0), node.end_lineno - node.lineno + 1)
    return sizes

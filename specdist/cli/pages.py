"""Everything that ``specdist explain`` can explain, found by name."""

from __future__ import annotations

from specdist.cli.exit_codes import MEANING
from specdist.cli.option_values import near
from specdist.cli.topics import TOPICS, topic
from specdist.engines import found_preset, presets
from specdist.errors import SettingsError
from specdist.findings import catalogue
from specdist.model.role import Role
from specdist.processing.registry import PROCESSORS
from specdist.reports.preset_text import engine_page
from specdist.rules.joint.registry import JOINT_RULES
from specdist.rules.lengths.registry import LENGTH_RULES
from specdist.rules.registry import RULES

ROLES: dict[Role, str] = {
    Role.REFERENCE: "what decoding without speculation would sample from",
    Role.ACCEPT_TARGET: "numerator of the acceptance test",
    Role.RESIDUAL_TARGET: "what the residual starts from",
    Role.BONUS_FROM: "where the bonus token is drawn",
    Role.DRAFTED_FROM: "what the draft token was really drawn from",
    Role.ACCEPT_DRAFT: "denominator of the acceptance test",
    Role.RESIDUAL_DRAFT: "what the residual subtracts",
}
_IN_A_CORRECT_ENGINE: dict[Role, str] = {
    Role.REFERENCE: "the definition of right",
    Role.ACCEPT_TARGET: "equal to reference",
    Role.RESIDUAL_TARGET: "equal to reference",
    Role.BONUS_FROM: "equal to reference at the next position",
    Role.DRAFTED_FROM: "any distribution",
    Role.ACCEPT_DRAFT: "equal to drafted_from, or one-hot at the drafted token",
    Role.RESIDUAL_DRAFT: "equal to accept_draft",
}


def contents() -> dict[str, list[tuple[str, str]]]:
    """Titles with the names below them and one line about each."""
    return {
        "findings": [(entry.ident, _said_of(entry)) for entry in catalogue.CATALOGUE],
        "rules": [(rule.name, rule.title) for rule in RULES],
        "rules over proposals": [(rule.name, rule.title) for rule in JOINT_RULES],
        "length rules": [(rule.name, rule.summary) for rule in LENGTH_RULES],
        "processors": [(p.name, p.summary) for p in PROCESSORS],
        "roles": [(role.value, text) for role, text in ROLES.items()],
        "engines": [(preset.name, preset.title) for preset in presets()],
        "more": [
            *TOPICS.items(),
            ("exit-codes", "what each exit code means"),
        ],
    }


def _said_of(entry: catalogue.Entry) -> str:
    return f"{entry.summary} (not raised yet)" if entry.later else entry.summary


def page(name: str) -> str:
    """The page of that name, underscores read as hyphens, or the pages where two things share it;
    SettingsError with the nearest names when there is none."""
    plain = name.strip().lower().replace("_", "-")
    pages = (
        _rule,
        _joint_rule,
        _length_rule,
        _processor,
        catalogue.page,
        _role,
        topic,
        _exit_codes,
        _engine,
    )
    found = [text.strip("\n") for text in (find(plain) for find in pages) if text]
    if not found:
        known = [entry for entries in contents().values() for entry, _ in entries]
        raise SettingsError(
            f"nothing is called {name[:40]!r}",
            expected="a name that `specdist explain` lists",
            advice=near(plain.replace("-", "_"), [k for k in known if "_" in k])
            or near(plain, known)
            or "specdist explain",
        )
    return "\n\n\n".join(found) + "\n"


def _processor(name: str) -> str | None:
    return next((p.page for p in PROCESSORS if name in map(str.lower, (p.name, *p.aliases))), None)


def _rule(name: str) -> str | None:
    return next((r.page for r in RULES if name in map(str.lower, (r.name, *r.aliases))), None)


def _joint_rule(name: str) -> str | None:
    known = (rule for rule in JOINT_RULES if name in map(str.lower, (rule.name, *rule.aliases)))
    return next((rule.page for rule in known), None)


def _length_rule(name: str) -> str | None:
    """The page of a length rule, or the one of all of them, which is under every name."""
    from importlib.resources import files

    rule = next((rule for rule in LENGTH_RULES if name in (rule.name, *rule.aliases)), None)
    if rule is None:
        return None
    own = files("specdist.rules.lengths").joinpath("pages", f"{rule.name}.md")
    return own.read_text("utf-8") if own.is_file() else topic("lengths")


def _engine(name: str) -> str | None:
    preset = found_preset(name)
    return None if preset is None else "\n".join(engine_page(preset))


def _role(name: str) -> str | None:
    role = next((role for role in Role if role.value == name.replace("-", "_")), None)
    if role is None:
        return None
    lines = (
        f"{role.value}: {ROLES[role]}",
        "",
        f"in a correct engine   {_IN_A_CORRECT_ENGINE[role]}",
        f"replaced by           --role {role.value}=RECIPE",
        "",
        "A role never inherits from an overridden role. Only the enumeration decides;",
        "roles that differ are allowed as long as the output law is the reference.",
    )
    return "\n".join(lines)


def _exit_codes(name: str) -> str | None:
    if name != "exit-codes":
        return None
    lines = [f"{code.value:>3}  {text}" for code, text in MEANING.items()]
    order = "When several apply: 70, 2, 1, 4, 3, 0. --exit-zero turns 1 and 4 into 0."
    return "\n".join([*lines, "", order])

"""A rule over proposals that a user wrote in a Python file, ``--rule my_rule.py:MyRule``.

The protocol. The class has a constructor without arguments and one method::

    def outcomes(self, proposal, models):
        yield mass, accepted, then          # or (mass, accepted, then, bonus), or an Outcome

``proposal.tokens`` are the drafted tokens by node, ``proposal.tree`` their `DraftTree`, and
``proposal.prefix(node)`` the tokens from the root to a node. ``models.law(role, prefix, rank=0)``
is the processed law of a role by its name ("accept_target") after a prefix: a tuple of Fractions,
one a token; ``models.size`` is their number, ``models.one_hot`` the names of the draft roles that
are the point mass at the drafted token and have no law.

Each outcome says: with probability ``mass`` given this proposal, the draft tokens ``accepted`` are
kept (a path of the proposal from the root), then one more token is emitted: ``then`` is its id, or
the law it is drawn from, or None where nothing more is emitted. ``bonus``: nothing was rejected.
Masses and laws are Fractions or whole numbers; floats are refused. The masses of one proposal are
at least 0 and sum to 1 exactly, and a law sums to 1 exactly.

Optional attributes of the class: ``name``, ``title``, and ``lossless`` (default True): whether the
rule claims the law of the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import log10
from typing import Any

from specdist.errors import SettingsError
from specdist.model.conditional import Prefix, written_prefix
from specdist.model.recipe import RecipeStep
from specdist.model.role import Role
from specdist.model.step_forms import nearest_names
from specdist.model.user_rule import UserRule
from specdist.rules.joint.joint_rule import JointRule
from specdist.rules.joint.outcomes import Drafted, Law, Outcome, PrefixLaws
from specdist.rules.joint.user_code import run_users
from specdist.rules.rule import Kind

_ZERO, _ONE = Fraction(0), Fraction(1)
_END = object()
_OUTCOME = "(mass, accepted, then), (mass, accepted, then, bonus) or specdist.Outcome"


def joint_rule_of(user: UserRule) -> JointRule:
    """The user's rule as a rule like any other; it has no parameters and no page."""

    def outcomes(drafted: Drafted, laws: PrefixLaws, use: RecipeStep) -> Iterator[Outcome]:
        return checked_outcomes(user, drafted, laws)

    kind: Kind = "lossless" if user.lossless else "lossy"
    return JointRule(user.name, user.title, kind, outcomes, foreign=True)


@dataclass(frozen=True, slots=True)
class UserModels:
    """The laws of all roles as a user's rule asks for them: roles by name."""

    laws: PrefixLaws
    known: dict[int, Law] = field(default_factory=dict)
    """The laws that were given out, by identity: they need no check when they come back."""

    @property
    def size(self) -> int:
        """Tokens in the vocabulary."""
        return self.laws.size

    @property
    def one_hot(self) -> frozenset[str]:
        """The draft roles that are the point mass at the drafted token."""
        return frozenset(role.value for role in self.laws.one_hot)

    def law(self, role: str, prefix: Iterable[int] = (), rank: int = 0) -> Law:
        """The law of a role after a prefix: a Fraction for every token, of sum 1.

        Raises SettingsError for an unknown role and one that is one-hot, CaptureError for a prefix
        without a row.
        """
        named = _role(role)
        if named in self.laws.one_hot:
            raise SettingsError(
                f"the role {named.value} is one-hot and has no law",
                expected="the point mass at the drafted token",
                advice="models.one_hot names such roles",
            )
        tokens = tuple(prefix)
        if any(type(token) is not int or not 0 <= token < self.size for token in tokens):
            raise SettingsError(
                f"the law of {named.value} is asked for after tokens that do not exist",
                expected=f"a prefix of token ids from 0 to {self.size - 1}, such as (0, 2)",
            )
        if type(rank) is not int or rank < 0:
            raise SettingsError(f"the rank is {_kind(rank)}", expected="a whole number, 0 or more")
        law = self.laws.law(named, tokens, rank)
        self.known[id(law)] = law
        return law


def _role(name: str) -> Role:
    names = [role.value for role in Role]
    written = str(name).replace("-", "_")
    if written in names:
        return Role(written)
    raise SettingsError(
        f"there is no role {name!r:.60}",
        expected="one of " + ", ".join(names),
        advice=nearest_names(written, names),
    )


def checked_outcomes(user: UserRule, drafted: Drafted, laws: PrefixLaws) -> Iterator[Outcome]:
    """The outcomes of the user's rule on one proposal, each checked as it comes.

    Raises SettingsError that names the rule, the proposal and the outcome: an exception in the
    user's code, a wrong form, a negative mass, a float, a path or a token that is not there, and
    masses whose sum is not 1.
    """
    models = UserModels(laws)
    check = _Check(user, drafted, models)
    total, count = _ZERO, 0
    for count, item in enumerate(_called(user, drafted, models), 1):
        outcome = check.outcome(item, count)
        total += outcome.mass
        if total > 1:
            raise check.error(f"its masses sum to at least {_shown(total)}", "masses of sum 1")
        yield outcome
    if total != 1:
        what = f"its masses sum to {_shown(total)}" if count else "it has no outcomes"
        raise check.error(what, "outcomes whose masses sum to 1")


def _called(user: UserRule, drafted: Drafted, models: UserModels) -> Iterator[Any]:
    """What the user's method yields; its exceptions become errors with file and line."""
    where = f" for the proposal {_tokens(drafted)}"

    def started() -> Iterator[Any]:
        found = user.made.outcomes(drafted, models)
        if not isinstance(found, Iterable):
            raise SettingsError(
                f"rule {user.text}: outcomes returned {_kind(found)}",
                expected="outcomes, yielded or as a list",
                advice="specdist explain user-rules",
            )
        return iter(found)

    items = run_users(user, where, started)
    while (item := run_users(user, where, lambda: next(items, _END))) is not _END:
        yield item


def _tokens(drafted: Drafted) -> str:
    return written_prefix(drafted.tokens)


def _shown(value: Fraction | int) -> str:
    value = Fraction(value)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= 40:
        return str(value)
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        bits = value.numerator.bit_length() - value.denominator.bit_length()
        return f"about {'-' if value < 0 else ''}10^{round(bits * log10(2))}"


class _Check:
    """Checks the outcomes of one proposal."""

    def __init__(self, user: UserRule, drafted: Drafted, models: UserModels) -> None:
        self._user, self._drafted, self._models = user, drafted, models
        self._paths = {(), *(drafted.prefix(node) for node in range(drafted.tree.nodes))}

    def error(self, what: str, expected: str, count: int = 0) -> SettingsError:
        """The error about this proposal, or about its outcome number ``count``."""
        place = f"{self._user.file}, proposal {_tokens(self._drafted)}"
        return SettingsError(
            f"rule {self._user.text}: {what}",
            place=f"{place}, outcome {count}" if count else place,
            expected=expected,
            advice="specdist explain user-rules",
        )

    def outcome(self, item: Any, count: int) -> Outcome:
        if isinstance(item, Outcome):
            parts = (item.mass, item.accepted, item.then, item.bonus)
        elif isinstance(item, tuple | list) and len(item) in (3, 4):
            parts = (*item, False)[:4]
        else:
            raise self.error(f"an outcome cannot be {_kind(item)}", _OUTCOME, count)
        mass = self._number("the mass", parts[0], count)
        accepted = self._path(parts[1], count)
        if not isinstance(parts[3], bool):
            raise self.error(f"bonus cannot be {_kind(parts[3])}", "True or False", count)
        return Outcome(mass, accepted, self._then(parts[2], count), parts[3])

    def _number(self, what: str, value: Any, count: int) -> Fraction:
        if type(value) not in (int, Fraction):
            expected = "a Fraction or a whole number: floats are rounded"
            raise self.error(f"{what} is {_kind(value)}", expected, count)
        if value < 0:
            raise self.error(f"{what} is negative, {_shown(value)}", "0 or more", count)
        return value if isinstance(value, Fraction) else Fraction(value)

    def _path(self, value: Any, count: int) -> Prefix:
        expected = "the tokens of a path from the root, as proposal.prefix(node) gives them"
        if not isinstance(value, tuple | list):
            raise self.error(f"the accepted tokens are {_kind(value)}", expected, count)
        path = tuple(value)
        for token in path:
            if type(token) is not int:
                message = f"the accepted tokens are no path: one is {_kind(token)}"
                raise self.error(message, expected, count)
        if path not in self._paths:
            shown = ",".join(map(_shown, path[:8])) + (",..." if len(path) > 8 else "")
            message = f"the accepted tokens ({shown}) are no path of the proposal"
            raise self.error(message, expected, count)
        return path

    def _then(self, value: Any, count: int) -> Law | int | None:
        if value is None or self._models.known.get(id(value)) is value:
            return value
        size = self._models.size
        if type(value) is int:
            if 0 <= value < size:
                return value
            message = f"the next token {_shown(value)} is outside the vocabulary of {size} tokens"
            raise self.error(message, f"0 to {size - 1}", count)
        expected = f"a token id, a law of {size} numbers, or None"
        if not isinstance(value, tuple | list):
            raise self.error(f"the next token is {_kind(value)}", expected, count)
        if len(value) != size:
            raise self.error(f"the law has {len(value)} numbers", expected, count)
        law = tuple(self._number(f"the law at {i}", x, count) for i, x in enumerate(value))
        if sum(law) != _ONE:
            raise self.error(f"the law sums to {_shown(sum(law, _ZERO))}", "a sum of 1", count)
        return law


def _kind(value: Any) -> str:
    """``a float, 0.5``."""
    if value is None:
        return "None"
    name = type(value).__name__
    article = "an" if name[0] in "aeiou" else "a"
    return f"{article} {name}" + (f", {value!r:.24}" if isinstance(value, float | str) else "")

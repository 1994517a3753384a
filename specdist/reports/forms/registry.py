"""Every form of a report, a line each."""

from __future__ import annotations

from specdist.reports.forms.form import Form

_HERE = "specdist.reports.forms."

FORMS: tuple[Form, ...] = (
    Form("text", f"{_HERE}text_form", "what people read"),
    Form("json", f"{_HERE}json_form", "the whole report, specdist.report/1", whole=True),
    Form("jsonl", f"{_HERE}jsonl_form", "a step a line, the summary last", whole=True),
    Form("junit", f"{_HERE}junit", "JUnit XML, a test case a step"),
    Form("sarif", f"{_HERE}sarif", "SARIF 2.1.0, for code scanning"),
    Form("github", f"{_HERE}github", "annotations of GitHub Actions"),
    Form("gitlab", f"{_HERE}gitlab", "GitLab code quality"),
    Form("markdown", f"{_HERE}markdown", "a comment on a merge request"),
    Form("csv", f"{_HERE}csv_form", "a row a position", printed=False),
    Form("html", f"{_HERE}html", "one page with pictures", True, False, False, False),
)
BY_NAME = {form.name: form for form in FORMS}
PRINTED = tuple(form.name for form in FORMS if form.printed)

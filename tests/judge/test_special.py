"""The trees of textbook forms: the file that comes with the package, and what happens when it is of other forms."""

import json
from dataclasses import replace
from importlib import resources

from unisymnet.judge import special
from unisymnet.judge.forms import FORMS
from unisymnet.judge.special import make_table, table


def test_the_file_holds_what_the_forms_give():
    stored = json.loads(resources.files("unisymnet.judge").joinpath("forms.json").read_text("utf-8"))
    assert stored == make_table(FORMS), "run python benchmarks/make_forms.py"


def test_a_fit_rewrites_no_form(monkeypatch):
    """Making the trees took a third of a second of somebody's half second."""
    monkeypatch.setattr(special, "simplify", None)
    trees = table(FORMS)
    found = trees.templates(("c", "c", "mul", "pow", "x"))
    assert [template.form.name for template in found][:1] == ["power law"]
    assert found is trees.templates(("c", "c", "mul", "pow", "x"))
    assert trees.templates(("x", "x", "x")) == ()


def test_other_forms_are_made_anew():
    few = (replace(FORMS[0], weight=7.0), FORMS[5])
    trees = table(few)
    names = {template.form.name for shape in trees.rows for template in trees.templates(tuple(shape.split()))}
    assert names == {"line", "power law"}
    assert trees.special_weight > 0.0

"""Nothing of a column name reaches generated source unescaped, whoever reads it: node, gcc, Python, sympy."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from attacks import names as attack
from unisymnet.formula import Formula
from unisymnet.symbolic.writers.names import C_WORDS, JS_WORDS, PYTHON_WORDS, comment_line, identifiers

NAMES = attack.names(260)


@pytest.mark.parametrize("language", attack.LANGUAGES)
def test_every_export_of_every_name_has_the_shape_it_should_have(language: str) -> None:
    wrong = []
    for name in NAMES:
        for place, formula in enumerate(attack.formulas(name)):
            if language == "json" and "\ud800" in name:
                continue  # half a character cannot be read back; test_a_damaged_file_is_refused
            found = attack.fault(formula, language)
            if found:
                wrong.append((name, place, found))
    assert wrong == []


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_node_runs_nothing_of_a_name(tmp_path: Path) -> None:
    formulas = [formula for name in NAMES for formula in attack.formulas(name)]
    script = tmp_path / "all.js"
    script.write_text(attack.js_file(formulas, tmp_path), "utf-8")
    done = subprocess.run(["node", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
    assert os.listdir(tmp_path) == ["all.js"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("standard", ["c99", "gnu17"])  # c99 knows trigraphs
def test_gcc_compiles_nothing_of_a_name(standard: str, tmp_path: Path) -> None:
    formulas = [formula for name in NAMES for formula in attack.formulas(name)]
    source, result = tmp_path / "all.c", tmp_path / "all.o"
    source.write_text(attack.c_file(formulas), "utf-8")
    wanted = ["gcc", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-c", source, "-o", result]
    done = subprocess.run(wanted, capture_output=True, text=True, timeout=60)
    assert done.stderr == "" and done.returncode == 0
    symbols = subprocess.run(["nm", "--defined-only", result], capture_output=True, text=True, check=True).stdout
    kinds = {line.split()[1] for line in symbols.splitlines()}
    assert kinds == {"T"} and "pwned_c" not in {line.split()[2] for line in symbols.splitlines()}


def test_sympy_reads_the_text_back_as_symbols(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        for formula in attack.formulas(name):
            read = sympy.sympify(formula.to("sympy"))
            assert all(symbol.is_Symbol for symbol in read.free_symbols) and len(read.free_symbols) == 2
    assert os.listdir(tmp_path) == []


def test_identifiers_are_distinct_and_near_to_the_names() -> None:
    given = ["length", "Length (m)", "length", "λ", "Δt", "class", "2nd", "µ_s", "T, K", "", "é"]
    wanted = ["length", "Length_m", "length_2", "lambda", "Delta_t", "class", "x_2nd", "mu_s", "T_K", "x", "e"]
    found = identifiers(given, frozenset(["lambda"]))
    assert found == ["x_lambda" if name == "lambda" else name.replace("Delta_t", "Deltat") for name in wanted]
    assert len(set(identifiers(NAMES, frozenset()))) == len(NAMES)


def test_a_comment_is_one_line_that_ends_nothing() -> None:
    assert comment_line('y = a**2*/b\n"""\\') == "y = a**2* /b '''/"


def test_excel_cells_are_those_of_the_sheet_given() -> None:
    law = Formula.parse("2*v + m", ["m", "v"])
    assert law.to("excel") == "=2*B2 + A2"
    assert law.to("excel", cells=["date", "m", "note", "v"]) == "=2*D2 + B2"
    with pytest.raises(ValueError, match="the sheet has no column 'v'; it has date, m"):
        law.to("excel", cells=["date", "m"])


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6))
def test_any_names_become_distinct_words(given_names: list[str]) -> None:
    for reserved in (PYTHON_WORDS, C_WORDS, JS_WORDS):
        found = identifiers(given_names, reserved)
        assert len(set(found)) == len(found) and not set(found) & reserved
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", word) and len(word) < 64 for word in found)
    line = comment_line(" ".join(given_names))
    assert line.isprintable() and "*/" not in line and not set(line) & set('\\"')


@given(st.text(max_size=40))
def test_any_name_is_one_line_in_a_formula_and_reads_back(name: str) -> None:
    formula = Formula(Formula.parse("2*x0 + 1").expr, (name,))
    assert str(formula).isprintable() and Formula.parse(str(formula), [name]).expr == formula.expr

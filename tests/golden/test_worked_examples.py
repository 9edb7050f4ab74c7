"""The paper's worked examples, kept as data in worked_examples.json."""

import json
from pathlib import Path
from typing import Any

import pytest

from unisymnet.symbolic import parse
from unisymnet.symbolic.network.counts import counts
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.psi import unify
from unisymnet.symbolic.network.skeleton import to_skeleton
from unisymnet.symbolic.network.structure import Structure
from unisymnet.symbolic.network.tokens import Vocabulary
from unisymnet.symbolic.operators import UNARY_LIBRARY

EXAMPLES: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("worked_examples.json").read_text("utf-8")
)


def examples(kind: str) -> Any:
    return pytest.mark.parametrize("example", EXAMPLES[kind], ids=lambda e: e["where"])


@examples("counts")
def test_counts(example: dict[str, Any]) -> None:
    size = counts(parse(example["formula"]))
    assert [size.unisymnet.depth, size.unisymnet.nodes] == example["unisymnet"]
    if "eql" in example:
        assert [size.eql.depth, size.eql.nodes] == example["eql"]
    if "tree_depth" in example:
        assert size.tree.depth == example["tree_depth"]


@examples("psi")
def test_psi(example: dict[str, Any]) -> None:
    assert unify(parse(example["formula"])) == parse(example["unified"])


@examples("identify")
def test_identify(example: dict[str, Any]) -> None:
    structure = identify(parse(example["formula"])).structure
    assert [list(layer) for layer in structure.ops] == example["ops"]
    assert [[list(sources) for sources in layer] for layer in structure.inputs] == example["inputs"]


@examples("merging")
def test_merging(example: dict[str, Any]) -> None:
    structure = Structure(1, example["ops"], example["weights"], example["biases"])
    assert str(to_skeleton(structure)) == example["skeleton"]


@examples("layout")
def test_layout(example: dict[str, Any]) -> None:
    """sin(x0) takes the first row of its operator: its place tells the order."""
    vocabulary = Vocabulary(1, example["repeats"], 2)
    order = [op for op in UNARY_LIBRARY for _ in range(example["repeats"])]
    assert order == example["order"]
    for op in UNARY_LIBRARY[1:]:
        label = vocabulary.encode(identify(parse(f"{op}(x0)")).structure)
        assert label[2] == 1 + order.index(op)

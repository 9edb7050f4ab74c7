import json

import numpy as np
import pytest

from unisymnet.bench.records import append_record, chosen, mend, read_records, resumed
from unisymnet.formula.stored import finite


def test_a_torn_last_line_is_passed_over_and_mended(tmp_path):
    path = tmp_path / "deep" / "out.jsonl"
    append_record(path, {"n": 1})
    append_record(path, {"n": 2})
    with path.open("a") as file:
        file.write('{"n": 3, "expre')
    assert [record["n"] for record in read_records(path)] == [1, 2]
    mend(path)
    append_record(path, {"n": 4})
    assert [record["n"] for record in read_records(path)] == [1, 2, 4]


@pytest.mark.parametrize(("text", "left"), [("{", ""), ('{"n": 1}', '{"n": 1}\n'), ("", ""), ("{}\n[", "{}\n")])
def test_mending_keeps_every_whole_line(tmp_path, text, left):
    path = tmp_path / "out.jsonl"
    path.write_text(text)
    mend(path)
    assert path.read_text() == left


def test_a_broken_line_in_the_middle_is_an_error(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text('{"n": 1}\n{"n"\n{"n": 3}\n')
    with pytest.raises(ValueError, match="line 2, is not JSON"):
        list(read_records(path))


def test_values_become_plain_json():
    value = {"a": np.float64("nan"), "b": [np.int64(3), float("inf"), np.bool_(True)], "c": (1.5, None, "é")}
    assert json.loads(json.dumps(finite(value))) == {"a": None, "b": [3, None, True], "c": [1.5, None, "é"]}


def test_no_file_holds_no_records(tmp_path):
    mend(tmp_path / "none.jsonl")
    assert list(read_records(tmp_path / "none.jsonl")) == []


def test_a_benchmark_goes_on_where_it_was_killed(tmp_path):
    keys = [{"problem": name, "noise": 0.0, "run": {"seed": seed}} for name in "ab" for seed in (1, 2)]
    out, asked, told = tmp_path / "new" / "records.jsonl", [], []

    def made(missing):
        for key in reversed(missing):  # in any order
            asked.append(key)
            yield key, {**key, "found": key["problem"] * key["run"]["seed"]}

    assert [r["found"] for r in resumed(keys[:2], out, made, told.append)] == ["a", "aa"]
    with out.open("a") as file:
        file.write('{"problem": "b", "noi')  # killed while it wrote
    assert [r["found"] for r in resumed(keys, out, made, told.append)] == ["a", "aa", "b", "bb"]
    assert len(asked) == len(told) == len(list(read_records(out))) == 4
    whole = [{**key, "noise": 0} for key in keys]  # 0 and 0.0 are the same run
    assert len(resumed(whole, out, made)) == 4 and len(asked) == 4
    assert resumed([], out, made) == [] and len(resumed(keys, None, made)) == 4 and len(asked) == 8


def test_unknown_names_are_told_with_those_that_exist():
    assert chosen(["a", "b", "c"], ["c", "a"], "the suite") == ["a", "c"] and chosen(["a"], None, "") == ["a"]
    with pytest.raises(ValueError, match="the suite has no 'd'; it has a, b, c"):
        chosen(["a", "b", "c"], ["a", "d"], "the suite")

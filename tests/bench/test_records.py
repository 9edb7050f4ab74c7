import json

import numpy as np
import pytest

from unisymnet.bench.records import append_record, jsonable, mend, read_records


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
    assert json.loads(json.dumps(jsonable(value))) == {"a": None, "b": [3, None, True], "c": [1.5, None, "é"]}


def test_no_file_holds_no_records(tmp_path):
    mend(tmp_path / "none.jsonl")
    assert list(read_records(tmp_path / "none.jsonl")) == []

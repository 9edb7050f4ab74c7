"""The file of events: numbered, appended whole, readable while it is written."""

from pathlib import Path

from unisymnet.serve.events import NAME, Log, Reader, last_kind, read_events


def test_the_id_is_the_number_of_the_line(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for number in range(3):
        log.write("stage", tried=number)
    reader = Reader(tmp_path / NAME)
    assert [number for number, _ in reader.read()] == [1, 2, 3]
    log.write("end")
    assert [number for number, _ in reader.read()] == [4]
    assert reader.read() == []
    assert [number for number, _ in Reader(tmp_path / NAME).read(after=2)] == [3, 4]
    log.close()


def test_a_line_that_a_crash_has_cut_is_skipped_and_keeps_its_number(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.write("start")
    log.close()
    with (tmp_path / NAME).open("ab") as file:
        file.write(b'{"kind":"form')
    reader = Reader(tmp_path / NAME)
    assert len(reader.read()) == 1
    assert last_kind(tmp_path) == "start"
    log = Log(tmp_path)  # the next writer closes the line
    log.write("end")
    log.close()
    assert [number for number, _ in reader.read()] == [3]
    assert [event["kind"] for event in read_events(tmp_path)] == ["start", "end"]


def test_half_a_line_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / NAME
    reader = Reader(path)
    assert reader.read() == []  # no file yet
    with path.open("ab", buffering=0) as file:
        file.write(b'{"kind":"st')
        assert reader.read() == []
        file.write(b'art","name":"\xc3\xbc"}\n')
    assert reader.read() == [(1, '{"kind":"start","name":"ü"}')]


def test_numbers_that_json_does_not_know(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.write("formula", r2=float("-inf"), values=[1.0, float("nan")])
    log.close()
    assert read_events(tmp_path) == [{"kind": "formula", "r2": None, "values": [1.0, None]}]

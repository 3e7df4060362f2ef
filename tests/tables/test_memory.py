"""How much memory there is, and how much tables take."""

import gzip

import numpy as np
import polars as pl
import pytest

from replearn.tables import memory
from replearn.tables.memory import available_memory, memory_needed, parse_memory, size_of_table

GIB = 1 << 30


def system(root, group, files, available=64 * GIB):
    """Write the files of a system: its memory, the group of the process, and groups."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {available // 1024} kB\n")
    (root / "proc/self/cgroup").write_text(group)
    for name, content in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return root


def test_the_machine_alone(tmp_path):
    assert available_memory(system(tmp_path, "", {})) == 64 * GIB


def test_a_container_of_version_2(tmp_path):
    files = {
        "memory.max": 4 * GIB,
        "memory.current": 3 * GIB,
        "memory.stat": f"anon 5\ninactive_file {GIB}",
    }
    assert available_memory(system(tmp_path, "0::/", files)) == 2 * GIB


def test_the_smallest_of_the_groups_around_counts(tmp_path):
    files = {
        "user/memory.max": 3 * GIB,
        "user/memory.current": GIB,
        "user/job/memory.max": "max",
        "user/job/memory.current": GIB,
    }
    assert available_memory(system(tmp_path, "0::/user/job", files)) == 2 * GIB


def test_a_container_of_version_1(tmp_path):
    files = {
        "memory/docker/abc/memory.limit_in_bytes": 5 * GIB,
        "memory/docker/abc/memory.usage_in_bytes": GIB,
        "memory/memory.limit_in_bytes": 9223372036854771712,
        "memory/memory.usage_in_bytes": GIB,
    }
    group = "12:cpu:/\n5:memory:/docker/abc\n"
    assert available_memory(system(tmp_path, group, files)) == 4 * GIB


def test_a_group_that_is_seen_from_inside_only(tmp_path):
    files = {"memory/memory.limit_in_bytes": GIB, "memory/memory.usage_in_bytes": 0}
    assert available_memory(system(tmp_path, "5:memory:/docker/abc\n", files)) == GIB


def test_this_machine_has_some():
    found = available_memory()
    assert found is None or found > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3GiB", 3 * GIB), ("1.5 gib", 3 * GIB // 2), ("2GB", 2 * 10**9), ("512m", 512 * 10**6)],
)
def test_amounts(text, expected):
    assert parse_memory(text) == expected


@pytest.mark.parametrize("text", ["", "many", "-1GiB", "0", "3 PiB"])
def test_what_is_no_amount(text):
    with pytest.raises(ValueError, match="is not an amount of memory"):
        parse_memory(text)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    texts = rng.choice(["Ulm", "Rom"], 20_000)
    return pl.DataFrame({"a": rng.normal(size=20_000), "n": range(20_000), "town": texts})


def test_parquet_files_tell_their_size(frame, tmp_path):
    frame.write_parquet(tmp_path / "rows.parquet")
    found = size_of_table(tmp_path / "rows.parquet")
    assert found.rows == 20_000
    assert frame.estimated_size() <= found.bytes <= 4 * frame.estimated_size()


def test_text_files_are_as_long_as_they_are(frame, tmp_path):
    frame.write_csv(tmp_path / "rows.csv")
    found = size_of_table(tmp_path / "rows.csv")
    assert 0.9 * 20_000 < found.rows < 1.1 * 20_000
    assert found.bytes == (tmp_path / "rows.csv").stat().st_size
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "rows.csv").read_bytes()))
    assert size_of_table(packed).bytes > packed.stat().st_size


def test_small_files_are_not_looked_at(frame, tmp_path, monkeypatch):
    frame.write_parquet(tmp_path / "rows.parquet")
    assert memory_needed(tmp_path / "rows.parquet") == 0
    assert memory_needed(tmp_path / "missing.parquet") == 0
    monkeypatch.setattr(memory, "SMALL_BYTES", 0)
    needed = memory_needed(tmp_path / "rows.parquet")
    assert needed > memory.BASE_BYTES
    more = memory_needed(tmp_path / "rows.parquet", bytes_per_row=100)
    assert more == needed + 100 * 20_000

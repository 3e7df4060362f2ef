"""How much memory there is."""

import pytest

from replearn.tables.memory import available_memory, parse_memory

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

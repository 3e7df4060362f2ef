"""How much memory there is."""

import pytest

from replearn.tables.memory import available_memory, parse_memory

GIB = 1 << 30


def system(root, files, available=64 * GIB):
    """Write the files of a system: its memory, and its limits if it is a container."""
    (root / "proc").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {available // 1024} kB\n")
    for name, content in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return root


def test_the_machine_alone(tmp_path):
    assert available_memory(system(tmp_path, {})) == 64 * GIB
    assert available_memory(system(tmp_path / "other", {"memory.max": "max"})) == 64 * GIB


def test_a_container(tmp_path):
    files = {
        "memory.max": 4 * GIB,
        "memory.current": 3 * GIB,
        "memory.stat": f"anon 5\ninactive_file {GIB}",
    }
    assert available_memory(system(tmp_path, files)) == 2 * GIB


def test_a_system_without_such_files(tmp_path):
    assert available_memory(tmp_path) is None


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

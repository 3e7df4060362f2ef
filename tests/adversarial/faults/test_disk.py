"""Full disks, closed folders, two writers: an error that names the file, and nothing is lost."""

import errno
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier, audit, load, save
from replearn.cli import main
from replearn.persistence.block_folder import resumable
from tests.adversarial.faults.victims import NEW, X, Y, learner

resource = pytest.importorskip("resource")
ROWS = slice(0, 500)


@contextmanager
def no_file_above(size):
    """Files cannot grow beyond so many bytes: what a full disk does, without one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def tmpfs(folder, options):
    """Mount a small file system, where that is allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, check=False, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip("may not mount a file system here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def read_only(folder):
    """A folder nobody may write into; root may write anywhere but on a read-only file system."""
    if os.geteuid() == 0:
        with tmpfs(folder, "ro") as closed:
            yield closed
        return
    folder.mkdir()
    folder.chmod(0o555)
    try:
        yield folder
    finally:
        folder.chmod(0o755)


def visible(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_save_on_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.replearn"
    small, large = (learner(n_blocks=n).fit(X, Y) for n in (8, 60))
    save(small, path)
    with (
        no_file_above(path.stat().st_size),
        pytest.raises(OSError, match=r"model\.replearn") as full,
    ):
        save(large, path)
    assert full.value.errno == errno.EFBIG
    assert visible(tmp_path) == ["model.replearn"]  # no temporary file is left
    again = load(path, shared_key="victim")
    assert (again.margin(NEW) == small.margin(NEW)).all()


def test_a_fit_on_a_full_disk_keeps_its_blocks(tmp_path):
    whole = learner().fit(X, Y)
    named = pytest.raises(OSError, match=r"training\.json|block-\d+")
    with no_file_above(700), named as full:
        learner().fit(X, Y, context=resumable(tmp_path))
    assert full.value.errno == errno.EFBIG
    again = learner().fit(X, Y, context=resumable(tmp_path))
    assert (again.margin(NEW) == whole.margin(NEW)).all()
    assert not [name for name in visible(tmp_path) if name.startswith(".")]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["fit", "audit"])
def test_a_disk_that_fills_up_on_the_way(kind, tmp_path):
    def work(folder):
        if kind == "fit":
            return learner().fit(X, Y, context=resumable(folder)).margin(NEW).tobytes()
        found = audit({"nb": GaussianNB()}, X, Y, n_pairs=40, shared_key="k", resume=folder)
        return found.to_json(timings=False)

    expected = work(tmp_path / "elsewhere")
    with tmpfs(tmp_path / "small", "size=64k") as small:
        with pytest.raises(OSError, match="small") as full:
            work(small / "kept")
        assert full.value.errno == errno.ENOSPC
        kept = [path for path in (small / "kept").rglob("*") if path.is_file()]
        assert len(kept) > 3
        assert not [path for path in kept if path.name.startswith(".")]
        subprocess.run(["mount", "-o", "remount,size=4m", str(small)], check=True)
        assert work(small / "kept") == expected


def test_read_only_folders(tmp_path, capsys):
    model = learner(n_blocks=8).fit(X, Y)
    table = tmp_path / "data.csv"
    np.savetxt(table, np.column_stack([X[:, :3], Y]), delimiter=",", header="a,b,c,y", comments="")
    with read_only(tmp_path / "closed") as closed:
        with pytest.raises(OSError, match=r"closed/model\.replearn'"):
            save(model, closed / "model.replearn")
        with pytest.raises(OSError, match="closed"):
            learner().fit(X, Y, context=resumable(closed / "kept"))
        with pytest.raises(OSError, match="closed"):
            audit({"nb": GaussianNB()}, X, Y, n_pairs=2, resume=closed / "kept")
        (tmp_path / "key").write_text("a key")
        words = ["fit", str(table), "--target", "y", "--key-file", str(tmp_path / "key")]
        words += ["--max-fits", "20"]
        assert main([*words, "--out", str(closed / "m.replearn")]) == 2
        said = capsys.readouterr().err
        assert "m.replearn" in said
        assert "Traceback" not in said


def test_two_writers_of_one_fit_end_with_the_same_bits(tmp_path):
    expected = learner().fit(X, Y).margin(NEW)

    def fit(_):
        return learner().fit(X, Y, context=resumable(tmp_path)).margin(NEW)

    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(fit, range(3)):
            assert (found == expected).all()
    assert len([name for name in visible(tmp_path) if name.startswith("block-")]) == 30


@pytest.mark.parametrize("turn", range(3))
def test_two_writers_of_other_work_never_mix(tmp_path, turn):
    """Whoever comes second is refused; at the same moment both go on, each with its own files."""
    keys = ["one", "two"]
    expected = {key: learner(n_blocks=8, shared_key=key).fit(X, Y).margin(NEW) for key in keys}

    def fit(key):
        try:
            return (
                learner(n_blocks=8, shared_key=key)
                .fit(X, Y, context=resumable(tmp_path / str(turn)))
                .margin(NEW)
            )
        except ValueError as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(keys, pool.map(fit, keys), strict=True))
    refused = [said for said in found.values() if isinstance(said, str)]
    assert len(refused) < 2
    assert all("holds another fit" in said for said in refused)
    for key, margin in found.items():
        assert isinstance(margin, str) or (margin == expected[key]).all()


def test_two_savers_of_one_file(tmp_path):
    path = tmp_path / "model.replearn"
    models = [learner(n_blocks=n).fit(X[ROWS], Y[ROWS]) for n in (6, 10)]
    margins = {model.margin(NEW).tobytes() for model in models}

    def write(model: PointwiseReplicableClassifier):
        for _ in range(10):
            save(model, path)

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(write, model) for model in models]
        while not all(future.done() for future in done):
            if path.exists():
                assert load(path, shared_key="victim").margin(NEW).tobytes() in margins
        for future in done:
            future.result()
    assert visible(tmp_path) == ["model.replearn"]

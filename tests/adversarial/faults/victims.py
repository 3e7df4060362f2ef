"""Work that is killed again and again, each time at another moment; run as a process of its own.

``python -m tests.adversarial.faults.victims KIND KILLS SEED FOLDER`` loads the libraries once.
Every victim is a fork of it that works in the folder until it is killed by SIGKILL, after a random
time or at one of its own calls to the file system. What is left must be whole each time, and
whoever goes on from there must end with the bits of a run that nobody disturbed. Prints what was
counted, as JSON.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn import ReplicableSearchCV, audit, load, save
from replearn.persistence.block_folder import resumable
from replearn.persistence.model_file import describe
from replearn.records.json import unseal
from tests.factories import voting

X, Y = make_classification(900, n_informative=4, random_state=0)
NEW = make_classification(300, n_informative=4, random_state=1)[0]
KILLS_PER_ROUND = 5


def learner(base=None, n_blocks=30, **params):
    base = DecisionTreeClassifier(max_depth=4) if base is None else base
    fixed = {"rho": 0.5, "shared_key": "victim", "n_partitions": 1}
    return voting(base, n_blocks=n_blocks, **fixed | params)


# -- what is done, what must be whole, what must come out ------------------------------------------
class Fit:
    """A fit with a folder of finished blocks."""

    calls = 30  # victims die at one of so many first calls to the file system

    def work(self, folder):
        return [learner().fit(X, Y, context=resumable(folder)).margin(NEW).tobytes()]

    def check(self, folder):
        for path in folder.glob("training-*/block-*.model"):
            assert unseal(path.read_bytes()) is not None, f"half a block: {path}"
        for path in folder.glob("**/[!.]*.json"):
            json.loads(path.read_text("utf-8"))


class ThreadedFit(Fit):
    """The same with two threads."""

    def work(self, folder):
        return [learner(n_jobs=2).fit(X, Y, context=resumable(folder)).margin(NEW).tobytes()]


class Search(Fit):
    """A search whose blocks are kept."""

    def work(self, folder):
        search = ReplicableSearchCV(learner(n_blocks=8), {"estimator__max_depth": [1, 3]}, cv=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(X, Y, context=resumable(folder))
        return [str(search.best_params_).encode(), search.best_estimator_.margin(NEW).tobytes()]


class Audit:
    """An audit with a folder of finished pairs."""

    calls = 12

    def work(self, folder):
        contenders = {"bayes": GaussianNB(), "vote": learner(GaussianNB(), 12)}
        result = audit(contenders, X, Y, n_pairs=6, shared_key="victim", resume=folder)
        return [result.to_json(timings=False).encode()]

    def check(self, folder):
        for path in folder.glob("*.pair"):
            assert unseal(path.read_bytes()) is not None, f"half a pair: {path}"


class Save:
    """Two models that replace each other in one file."""

    calls = 60

    def __init__(self):
        self.models = [learner(n_blocks=n_blocks).fit(X, Y) for n_blocks in (20, 40)]
        self.margins = [model.margin(NEW).tobytes() for model in self.models]

    def work(self, folder):
        path = folder / "model.replearn"
        for turn in range(30):
            save(self.models[turn % 2], path, notes={"model": turn % 2})
        return self.check(folder)

    def check(self, folder):
        path = folder / "model.replearn"
        if not path.exists():  # killed before the first one was whole
            return []
        number = describe(path).notes["model"]
        assert load(path, shared_key="victim").margin(NEW).tobytes() == self.margins[number]
        return [self.margins[number]]


KINDS = {"fit": Fit, "threads": ThreadedFit, "search": Search, "audit": Audit, "save": Save}


# -- killing ---------------------------------------------------------------------------------------
def die_at(number):
    """Die at the given call to the file system; half of them before, half of them after it."""
    count = Counter()

    def deadly(module, name):
        real = getattr(module, name)

        def call(*args, **kwargs):
            count["calls"] += 1
            if count["calls"] == number:
                if number % 2:
                    real(*args, **kwargs)
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        setattr(module, name, call)

    deadly(os, "replace")
    deadly(os, "fsync")
    deadly(tempfile, "mkstemp")


def victim(work, folder, at_call=None):
    """Fork a process that works; return its number. It leaves its result in a file."""
    child = os.fork()
    if child:
        return child
    try:
        if at_call is not None:
            die_at(at_call)
        work(folder)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def kill_one(kind, folder, rng, seconds, told):
    """Let one victim work, kill it, and look at what it leaves; tell whether it was killed."""
    at_call = int(rng.integers(1, kind.calls)) if rng.random() < 0.5 else None
    child = victim(kind.work, folder, at_call)
    if at_call is None:
        time.sleep(rng.uniform(0, seconds / 2))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert killed or os.waitstatus_to_exitcode(status) == 0, f"a victim failed: {status}"
    told["kills"] += killed
    told["at a call"] += killed and at_call is not None
    told["finished before"] += not killed
    kind.check(folder)
    return killed


def main(name, kills, seed, home):
    rng, kind, told = np.random.default_rng(seed), KINDS[name](), Counter()
    undisturbed = Path(home, "undisturbed")
    undisturbed.mkdir()
    start = time.monotonic()
    expected = kind.work(undisturbed)
    seconds = time.monotonic() - start
    while told["kills"] < kills:
        folder = Path(home, "killed")
        folder.mkdir()
        for _ in range(KILLS_PER_ROUND):
            if not kill_one(kind, folder, rng, seconds, told):
                break
        assert kind.work(folder) == expected, "another result after kills"
        told["rounds"] += 1
        told["temporary files left"] += len(list(folder.rglob(".*")))
        shutil.rmtree(folder)
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])

"""How long does it take to save and load hundreds of models, and how large is the file?

    python benchmarks/model_files.py [--models 704] [--distinct 64] [--skops]

Models of blocks of 250 rows; `--distinct` of them are trained, the others are copies (the format
does not look for copies). `--skops` also writes a few of them one by one and extrapolates.
"""

import argparse
import copy
import time
import zipfile

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from replearn.persistence._trust import dump, load_trusted

LEARNERS = {
    "hgb": HistGradientBoostingClassifier,
    "forest": RandomForestClassifier,
    "tree": DecisionTreeClassifier,
    "logreg": LogisticRegression,
}
ROWS, N_FEATURES, FEW = 250, 10, 4


def trained(kind, count):
    rng = np.random.default_rng(0)
    models = []
    for seed in range(count):
        X = rng.normal(size=(ROWS, N_FEATURES))
        y = (X[:, 0] + rng.normal(size=ROWS) > 0).astype(int)
        models.append(kind(random_state=seed).fit(X, y))
    return models, X


def timed(work):
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def through_skops(models):
    from skops import io

    return io.dumps(models, compression=zipfile.ZIP_DEFLATED, compresslevel=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=704)
    parser.add_argument("--distinct", type=int, default=64)
    parser.add_argument("--learners", nargs="*", default=list(LEARNERS))
    parser.add_argument("--skops", action="store_true")
    args = parser.parse_args()
    print("| learner | models | save, CPU s | load, CPU s | MB | skops, save, CPU s (from a few) |")
    print("|---|--:|--:|--:|--:|--:|")
    for name in args.learners:
        some, X = trained(LEARNERS[name], args.distinct)
        models = [copy.deepcopy(some[i % args.distinct]) for i in range(args.models)]
        parts, saving = timed(lambda models=models: dump({"models": models}))
        back, loading = timed(lambda parts=parts: load_trusted(parts, (), "m")["models"])
        pairs = zip(models[:5], back[:5], strict=True)
        assert all((a.predict_proba(X) == b.predict_proba(X)).all() for a, b in pairs)
        size = sum(map(len, parts.values())) / 1e6
        slow = "-"
        if args.skops:
            _, seconds = timed(lambda models=models: through_skops(models[:FEW]))
            slow = f"{seconds * args.models / FEW:.0f}"
        cells = (name, args.models, f"{saving:.1f}", f"{loading:.1f}", f"{size:.1f}", slow)
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()

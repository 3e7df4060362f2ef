"""Conditions that labs may break in the same way: copied rows, incumbents, batches, rounding."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from _pairs import Outcome, outcome_of
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, scale
from sklearn.tree import DecisionTreeClassifier

from replearn import IncumbentClassifier, PointwiseReplicableClassifier
from replearn.checks.points import encode_probe

RHO, ROWS, POINTS, PIECE = 0.2, 2500, 300, 10

Table = tuple[pd.DataFrame, Any]
Pair = Callable[[int], Outcome]


def draw(rng: np.random.Generator, n: int, share: float = 0.5) -> Table:
    """Return four columns, and labels that hardly depend on them."""
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    return X, (rng.random(n) < share + 0.02 * np.sign(X["a"])).to_numpy().astype(int)


def learner(key: int, base: Any = None) -> PointwiseReplicableClassifier:
    """Return the classifier of both labs."""
    return PointwiseReplicableClassifier(base or GaussianNB(), rho=RHO, max_fits=60, shared_key=key)


def compared(models: list[Any], predictions: list[Any], shared: Any, probes: Any = None) -> Outcome:
    """Compare what two labs predict, and what their certificates say."""
    runs = [model.certificate_ for model in models]
    flips = float(np.mean(predictions[0] != predictions[1]))
    return outcome_of(runs[0].rho, flips, runs, probes)


# -- E1: incumbents --------------------------------------------------------------------------------
def incumbents(pair: int, *, shared: bool = True, bands: tuple[float | None, float | None]) -> Any:
    """Two labs with an incumbent each, or one for both; a band of None stands for no incumbent."""
    rng = np.random.default_rng([pair, 31])
    trees = [DecisionTreeClassifier(max_depth=6).fit(*draw(rng, 500)) for _ in range(2)]
    fresh = draw(rng, POINTS)[0]
    models = []
    for lab, band in enumerate(bands):
        old = None if band is None else trees[0 if shared else lab]
        model = IncumbentClassifier(learner(pair), old, memory=0, band=band or 0.0)
        models.append(model.fit(*draw(rng, ROWS)))
    runs = [model.certificate_ for model in models]
    one, two = (model.predict(fresh) for model in models)
    return outcome_of(runs[0].rho, float(np.mean(one != two)), runs)


# -- E2: rows that are not independent draws -------------------------------------------------------
def oversampled(rng: np.random.Generator) -> Table:
    """Return a sample whose rare class was drawn again until classes are equally frequent."""
    X, y = draw(rng, ROWS, 0.1)
    rare = np.flatnonzero(y)
    rows = np.r_[np.arange(ROWS), rng.choice(rare, ROWS - 2 * len(rare))]
    return X.iloc[rows], y[rows]


def repeated(rng: np.random.Generator, *, times: int, noise: float = 0.0) -> Table:
    """Return each row so many times, with small changes where there is noise."""
    X, y = draw(rng, ROWS // times)
    rows = np.repeat(np.arange(len(y)), times)
    copies = X.iloc[rows].reset_index(drop=True)
    return copies + noise * rng.normal(size=(len(rows), 4)), y[rows]


def repeated_at_random(rng: np.random.Generator, *, noise: float) -> Table:
    """Return one to nine copies of each row, with small changes."""
    X, y = draw(rng, ROWS)
    rows = np.repeat(np.arange(ROWS), rng.integers(1, 10, ROWS))[:ROWS]
    copies = X.iloc[rows].reset_index(drop=True)
    return copies + noise * rng.normal(size=(ROWS, 4)), y[rows]


def panel(rng: np.random.Generator, *, named: str | None) -> Table:
    """Return 20 rows of each person, who has labels of her own, with or without her number."""
    X, y = draw(rng, ROWS // 20)
    person = np.repeat(np.arange(len(y)), 20)
    rows = X.iloc[person] + rng.normal(size=(len(person), 4)) * 0.3
    if named != "index":
        rows = rows.reset_index(drop=True)
    return (rows.assign(whom=person.astype(float)) if named == "column" else rows), y[person]


def copied(pair: int, *, make: Callable[[np.random.Generator], Table]) -> Outcome:
    """Both labs do the same to their samples."""
    rng = np.random.default_rng([pair, 37])
    samples = [make(rng) for _ in range(2)]
    fresh = draw(rng, POINTS)[0]
    if "whom" in samples[0][0]:
        fresh = fresh.assign(whom=rng.integers(0, ROWS // 20, POINTS).astype(float))
    models = [learner(pair).fit(*sample) for sample in samples]
    return compared(models, [model.predict(fresh) for model in models], fresh)


# -- E3, E6, E7: batches, rounded rows, ids --------------------------------------------------------
def with_towns(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return a table with a text column."""
    return draw(rng, n)[0].assign(town=rng.choice(["Bonn", "Jena", "Kiel", "Ulm"], n))


def town_codes(X: pd.DataFrame) -> pd.DataFrame:
    """Number the towns of a batch in the order of their names."""
    return X.assign(town=pd.Categorical(X["town"]).codes.astype(float))


def scaled(X: pd.DataFrame) -> Any:
    """Scale the numbers of a batch by its own means and deviations."""
    return scale(X.drop(columns="town"))


def in_pieces(pair: int, *, prepare: Callable[[pd.DataFrame], Any]) -> Outcome:
    """One lab scores a sorted file ten rows at a time; its pipeline uses the batch as a whole."""
    rng = np.random.default_rng([pair, 41])
    base = make_pipeline(FunctionTransformer(prepare), GaussianNB())
    models = []
    for _ in range(2):
        X = with_towns(rng, ROWS)
        score = X["a"] + 2 * (X["town"] > "K") + rng.normal(size=ROWS)
        models.append(learner(pair, base).fit(X, score > 1))
    fresh = with_towns(rng, POINTS).sort_values(["town", "a"])
    pieces = [fresh.iloc[start : start + PIECE] for start in range(0, POINTS, PIECE)]
    by_piece = np.concatenate([models[1].predict(piece) for piece in pieces])
    return compared(models, [models[0].predict(fresh), by_piece], fresh)


def rounded(pair: int) -> Outcome:
    """One lab scores numbers that went through a file with 6 decimals."""
    rng = np.random.default_rng([pair, 47])
    models = [learner(pair).fit(*draw(rng, ROWS)) for _ in range(2)]
    fresh = draw(rng, POINTS)[0]
    tables = [fresh, fresh.round(6)]
    predictions = [model.predict(X) for model, X in zip(models, tables, strict=True)]
    probes = [encode_probe(m.certificate_, X) for m, X in zip(models, tables, strict=True)]
    return compared(models, predictions, tables, tuple(probes))


def other_ids(pair: int, *, kinds: tuple[Any, Any]) -> Outcome:
    """Labs that write the ids of the same persons in two ways."""
    rng = np.random.default_rng([pair, 43])
    models = [learner(pair).fit(*draw(rng, ROWS)) for _ in range(2)]
    fresh = draw(rng, POINTS)[0]
    ids = [None if kind is None else [kind(k) for k in range(POINTS)] for kind in kinds]
    predictions = [model.predict(fresh, ids=i) for model, i in zip(models, ids, strict=True)]
    probes = [
        encode_probe(model.certificate_, fresh, ids=i) for model, i in zip(models, ids, strict=True)
    ]
    return compared(models, predictions, fresh, tuple(probes))


CONDITION_ROWS: dict[str, Pair] = {
    "E1 one incumbent, one band": partial(incumbents, bands=(0.3, 0.3)),
    "E1 an incumbent per lab": partial(incumbents, shared=False, bands=(0.3, 0.3)),
    "E1 bands of .05 and .6": partial(incumbents, bands=(0.05, 0.6)),
    "E1 one lab without incumbent": partial(incumbents, bands=(0.3, None)),
    "E2 rows once": partial(copied, make=partial(repeated, times=1)),
    "E2 250 rows ten times": partial(copied, make=partial(repeated, times=10)),
    "E2 every row twice": partial(copied, make=partial(repeated, times=2)),
    "E2 every row three times": partial(copied, make=partial(repeated, times=3)),
    "E2 every row five times": partial(copied, make=partial(repeated, times=5)),
    "E2 rare class oversampled": partial(copied, make=oversampled),
    "E2 five jittered copies": partial(copied, make=partial(repeated, times=5, noise=0.01)),
    "E2 one to nine jittered copies": partial(
        copied, make=partial(repeated_at_random, noise=0.001)
    ),
    "E2 panel with a number": partial(copied, make=partial(panel, named="column")),
    "E2 panel, numbers as index": partial(copied, make=partial(panel, named="index")),
    "E2 panel without a number": partial(copied, make=partial(panel, named=None)),
    "E3 scale of a batch, scored in pieces": partial(in_pieces, prepare=scaled),
    "E3 codes of a batch, scored in pieces": partial(in_pieces, prepare=town_codes),
    "E6 one lab scores rows rounded to 6 decimals": rounded,
    "E7 ids 7 and '7'": partial(other_ids, kinds=(int, str)),
    "E7 ids '7' and '0007'": partial(other_ids, kinds=(str, "{:04d}".format)),
    "E7 ids in one lab only": partial(other_ids, kinds=(int, None)),
}
"""Rows of docs/honesty.md: the conditions that a certificate did not mention."""

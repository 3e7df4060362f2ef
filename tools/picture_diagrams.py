"""Diagrams of the guides: what is read, computed and written where."""

from __future__ import annotations

import math
from typing import Any

from replearn import SharedKey, plan
from replearn.guarantees import Identity
from tools.picture_base import Diagram, picture


@picture
def certificates() -> Any:
    """From inputs to promises, with the numbers of the guide's certificate."""
    run = Identity("0123456789abcdef", "LogisticRegression()")
    certificate = plan(n=20_000, rho=0.1, classes=["no", "yes"]).certificate(run)
    design = certificate.design
    blocks = f"{design.n_blocks} blocks, {design.n_partitions} partitions"
    sizes = f"n = {design.n:,}, {blocks}, law, classes"
    picked = ("block_size", "flip_supremum", "error_factor")
    steps = [step for step in certificate.steps if step.name in picked]
    lines = [f"{step.name} = {_rounded_up(step.value)} ({step.theorem})" for step in steps]
    diagram = Diagram(3.5)
    inputs = diagram.box(2.7, 3.1, f"inputs\n{sizes}", "data", 4.9)
    middle = diagram.box(2.7, 2.0, "\n".join(["steps", *lines]), width=4.9)
    promise = diagram.box(
        1.35, 0.85, f"promise\nrho = {_rounded_up(certificate.rho)}", "result", 2.2
    )
    assumed = f"{len(certificate.assumptions)} assumptions"
    diagram.box(4.05, 0.85, f"identity, {assumed}\nnot computed, but stored", width=2.2)
    diagram.arrow(inputs, middle, "one theorem each")
    diagram.arrow(middle, promise)
    diagram.words(2.7, 0.3, "check() computes steps and promise again from the inputs")
    return diagram.figure


def _rounded_up(value: float) -> str:
    """Return a bound with five digits after the point, never smaller than it is."""
    return f"{math.ceil(value * 10**5) / 10**5:g}"


@picture
def command_line() -> Any:
    """Which command reads and writes which file."""
    diagram = Diagram(4.1)
    planned = diagram.box(1.0, 3.8, "replearn plan")
    keyed = diagram.box(3.2, 3.8, "replearn key new", width=1.7)
    plan_file = diagram.box(1.0, 3.05, "plan.json", "shared", 1.1)
    key_file = diagram.box(3.2, 3.05, "key.txt", "shared", 1.1)
    rows = diagram.box(4.7, 3.05, "lab_a.csv", "data", 1.1)
    fit = diagram.box(2.7, 2.2, "replearn fit", width=5.0)
    model = diagram.box(2.7, 1.45, "a.replearn", "result", 1.3)
    predict = diagram.box(0.9, 0.65, "replearn predict\nnew.csv", width=1.6)
    certify = diagram.box(2.7, 0.65, "replearn certify\nb.replearn", width=1.6)
    compare = diagram.box(4.5, 0.65, "replearn compare\nold.replearn", width=1.6)
    for start, end in (
        (planned, plan_file),
        (keyed, key_file),
        (plan_file, fit),
        (key_file, fit),
        (rows, fit),
        (fit, model),
        (model, predict),
        (model, certify),
        (model, compare),
    ):
        diagram.arrow(start, end)
    for x, words in ((0.9, "labels"), (2.7, "comparable?"), (4.5, "gate: exit 0 or 1")):
        diagram.words(x, 0.22, words)
    return diagram.figure


@picture
def dask() -> Any:
    """What passes through the scheduler, and what through the storage."""
    diagram = Diagram(3.4)
    caller = diagram.box(1.2, 3.0, "fit_files(client=...)", width=1.9)
    scheduler = diagram.box(4.1, 3.0, "scheduler", width=1.5)
    workers = [diagram.box(x, 1.8, "worker", width=1.2) for x in (0.9, 2.7, 4.5)]
    words = "storage: rows, blocks, models\n(a lost worker costs one block)"
    storage = diagram.box(2.7, 0.55, words, "data", 4.9)
    diagram.arrow(caller, scheduler, "tasks")
    for worker in workers:
        diagram.arrow(scheduler, worker)
        diagram.arrow(worker, storage, style="<->")
    diagram.words(1.0, 2.4, "names of files only", fontsize=9, color="0.3")
    diagram.words(1.85, 1.17, "a block in,\na model out", fontsize=9, color="0.3")
    return diagram.figure


@picture
def keys_and_points() -> Any:
    """One person in two labs, and the threshold that both compute."""
    key = "trial-2026"
    (number,) = SharedKey(key).uniforms([[61, "f", 27.4]])
    diagram = Diagram(3.4)
    lab_a = diagram.box(1.3, 3.0, 'lab A\n[61, "f", 27.4]', "data", 2.3)
    lab_b = diagram.box(4.1, 3.0, 'lab B\nbmi 27.4, age 61, sex "f"', "data", 2.3)
    point = diagram.box(2.7, 2.0, "point: canonical encoding", width=2.6)
    secret = diagram.box(0.75, 1.2, f"key\n{key}", "shared", 1.2)
    digest = diagram.box(2.7, 1.2, "keyed hash", width=1.4)
    diagram.arrow(lab_a, point)
    diagram.arrow(lab_b, point)
    diagram.arrow(point, digest)
    diagram.arrow(secret, digest)
    threshold = diagram.box(2.7, 0.4, f"keyed threshold {number:.4f} in both labs", "result", 3.6)
    diagram.arrow(digest, threshold)
    return diagram.figure


@picture
def large_files() -> Any:
    """How rows go from a file to models, a piece at a time."""
    diagram = Diagram(3.3)
    rows = diagram.box(0.85, 2.7, "file,\nany size", "data", 1.2)
    piece = diagram.box(2.7, 2.7, "one piece\nin memory", width=1.3)
    folder = diagram.box(4.55, 2.7, "work folder:\nblocks", "data", 1.3)
    block = diagram.box(4.55, 1.55, "one block\nin memory", width=1.3)
    model = diagram.box(2.7, 1.55, "one model\nper block", width=1.3)
    vote = diagram.box(0.85, 1.55, "vote,\ncertificate", "result", 1.2)
    diagram.arrow(rows, piece)
    diagram.arrow(piece, folder)
    diagram.arrow(folder, block)
    diagram.arrow(block, model)
    diagram.arrow(model, vote)
    words = "A keyed hash of the row says which block it goes to,\nas it does for a fit in memory."
    diagram.words(2.7, 0.5, words)
    return diagram.figure


@picture
def mlflow() -> Any:
    """How a model is registered and served, and how its successor is judged."""
    diagram = Diagram(3.6)
    model = diagram.box(0.85, 3.2, "fitted model", width=1.4)
    registry = diagram.box(
        4.1, 3.2, "registry: models:/credit/1\nmodel file and certificate", "data", 2.4
    )
    diagram.arrow(model, registry, "log_model")
    key = diagram.box(0.95, 2.1, "REPLEARN_KEY", "shared", 1.5)
    served = diagram.box(4.1, 2.1, "served: prediction\nand flip_probability", "result", 2.4)
    diagram.arrow(registry, served, "load_model")
    diagram.arrow(key, served)
    candidate = diagram.box(0.85, 0.9, "candidate", width=1.4)
    gate = diagram.box(2.75, 0.9, "flip_metric", width=1.3)
    passed = diagram.box(4.65, 1.2, "few flips:\nversion 2", "result", 1.3)
    failed = diagram.box(4.65, 0.5, "too many:\nrefused", width=1.3)
    diagram.arrow(candidate, gate)
    diagram.arrow(gate, passed)
    diagram.arrow(gate, failed)
    return diagram.figure


@picture
def model_files() -> Any:
    """What is in a model file, and what is not."""
    content = [
        "model.replearn",
        "parameters, plan, certificate",
        "block models (no pickle)",
        "fingerprint of the key",
    ]
    diagram = Diagram(2.6)
    model = diagram.box(1.55, 1.95, "\n".join(content), "data", 2.6)
    key = diagram.box(4.3, 1.95, "shared key,\nkept elsewhere", "shared", 1.6)
    words = "load(path, shared_key=...) computes the thresholds\nagain: the same predictions"
    loaded = diagram.box(2.7, 0.5, words, "result", 4.9)
    diagram.arrow(model, loaded)
    diagram.arrow(key, loaded)
    return diagram.figure


@picture
def other_machines() -> Any:
    """Which steps of a prediction may round differently on another machine."""
    diagram = Diagram(3.7)
    features = diagram.box(1.35, 3.3, "features (must be equal)", "shared", 2.2)
    models = diagram.box(1.35, 2.45, "block models predict\n(floating point)", "data", 2.2)
    votes = diagram.box(1.35, 1.45, "votes are counted\n(integers)", "result", 2.2)
    key = diagram.box(4.05, 3.3, "key", "shared", 2.2)
    threshold = diagram.box(
        4.05, 2.45, "keyed threshold\n(a hash of key and features)", "result", 2.4
    )
    label = diagram.box(2.7, 0.6, "prediction (integers are compared)", "result", 3.2)
    diagram.arrow(features, models)
    diagram.arrow(models, votes, "labels")
    diagram.arrow(key, threshold)
    diagram.arrow(features, threshold)
    diagram.arrow(votes, label)
    diagram.arrow(threshold, label)
    words = "orange: may round differently; green: equal to the last bit"
    diagram.words(2.7, 0.15, words, fontsize=9)
    return diagram.figure


@picture
def private_labels() -> Any:
    """How a rule is released from private rows."""
    diagram = Diagram(3.9)
    rows = diagram.box(2.7, 3.6, "private labelled rows", "data", 4.4)
    parts = [diagram.box(x, 2.75, "part", "data", 0.9) for x in (0.9, 2.1, 3.3, 4.5)]
    rules = ("rule a", "rule a", "rule b", "rule a")
    fitted = [
        diagram.box(part.x, 1.95, rule, width=0.9) for part, rule in zip(parts, rules, strict=True)
    ]
    count = diagram.box(2.7, 1.15, "count equal rules, add noise", width=4.4)
    released = diagram.box(2.7, 0.35, "one frequent rule is released, or none", "result", 3.4)
    for part, rule in zip(parts, fitted, strict=True):
        diagram.arrow(rows, part)
        diagram.arrow(part, rule)
        diagram.arrow(rule, count)
    diagram.arrow(count, released)
    return diagram.figure


@picture
def probes_and_votes() -> Any:
    """What two labs exchange, and what they compare."""
    diagram = Diagram(3.7)
    raw = diagram.box(2.7, 3.4, "the same raw rows", "shared", 4.9)
    points = diagram.box(2.7, 2.35, "equal?", "result", 0.9)
    signs = diagram.box(2.7, 1.15, "sign test", "result", 0.9)
    for x, lab in ((0.95, "A"), (4.45, "B")):
        prepared = diagram.box(x, 2.35, f"lab {lab} prepares\nthem as usual", width=1.4)
        models = diagram.box(x, 1.15, f"block models\nof lab {lab}", width=1.4)
        diagram.arrow(raw, prepared)
        diagram.arrow(prepared, models)
        diagram.arrow(prepared, points, "digest")
        diagram.arrow(models, signs, "votes")
    diagram.words(2.7, 0.48, "A probe finds another preparation of the rows,")
    diagram.words(2.7, 0.3, "votes find any difference that moves votes.")
    return diagram.figure


@picture
def share_a_key() -> Any:
    """What two labs share, and what they do not."""
    diagram = Diagram(2.9)
    shared = diagram.box(2.7, 2.5, "key and plan,\nfixed before anybody has data", "shared", 4.9)
    words = "the same prediction for a person,\nexcept with probability rho"
    same = diagram.box(2.7, 0.45, words, "result", 4.9)
    for x, lab in ((1.3, "A"), (4.1, "B")):
        sample = diagram.box(x, 1.45, f"lab {lab}: its own sample", "data", 2.0)
        diagram.arrow(shared, sample)
        diagram.arrow(sample, same)
    return diagram.figure

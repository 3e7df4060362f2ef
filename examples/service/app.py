"""A small service around a model file (FastAPI).

    pip install -r requirements.txt
    export REPLEARN_KEY=$(cat key.txt) REPLEARN_MODEL=credit.replearn
    uvicorn app:app --host 127.0.0.1 --port 8000

The key comes from the environment and is never written or returned. A new model file that replaces
the old one (``replearn.save`` replaces it as a whole) is loaded beside it; requests that are under
way finish with the old model. A file that cannot be loaded changes nothing, and ``/health`` says
so. Base estimators of other libraries are loaded if ``REPLEARN_TRUSTED_TYPES`` names their types.
"""

from __future__ import annotations

import hashlib
import os
import statistics
import threading
import time
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import sklearn
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

import replearn

SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True)
class Served:
    """A model with the stamp of the file it came from; replaced as a whole, never changed."""

    model: Any
    digest: str
    stamp: tuple[int, int, int]
    loaded_at: float


def stamp_of(path: str) -> tuple[int, int, int]:
    """Identify the file that is at a path now."""
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


class ModelFile:
    """The model of a file, loaded again when another file has taken its place."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.last_error: str | None = None
        self.served = self._load()  # a service that cannot load its first model does not start
        self._refused: tuple[int, int, int] | None = None
        self._stop = threading.Event()

    def _load(self) -> Served:
        stamp = stamp_of(self.path)
        digest = hashlib.sha256(Path(self.path).read_bytes()).hexdigest()[:16]
        types = os.environ.get("REPLEARN_TRUSTED_TYPES", "").split(",")
        model = replearn.load(
            self.path,
            shared_key=os.environ.get("REPLEARN_KEY"),
            trusted_types=[name.strip() for name in types if name.strip()],
        )
        if stamp_of(self.path) != stamp:
            return self._load()  # replaced meanwhile
        return Served(model, digest, stamp, time.time())

    def look(self) -> None:
        """Load the file if it is another one; keep the model in use if it cannot be loaded."""
        try:
            stamp = stamp_of(self.path)
            if stamp in (self.served.stamp, self._refused):
                return
            self._refused = stamp
            self.served = self._load()
            self._refused = None
            self.last_error = None
        except Exception as error:  # whatever is wrong with a new file, the old model serves on
            self.last_error = f"{type(error).__name__}: {error}"

    def watch(self) -> None:
        """Look at the file from time to time, in a thread of its own."""
        while not self._stop.wait(SECONDS_BETWEEN_LOOKS):
            self.look()

    def stop(self) -> None:
        """Let `watch` return."""
        self._stop.set()


class Latency:
    """Milliseconds of the latest requests with one row; their median is printed now and then."""

    def __init__(self) -> None:
        self._latest: deque[float] = deque(maxlen=100)
        self._count = 0

    def add(self, milliseconds: float) -> None:
        """Count a request; the first and every hundredth is printed."""
        self._latest.append(milliseconds)
        self._count += 1
        if self._count % 100 == 1:
            print(f"one row: {self.median:.2f} ms (request {self._count})", flush=True)

    @property
    def median(self) -> float | None:
        """Median of the latest hundred; None before the first."""
        return statistics.median(self._latest) if self._latest else None


def columns_of(model: Any) -> list[str]:
    """Return the names of the columns, in their order."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"x{column}" for column in range(model.n_features_in_)]
    return [str(name) for name in names]


class Rows(BaseModel):
    """Rows to predict, a mapping from column to value for each."""

    rows: list[dict[str, Any]]


@asynccontextmanager
async def lifespan(app: FastAPI):
    """Load the model before the first request, and watch its file."""
    file = ModelFile(os.environ["REPLEARN_MODEL"])
    app.state.file = file
    app.state.latency = Latency()
    watcher = threading.Thread(target=file.watch, daemon=True)
    watcher.start()
    yield
    file.stop()
    watcher.join()


app = FastAPI(title="replearn model", lifespan=lifespan)


@app.post("/predict")
def predict(body: Rows) -> dict[str, Any]:
    """Predict the rows with one model, whatever happens to its file meanwhile."""
    served: Served = app.state.file.served
    model = served.model
    columns = columns_of(model)
    missing = sorted({name for row in body.rows for name in columns if name not in row})
    if missing or not body.rows:
        raise HTTPException(422, f"columns that are missing: {missing}" if missing else "no rows")
    table = pd.DataFrame(body.rows, columns=columns)
    X = table if hasattr(model, "feature_names_in_") else table.to_numpy()
    start = time.perf_counter()
    try:
        result = {"predictions": model.predict(X).tolist()}
        if hasattr(model, "flip_probability"):
            result["flip_probabilities"] = model.flip_probability(X).tolist()
    except (ValueError, TypeError) as error:
        raise HTTPException(422, str(error)) from error
    milliseconds = 1000 * (time.perf_counter() - start)
    if len(body.rows) == 1:
        app.state.latency.add(milliseconds)
    return {**result, "model": served.digest, "milliseconds": round(milliseconds, 3)}


@app.get("/health")
def health() -> dict[str, Any]:
    """Say that a model is served, since when, and what is wrong with a newer file."""
    file: ModelFile = app.state.file
    return {
        "status": "ok" if file.last_error is None else "serving the previous model",
        "loaded_at": file.served.loaded_at,
        "last_error": file.last_error,
        "one_row_milliseconds": app.state.latency.median,
    }


@app.get("/version")
def version() -> dict[str, Any]:
    """Say which model is served, and by which packages."""
    served: Served = app.state.file.served
    certificate = getattr(served.model, "certificate_", None)
    return {
        "estimator": type(served.model).__name__,
        "model": served.digest,
        "verdict": None if certificate is None else certificate.verdict,
        "rho": None if certificate is None else certificate.rho,
        "key_fingerprint": None if certificate is None else certificate.key_fingerprint,
        "replearn": replearn.__version__,
        "scikit-learn": sklearn.__version__,
    }

"""Results that survive an interruption."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


class Cells:
    """A folder with one JSON file per computed cell; what is there is not computed again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, *name: Any) -> Path:
        return self.folder / ("-".join(str(part) for part in name) + ".json")

    def get(self, *name: Any) -> Any | None:
        path = self.path(*name)
        return json.loads(path.read_text()) if path.exists() else None

    def compute(self, name: Sequence[Any], work: Callable[[], Any]) -> Any:
        known = self.get(*name)
        if known is not None:
            return known
        start = time.perf_counter()
        result = json.loads(json.dumps(work()))
        path = self.path(*name)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(result))
        unfinished.replace(path)
        print(f"  {'-'.join(map(str, name))}: {time.perf_counter() - start:.0f} s", flush=True)
        return result

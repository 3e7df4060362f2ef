"""One piece of work on a table: steps over pieces, buckets or blocks, each done once.

A step is done when its file is there. Whatever was interrupted continues with the files that are
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.guarantees.design import VoteDesign
from replearn.learners.inputs import check_labels, refuse_one_class
from replearn.outofcore.engines import Engine
from replearn.outofcore.folders import Folder
from replearn.outofcore.look import Look, look_file
from replearn.outofcore.ordering import Order, bucket_bits, find_cuts, hash_piece, rank_bucket
from replearn.outofcore.routing import MODELS, Cut, Training, route_piece, train_block
from replearn.outofcore.sources import Rows
from replearn.outofcore.table import PIECES, Table
from replearn.persistence.block_folder import block_file, library_versions
from replearn.randomness.key import SharedKey


@dataclass
class Job:
    """The steps of one fit: the table, and who works."""

    table: Table
    engine: Engine

    @property
    def folder(self) -> Folder:
        """Where the work is kept."""
        return self.table.folder

    def do(self, work: Callable[..., None], files: Sequence[str], what: str) -> None:
        """Do the work whose files are not there yet; a file's index is the number of its work."""
        there = self.folder.names(files[0].rpartition("/")[0])
        left = [index for index, file in enumerate(files) if file.rpartition("/")[2] not in there]
        if left:
            self.engine.run(work, left, what)

    def each_piece(self, work: Callable[..., None], name: Callable[[int], str], what: str) -> None:
        """Do the work on every piece."""
        self.do(work, [name(piece) for piece in range(self.table.n_pieces)], what)

    def each_bucket(self, work: Callable[..., None], order: Order, what: str) -> None:
        """Do the work on every bucket of an order."""
        self.do(work, [order.rank_file(bucket) for bucket in range(order.n_buckets)], what)

    def rank(self, orders: Sequence[Order]) -> None:
        """Hash all pieces and rank all buckets of some orders."""
        hashed = partial(hash_piece, self.table, orders)
        self.each_piece(hashed, orders[-1].hash_file, "pieces hashed")
        for order in orders:
            work = partial(rank_bucket, self.folder, order, self.table.n_pieces)
            self.each_bucket(work, order, "buckets ranked")

    def cut(self, order: Order, plan: Any) -> Cut:
        """Find the ranks at which the blocks of a partition end."""
        indices = [block * plan.block_size for block in range(1, plan.n_blocks + 1)]
        inside = [index for index in indices if index < plan.n]
        return Cut(order, plan.n_blocks, self._find_cuts(order, inside))

    def _find_cuts(self, order: Order, indices: Sequence[int]) -> NDArray[np.uint64]:
        files = [order.cut_file(bucket) for bucket in range(order.n_buckets)]
        each = partial(self.do, files=files, what="buckets cut")
        return find_cuts(self.folder, order, self.table.n_pieces, indices, each)

    def route(self, cut: Cut) -> None:
        """Write the rows of a partition block by block."""
        self.each_piece(partial(route_piece, self.table, cut), cut.file, "pieces routed")

    def train(self, training: Training) -> None:
        """Train the blocks of a partition."""
        files = [f"{MODELS}/{block_file(number)}" for number in training.numbers]
        work = partial(train_block, training)
        if training.first == 0:  # alone: it checks the parameters, and the others do not
            self.do(work, files[:1], "blocks fitted")
        self.do(work, files, "blocks fitted")

    def look(self, n: int) -> Look:
        """Look at all pieces."""
        look = Look(self.table, n)
        self.each_piece(look.at_piece, look_file, "pieces looked through")
        return look

    def list_classes(self, look: Look, classes: Any) -> NDArray[Any]:
        """Return the list of classes, in order."""
        present = set(look.label_counts())
        missing = [label for label in present if label is None or label != label]
        if missing:
            raise ValueError(f"{self.table.target!r} is missing in some rows: leave them out.")
        is_text = all(isinstance(label, str) for label in present)
        labels = np.array(sorted(present), dtype=object if is_text else None)
        several = np.repeat(labels, 3)  # few labels, each of them often
        known = check_labels(several, several, classes)[1]
        refuse_one_class(known)
        return known

    def earlier_order(self, key: SharedKey, n: int, plan: VoteDesign) -> Order | None:
        """Rank the rows as they come before they are cut, where that matters.

        It does where rows that count as equal are not interchangeable (rounded ones), and where a
        surplus of rows is left out: see `replearn.learners.training.Sample`.
        """
        last = None
        bits = bucket_bits(n)
        if plan.decimals is not None:
            last = Order("file", key.child("file").allow_pickle(), bits)
            self.rank([last])
        if n > plan.n:
            surplus = key.child("surplus", n).allow_pickle()
            last = Order("surplus", surplus, bits, plan.decimals, last)
            self.rank([last])
            [limit] = self._find_cuts(last, [plan.n])
            last = replace(last, limit=int(limit))
        return last


def open_table(
    rows: Rows,
    folder: Folder,
    target: str,
    features: Sequence[str] | None,
    container: str,
    run: Mapping[str, Any],
) -> Table:
    """Return the table of some rows; a folder that holds other rows, or another run, is refused."""
    chosen = [name for name in rows.names if name != target] if features is None else features
    rows.require([*chosen, target])
    if target in chosen:
        raise ValueError(f"target={target!r} is among the features: leave it out there.")
    described: dict[str, Any] = {"files": list(rows.mark), "target": target}
    described |= {"features": list(chosen), "container": container, "rows": rows.n}
    folder.claim("fit", {**library_versions(), **described, **run})
    if PIECES not in folder:
        folder.write_json(PIECES, [asdict(piece) for piece in rows.pieces])
    return Table(folder, tuple(chosen), target, container, len(rows.pieces))

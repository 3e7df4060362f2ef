"""Train blocks from their files: each reads its rows, trains, and leaves its model beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn import config_context

from replearn.execution.fitting import Block, fit_one_block
from replearn.execution.plugins import fit_functions
from replearn.execution.runtime import no_autologging
from replearn.outofcore.routing import Cut, read_block
from replearn.outofcore.table import Table
from replearn.persistence.block_folder import block_from_bytes, block_to_bytes


@dataclass(frozen=True, eq=False)
class Training:
    """What the blocks of one partition share."""

    table: Table
    cut: Cut
    base: Any
    seeds: tuple[dict[str, int], ...]  # of each block; keys stay at home
    partition: int
    trusted: tuple[str, ...] = ()

    def file(self, block: int) -> str:
        """Name of the file with the model of a block."""
        return f"models/{self.partition:04d}/{block:06d}"

    def model(self, number: int) -> Any:
        """Read the model of a block."""
        name = self.file(number)
        content = self.table.folder.read(name)
        model = block_from_bytes(content, self.trusted, f"{self.table.folder.address}/{name}")
        if model is None:
            raise OSError(f"{self.table.folder.address}/{name} is damaged: remove it, fit again.")
        return model


def train_block(training: Training, number: int) -> None:
    """Train one block and write its model, unless another worker has done so."""
    if training.file(number) in training.table.folder:
        return
    rows = read_block(training.table, training.cut, number)
    name = f"block {number} of partition {training.partition}"
    faster = fit_functions(training.base)
    block = Block(rows.X, rows.codes, training.seeds[number], name, faster=faster)
    # Every block has the same parameters: scikit-learn checks them on the first one only.
    checked = training.partition > 0 or number > 0
    with no_autologging(), config_context(skip_parameter_validation=checked):
        model = fit_one_block(training.base, block)
    written = block_to_bytes(model, training.trusted)
    training.table.folder.write(training.file(number), written)

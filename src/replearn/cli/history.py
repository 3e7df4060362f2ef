"""``replearn history``: list the retrainings of a model with an incumbent."""

from __future__ import annotations

from dataclasses import dataclass

from replearn.cli import DONE, Action, argument, flag, option, put, put_json
from replearn.cli._incumbent import history_table
from replearn.cli._inputs import read_key
from replearn.cli._predictions import TrustOptions


@dataclass(frozen=True, kw_only=True)
class HistoryOptions(TrustOptions):
    """Options of the command."""

    COMMON = ("key_file", "json")
    EXAMPLES = (
        "replearn history m.replearn --key-file key.txt",
        "replearn history plain.replearn --json",
    )

    model: str = argument("model file")
    key_file: str | None = option("the shared key, if the model has one", "FILE")
    json: bool = flag("print JSON")


def run(options: HistoryOptions) -> int:
    """Print date, rows, memory, band, changes, budget and alarm of every retraining."""
    from replearn.persistence import load

    key = read_key(options.key_file)
    model = load(
        options.model, key, trusted_types=options.trusted_types, max_bytes=options.max_bytes
    )
    history = getattr(model, "history_", None)
    if history is None:
        raise ValueError(
            f"{options.model} holds {type(model).__name__}, which has no incumbent and no history."
        )
    if options.json:
        put_json({"model": options.model, "retrainings": model.n_retrainings_, "history": history})
        return DONE
    put(history_table(history))
    n_models = 1 + len(model.chain_.recent)
    put(f"retrainings: {model.n_retrainings_}; models in the chain: {n_models}")
    return DONE


COMMAND = Action(HistoryOptions, run, "list the retrainings of a model with an incumbent")

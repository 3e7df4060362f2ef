"""``replearn history``: the retrainings of a model that keeps an incumbent."""

from __future__ import annotations

import argparse

from replearn.cli import DONE, add_options, put, put_json
from replearn.cli._incumbent import history_table
from replearn.cli._inputs import read_key
from replearn.cli._predictions import add_trust


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", help="model file")
    add_options(parser, "FILE", key_file="the shared key, if the model has one")
    add_options(parser, bool, json="print JSON")
    add_trust(parser)


def run(args: argparse.Namespace) -> int:
    """Print date, rows, memory, band, changes, budget and alarm of every retraining."""
    from replearn.persistence import load

    key = read_key(args.key_file)
    model = load(args.model, key, trusted_types=args.trust, max_bytes=args.max_bytes)
    history = getattr(model, "history_", None)
    if history is None:
        raise ValueError(
            f"{args.model} is a {type(model).__name__}, which keeps no incumbent and no history."
        )
    if args.json:
        put_json({"model": args.model, "retrainings": model.n_retrainings_, "history": history})
        return DONE
    put(history_table(history))
    put(f"{model.n_retrainings_} retrainings, {1 + len(model.chain_.recent)} models in the chain")
    return DONE

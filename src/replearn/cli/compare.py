"""``replearn compare``: compare the predictions of two models on the same rows."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from replearn.cli import DONE, add_options, put, put_json, say_all
from replearn.cli._inputs import add_model_arguments, load_model, read_points, read_truth


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model_a", help="model file: the one in use")
    parser.add_argument("model_b", help="model file: the one that would replace it")
    parser.add_argument("data", help="file with rows that neither has learned from")
    add_options(parser, "FILE", key_file_b="the key of model b, if another")
    add_model_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Predict with both models and report the differences."""
    one, notes = load_model(args.model_a, args.key_file, args.trust)
    two, others = load_model(args.model_b, args.key_file_b or args.key_file, args.trust)
    for item in ("columns", "id", "target", "target_kind", "frame"):
        if notes.get(item) != others.get(item):
            raise ValueError(
                f"the models read a file differently: {item} is {notes.get(item)!r} in "
                f"{args.model_a}, {others.get(item)!r} in {args.model_b}."
            )
    X, ids, remarks = read_points(args.data, notes, args.encoding)
    say_all(remarks, quiet=args.quiet)
    truth = read_truth(args.data, notes, args.encoding)
    from replearn.auditing import compare

    result = compare(KeyedModel(one, ids), KeyedModel(two, ids), X, truth)
    put_json(result.to_dict()) if args.json else put(str(result))
    return DONE


@dataclass(frozen=True, eq=False)
class KeyedModel:
    """A model whose thresholds are derived from ids, for callers that pass features only."""

    model: Any
    ids: list[str] | None

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels."""
        return self.model.predict(X, points=self.ids)

    def explain(self, X: Any) -> Any:
        """Explain the predictions."""
        return self.model.explain(X, points=self.ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

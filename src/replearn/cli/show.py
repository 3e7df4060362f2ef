"""``replearn show``: what a model file holds, and the retrainings of an incumbent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from replearn.cli import DONE, Action, argument, flag, option, put, put_json
from replearn.cli._incumbent import history_table
from replearn.cli._inputs import read_key
from replearn.cli._predictions import TrustOptions


@dataclass(frozen=True, kw_only=True)
class ShowOptions(TrustOptions):
    """Options of the command."""

    COMMON = ("key_file", "json")
    EXAMPLES = (
        "replearn show m.replearn",
        "replearn show june.replearn --json",
    )

    model: str = argument("model file")
    key_file: str | None = option("the shared key, if the retrainings of a keyed model are", "FILE")
    json: bool = flag("print JSON")


def run(options: ShowOptions) -> int:
    """Print estimator, key, certificate, and a line for every retraining."""
    from replearn.learners.chain import sentences_of
    from replearn.persistence.model_file import describe, load

    about = describe(options.model)
    certificate = about.certificate
    history: list[dict[str, Any]] = []
    label = None
    if about.estimator.startswith("Incumbent"):
        model = load(
            options.model,
            read_key(options.key_file),
            trusted_types=options.trusted_types,
            max_bytes=options.max_bytes,
        )
        history = model.history_
        label = getattr(model, "classes_", (None, None))[1]
    if options.json:
        put_json(
            {
                "model": options.model,
                "estimator": about.estimator,
                "key_fingerprint": about.key_fingerprint,
                "certificate": None if certificate is None else certificate.to_dict(),
                "history": history,
            }
        )
        return DONE
    put(f"{options.model}: {about.estimator}, key {about.key_fingerprint}")
    if certificate is not None:
        put(str(certificate))
    if history:
        put(history_table(history))
        put("\n".join(sentences_of(history[-1], label)))
    return DONE


COMMAND = Action(ShowOptions, run, "show what a model file holds, and its retrainings")

"""``replearn demo``: real flights, two labs with one key, one team that retrains."""

from __future__ import annotations

from dataclasses import dataclass

from replearn.cli import Action, CommandOptions, flag, option


@dataclass(frozen=True, kw_only=True)
class DemoOptions(CommandOptions):
    """Options of the command."""

    COMMON = ("details", "picture", "report", "no_report")
    EXAMPLES = ("replearn demo", "replearn demo --no-report --picture flips.svg")

    details: bool = flag("explain three flights, and print the certificate")
    picture: str | None = option("draw the flips (.svg, .png; matplotlib)", "FILE")
    report: str | None = option("where to write the audit's report", "FILE")
    no_report: bool = flag("skip the audit")


def run(options: DemoOptions) -> int:
    """Fit the models and print whose predictions differ."""
    from replearn.demo import run as show

    return show(
        picture=options.picture,
        report=options.report,
        audits=not options.no_report,
        details=options.details,
    )


COMMAND = Action(DemoOptions, run, "real flights: two labs with one key, one team that retrains")

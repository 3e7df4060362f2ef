"""``replearn demo``: two labs, two samples of real data, one key."""

from __future__ import annotations

from dataclasses import dataclass

from replearn.cli import Action, CommandOptions, flag, option


@dataclass(frozen=True, kw_only=True)
class DemoOptions(CommandOptions):
    """Options of the command."""

    COMMON = ("picture", "report", "no_report")
    EXAMPLES = ("replearn demo", "replearn demo --no-report --picture flips.svg")

    picture: str | None = option("draw the flips (.svg, .png; matplotlib)", "FILE")
    report: str | None = option("where to write the audit's report", "FILE")
    no_report: bool = flag("skip the audit")


def run(options: DemoOptions) -> int:
    """Fit both labs' models and print what differs."""
    from replearn.demo import run as show

    return show(picture=options.picture, report=options.report, audits=not options.no_report)


COMMAND = Action(DemoOptions, run, "two labs, two samples of real data, one key")

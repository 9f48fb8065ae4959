"""Rules for the agent `scales`."""

from orbit_registry.exchange.exporters.rules import RuleFormat


def head(globs):
    return f"applies: {' '.join(globs)}\n"


def spelling(alternative):
    return alternative.text


EXPORTERS = (RuleFormat("scales", ".scales", "orbit-", ".rule", False, spelling, head),)

"""Prompts of a new decision document, in each language: where a person is to write what."""

from collections.abc import Mapping

from orbit_registry.formats.adr.vocabulary import VOCABULARY, Language

PROMPTS: Mapping[str, str] = VOCABULARY["english"]  # prompts of sections, by their standard names
COST = PROMPTS["negative"].removeprefix("- ")


def prompts_in(language: Language | None) -> Mapping[str, str]:
    """Return the prompts in a language; untranslated ones are `_…_`."""
    if language is None:
        return PROMPTS

    translated = {
        "context": f"_{language.why}_",
        "decision": f"_{language.what}_",
        "options": f"- _{language.option}_",
        "consequences": f"- _{language.follows}_\n- {cost_in(language)}",
        "positive": f"- _{language.better}_",
        "negative": f"- {cost_in(language)}",
    }
    return {key: translated.get(key, "_…_") for key in PROMPTS}


def cost_in(language: Language | None) -> str:
    """Return the prompt for a decision's cost."""
    return COST if language is None else f"{language.cost}: _{language.harder}_"

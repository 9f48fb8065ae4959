"""Rules for the future in a person's words: sentences of a prompt that say what is always or never done here.

A sentence has to begin like a rule. What is pasted, asked, told of the past or said of one change is left alone: a
lesson that is missed costs less than a wrong one. The words are English.
"""

import re
from collections.abc import Iterable, Iterator

MOST_RULES = 3  # rules of one prompt: more of them are a document
LONGEST, LONGEST_PROMPT = 280, 6_000
FEWEST_WORDS, MOST_WORDS = 3, 45
_PASTED = re.compile(
    r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|^[ \t]*(?:[>|]|\d+[:|]|[+-][^\s-]|\$ ).*?$|^(?: {4}|\t).*?$"
    r"|\"[^\"\n]{15,}\"|“[^”]{15,}”",
    re.MULTILINE | re.DOTALL,
)
"""Fences, quotations, tables, numbered lines, diffs, shells, indented text."""
_WRAPPED = re.compile(r"\n(?=[a-z])")
_SENTENCE = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs)\.|[^.!?;\n`]|`[^`\n]*`|\.(?=\S))+[.!?;]*")
LONGEST_SENTENCE = 600
_CLAUSE = re.compile(
    r"(?:, |: | - | [—–] |\bbecause )(?:but |and |since |as )?|\b(?P<turn>but|please) (?:please )?", re.I
)
_CONDITION = re.compile(r"(?i)(?:if|when|whenever|once|unless|in case|as soon as|while|for each)\b")
_LATER = r"for (?:the )?future|(?:for )?(?:the )?next time|in general|from now on"
_REMINDER = r"(?:remember|keep in mind|(?:the|our) (?:rule|convention) (?:here )?is)"
_OPENINGS = (
    "no|nope|stop|wait|hm+|ok(?:ay)?|oh|ah|hey|well|and|but|also|so|please|pls|again|btw|by the way|fyi|yes|as i said"
    "|like i said|looks? good|good|great|fine|nice|thanks|thank you|one more thing|generally|rule|except"
    r"|you (?:should|must|have to)|for \w+(?: \w+)?(?=:)"
)
_OPENED = re.compile(rf"(?i)\A(?:(?:{_OPENINGS})\b[\s,:—–-]*|[\s*•-]+)+")
_OPENING = re.compile(rf"(?i)\A(?:(?:{_OPENINGS}|{_LATER}|{_REMINDER}(?: that| to)?)\b[\s,:—–-]*|[\s*•-]+)+")
_REMEMBER = re.compile(
    rf"(?i)(?:rule|{_REMINDER}|{_LATER}) *[:—–] *\w|from now on\b|(?:the|our) (?:rule|convention) (?:here )?is\b"
    rf"|{_REMINDER} (?:(?:that )?(?:we|to|never|always)|that (?:the|all|every|our|each|only|an?))\b"
)
_WHOLE = r"in (?:this|the|our) (?:whole |entire )?(?:repo(?:sitory)?|project|code ?base|monorepo)"
_REPO = rf"\b(?:{_WHOLE}|ever|anywhere|around here)\b"
_HERE = rf"(?:\bhere\b|\bin our \w|{_REPO})"
_OVER = r"(?:, not | instead of | rather than |, never )"
_NO_RULE = (
    "mind been seen had got get see saw heard knew know said understood thought was were is are be have has did do "
    "does a an the nice good great happy fun again once ever so too quite in on at for to and or than worked work fail "
    "end wanted want need receive hit found felt happen crash hang lose forget miss struggle wonder wait ran made took "
    "came went wrote kept left sent built paid meant gave understand think care remember expect seem require mean"
)
_VERB = rf"(?!(?:{'|'.join(_NO_RULE.split())}|run into|run out|\w+ed|\w+ing|\w+ly|\w*[^su]s)\b)[a-z][a-z-]+\b"
_CHORES = "use|mock|commit|merge|push|edit|import|add|write|put|pin|install|deploy|name"
_DO_NOT = r"(?:do ?n['’]?t|do not)"
_RULES = tuple(re.compile(text, re.IGNORECASE) for text in (
    rf"we (?:always|never|only|must(?: not|n['’]t| never| always)) {_VERB}",
    rf"we {_DO_NOT} (?:ever )?(?:{_VERB}.*{_HERE}|(?:{_CHORES}) (?!that\b|this\b|it\b)[\w`])",
    rf"\w[^,]{{2,60}} (?:is|are|goes?|lives?|belongs?)\b.*{_HERE}.*\b(?:never|always)\b",
    rf"we (?:use|prefer|keep|put|write|name|pin|log|store)\b.*(?:{_HERE}|{_OVER})",
    rf"(?:{_DO_NOT}|avoid|no more) [a-z`].*{_REPO}",  # codespell:ignore
    rf"(?:use|prefer) .*(?:{_OVER}.*{_REPO}|{_REPO}.*{_OVER})",
    rf"\w[^,]{{2,60}} (?:(?:is|are) (?:always|never)|(?:always|never) {_VERB}) .*{_HERE}",
    r"\w[^,]{2,60} (?:is|are) (?:banned|forbidden|not allowed|off limits)\b",
    rf"{_REPO},? (?:we|use|never|always|do)\b",
    rf"(?!(?:i|you|it|there|this|that|they)\b)[a-z`].*{_REPO}.*\b(?:never|always)\b",
))  # fmt: skip
"""Beginnings of a rule. "Use X instead of Y here" may be said of one line, so a request needs the whole project."""
_ORDERS = tuple(re.compile(text, re.IGNORECASE) for text in (
    rf"(?:always|never) {_VERB}",
    rf"{_DO_NOT} {_VERB} (?!that\b|this\b|it\b).*\b(?:again|without)\b",
))  # fmt: skip
"""Rules that a sentence has to begin with: in a later clause they may be said of one function."""
_ONE_TIME = re.compile(
    r"(?i)\b(?:yet|for now|for the moment|this time|today|tomorrow|right now|until (?:i|we|tomorrow)|anything|"
    r"in this (?:pr|commit|branch)|just (?:tell|explain|look|read))\b"
)
_NEEDS_CONTEXT = re.compile(r"(?i)(?:we )?(?:always|never|do ?n['’]?t) \w+ (?:one|it|that|this|them|those|these)\b")
"""A rule of what the sentence before names."""
_OF_CODE = re.compile(r"(?i)\A(?:always|never) (?:return|raise|throw|show|render)\b")
"""What one function is to do, rather than who works here."""


def rules_in(prompt: str) -> Iterator[str]:
    """Yield the sentences of a prompt that are rules, without the words that open them."""
    rules: dict[str, None] = {}
    before = ""
    for match in _SENTENCE.finditer(_WRAPPED.sub(" ", _PASTED.sub("\n", prompt[:LONGEST_PROMPT]))):
        sentence = " ".join(match[0].split())
        is_told = sentence.endswith("?") or len(sentence) > LONGEST_SENTENCE or _ONE_TIME.search(sentence)
        rule = "" if is_told else next(_rules_of(sentence), "")
        if rule:
            is_part = _NEEDS_CONTEXT.match(rule) and len(before) + len(rule) < LONGEST
            rules[f"{before} {rule}".strip() if is_part else rule] = None
        before = sentence
    yield from list(rules)[:MOST_RULES]


def _rules_of(sentence: str) -> Iterator[str]:
    """Yield the sentence or its clauses that are rules."""
    plain = _OPENING.sub("", sentence)
    is_reminder = bool(_REMEMBER.match(_OPENED.sub("", sentence)))
    clauses = [(plain, True)]
    if not _CONDITION.match(plain):
        clauses += [(plain[match.end() :], bool(match["turn"])) for match in _CLAUSE.finditer(plain)]
    for text, begins in clauses:
        fits = len(text) <= LONGEST and FEWEST_WORDS <= len(text.split()) <= MOST_WORDS and not _OF_CODE.match(text)
        if fits and (is_reminder or any(rule.match(text) for rule in (*_RULES, *(_ORDERS if begins else ())))):
            yield f"{text[:1].upper()}{text[1:]}"


def is_printed(rule: str, outputs: Iterable[str]) -> bool:
    """Say whether a tool or a page printed a sentence: it is no word of the person who pastes it."""
    words = _plain(rule)
    return any(words in _plain(output) for output in outputs)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))

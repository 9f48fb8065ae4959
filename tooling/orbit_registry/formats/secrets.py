"""Secrets in texts: one regular expression over everything, detect-secrets on its matches only."""

import importlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Suspect:
    """A span of a text that holds a secret, and its kind; the text itself is never shown."""

    kind: str
    start: int
    end: int


_FORMS: Mapping[str, tuple[str, str, str | None]] = {
    "aws": (
        "AWS access key",
        r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Z])",
        "aws.AWSKeyDetector",
    ),
    "key": (
        "private key",
        (
            r"-----BEGIN (?:[A-Z]{2,8} ){0,2}PRIVATE KEY(?: "
            r"BLOCK)?-----(?:\s|\\[nr]){0,40}[A-Za-z0-9+/=]{20}"
        ),
        "private_key.PrivateKeyDetector",
    ),
    "github": (
        "GitHub token",
        r"gh[pousr]_[A-Za-z0-9_]{36,255}",
        "github_token.GitHubTokenDetector",
    ),
    "githubpat": ("GitHub token", r"github_pat_[A-Za-z0-9_]{60,255}", None),
    "gitlab": (
        "GitLab token",
        r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[A-Za-z0-9_\-]{20,1024}",
        "gitlab_token.GitLabTokenDetector",
    ),
    "slack": ("Slack token", r"xox[abpors]-[0-9]+-[0-9A-Za-z-]{8,250}", "slack.SlackDetector"),
    "hook": (
        "Slack webhook",
        r"https://hooks\.slack\.com/services/T\w{1,40}/B\w{1,40}/\w{8,64}",
        "slack.SlackDetector",
    ),
    "stripe": ("Stripe key", r"[rs]k_live_[0-9a-zA-Z]{24,99}", "stripe.StripeDetector"),
    "sendgrid": ("SendGrid key", r"SG\.[\w-]{22}\.[\w-]{43}", "sendgrid.SendGridDetector"),
    "square": ("Square secret", r"sq0csp-[0-9A-Za-z\-_]{43}", "square_oauth.SquareOAuthDetector"),
    "azure": (
        "Azure storage key",
        r"AccountKey=[a-zA-Z0-9+/=]{88}",
        "azure_storage_key.AzureStorageKeyDetector",
    ),
    "npm": ("npm token", r"npm_[A-Za-z0-9]{36}(?!\w)", None),
    "pypi": (
        "package index token",
        r"pypi-AgE[A-Za-z0-9_-]{70,1000}",
        "pypi_token.PypiTokenDetector",
    ),
    "jwt": (
        "JSON web token",
        r"eyJ[A-Za-z0-9_=-]{10,4000}\.eyJ[A-Za-z0-9_=-]{4,4000}\.[\w.+/=-]{10,4000}",
        "jwt.JwtTokenDetector",
    ),
    "openai": ("OpenAI key", r"sk-(?:[\w-]{0,160}T3BlbkFJ[\w-]{20,160}|proj-[\w-]{60,200})", None),
    "anthropic": ("Anthropic key", r"sk-ant-[a-z0-9]{3,10}-[\w-]{60,200}", None),
    "google": ("Google API key", r"AIza[0-9A-Za-z_-]{35}(?![\w-])", None),
    "googleoauth": ("Google OAuth secret", r"GOCSPX-[A-Za-z0-9_-]{28}(?![\w-])", None),
    "huggingface": ("Hugging Face token", r"hf_[A-Za-z0-9]{34,40}(?!\w)", None),
    "digitalocean": ("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}(?!\w)", None),
    "vault": ("Vault token", r"hv[sbr]\.[A-Za-z0-9_-]{24,300}", None),
    "docker": ("Docker token", r"dckr_[po]at_[A-Za-z0-9_-]{27,60}", None),
    "age": ("age secret key", r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}(?!\w)", None),
    "atlassian": (
        "Atlassian token",
        r"AT(?:(?:ATT|CTT)3[A-Za-z0-9_=-]{60,300}|BB[A-Za-z0-9]{32}(?!\w))",
        None,
    ),
    "databricks": ("Databricks token", r"dapi[a-f0-9]{32}(?:-\d)?(?!\w)", None),
    "twilio": ("Twilio key", r"(?:AC|SK)[a-f0-9]{32}(?!\w)", "twilio.TwilioKeyDetector"),
    "telegram": (
        "Telegram bot token",
        r"\d{8,10}:[0-9A-Za-z_-]{35}(?![\w-])",
        "telegram_token.TelegramBotTokenDetector",
    ),
    "basic": (
        "password in a URL",
        (
            r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@{}<>'\"`]{1,64}:[^\s/@{}<>'\"`]{3,128}@"
            r"(?!(?:localhost|127\.0\.0\.1|(?:\w+\.)?example\.com)\b)[\w.-]"
        ),
        "basic_auth.BasicAuthDetector",
    ),
}
"""Forms of secrets: kind, pattern, and the detector that confirms it; without, it is proof."""
_BY_NAME = {"quoted": "secret by its name", "plain": "secret by its name", "bearer": "bearer token"}
KINDS = frozenset(kind for kind, _, _ in _FORMS.values()) | frozenset(_BY_NAME.values())
"""Kinds of secrets, as `docs/reference/checks/content.md` lists them."""
_GROUPS = "|".join(f"(?P<{name}>{pattern})" for name, (_, pattern, _) in _FORMS.items())
_PREFILTER = rf"(?<![A-Za-z0-9])(?:{_GROUPS})"
"""Compiled where it is used: few runs need it."""
_KEY = (
    r"(?<=(?i:api|uth|ess|ent|ret|ate|unt|ice)[_ "
    r"-](?i:key))|(?<=(?i:api|uth|ess|ent|ret|ate|unt|ice)(?i:key))"
)
_NAMES = {
    "w": r"(?i:ord)(?<=(?i:password))|(?i:d)(?:(?<=(?i:passwd))|(?<=(?i:pwd)))",
    "c": r"(?i:ret)(?<=(?i:secret))",
    "k": rf"(?i:en)(?<=(?i:token))|(?i:ey)(?:{_KEY})",
}
"""How names of secret values end, by a rare letter: `db_password`, `PGPASSWORD`, `githubToken`."""
_SEPARATOR = r"[\]\\\"'`*]{0,4}[ \t]{0,4}(?:[:=]{1,3}>?|is\b)[*]{0,2}\s{0,4}"
_ASSIGNED = "|".join(
    f"{letter}(?:{tail}){_SEPARATOR}|{letter.upper()}(?:{tail}){_SEPARATOR}"
    for letter, tail in _NAMES.items()
)
_BEARER = r"[Ee](?i:arer)[ \t]{1,4}"
_VALUE = (
    r"@?\\?(?P<quote>[\"'`])(?P<quoted>[^\s\"'`\\]{8,200})\\?(?P=quote)"
    r"|(?P<plain>[^\s\"'`\\,;<>()\[\]{}|$]{8,200})(?=[\s\"'`\\,;<]|\Z)"
)
_NAMED = rf"(?:{_ASSIGNED})(?:{_VALUE})|[bB]{_BEARER}(?P<bearer>[A-Za-z0-9._~+/-]{{16,4000}}=*)"
"""`password = '…'`, `API_KEY=…`, `Authorization: Bearer …`; `_is_random` judges the value."""
NEEDLES = re.compile(
    r"A(?:(?:KIA|SIA|BIA|CCA)[0-9A-Z]|GE-SECRET-KEY-1|T(?:ATT3|CTT3|BB)|C[a-f0-9]{32})|PRIVATE KEY"
    r"|S(?:G\.|K[a-f0-9]{32})|AIza|J(?<=eyJ)|0csp(?<=sq0csp)|\.(?:slack(?<=hooks\.slack)"
    r"|(?<=hv[sbr]\.)[A-Za-z0-9_-]{24})"
    r"|_(?:(?<=gh[pousr]_)|(?<=github_pat_)|(?<=npm_)|live_(?<=k_live_)|(?<=hf_)"
    r"|(?<=do[opr]_v1_)|(?<=dckr_[op]at_))"
    r"|-(?:(?<=sk-)|(?<=xox[abpors]-)|(?<=gl[a-z]{2}-)|(?<=gl[a-z]{3}-)|(?<=gl[a-z]{4}-)"
    r"|(?<=gl[a-z]{5}-)|A(?<=pypi-A)"
    r"|(?<=GOCSPX-))"
    r"|:(?://[^\s/:]{1,64}:[^\s/@]{3,128}@|(?<=\d{8}:)[0-9A-Za-z_-]{35})|pi(?<=dapi)[a-f0-9]{32}"
    rf"|b{_BEARER}|B{_BEARER}|{_ASSIGNED}"
)
"""A part that every secret has.

A search stops at each character that an alternative begins with, so they begin with rare ones and
look back: 12 MB of records take 0.04 s, and 0.13 s with common letters first.
"""
_QUOTED, _PLAIN = 2.7, 3.0  # least entropy of a quoted and of a bare value
_ELIDED = re.compile(r"[A-Za-z0-9+/=\s\\]{0,128}(?:\.\.|…|[\[<(*])")
"""What follows the first line of a private key that a document shortens."""
_PLACEHOLDER = (
    r"(?i)example|placeholder|redacted|your[-_ "
    r"]|changeme|\bdummy|\bfake|x{6}|\*{3}|\.{3}|0{8}|://[^/]*[$%<{]"
    r"|://(?P<user>[^/:]{1,64}):(?:(?P=user)|pass(?:word|wd)?|pw|pwd|secret|token|x+|user|\w)@"
    r"|\A[\W\d]{0,8}(?:my)?(?:pass(?:word)?|secret|token|test|admin|user)[\W\d]{0,4}\Z"
)


def find_secrets(text: str) -> Iterator[Suspect]:
    """Yield the secrets in a text.

    Made-up examples are none: `EXAMPLE`, `xxxxxx`, `$VARIABLE`, `MIIE…`.
    """
    if not NEEDLES.search(text):
        return

    forms = list(_with_form(text))
    suspects = list(forms)
    for name in _with_name(text):
        if not any(name.start < form.end and form.start < name.end for form in forms):
            suspects.append(name)

    end = 0
    for suspect in sorted(suspects, key=lambda hit: (hit.start, -hit.end)):
        if suspect.start >= end:
            yield suspect
            end = suspect.end


def _with_form(text: str) -> Iterator[Suspect]:
    for match in re.finditer(_PREFILTER, text):
        if re.search(_PLACEHOLDER, match[0]):
            continue

        kind, _, detector = _FORMS[str(match.lastgroup)]
        if kind == "private key" and _ELIDED.match(text, match.end()):
            continue

        # What a detector finds may be ''.
        if detector is None or list(_detector(detector).analyze_string(match[0])):
            yield Suspect(kind, match.start(), match.end())


def _with_name(text: str) -> Iterator[Suspect]:
    for match in re.finditer(_NAMED, text):
        name = next(name for name in _BY_NAME if match[name] is not None)
        value = match[name]
        if _is_random(value, quoted=name == "quoted") and not re.search(_PLACEHOLDER, value):
            yield Suspect(_BY_NAME[name], *match.span(name))


def _is_random(value: str, *, quoted: bool) -> bool:
    """Say whether letters follow digits, or both occur without a separator.

    The value must also have enough entropy, in bits a character.
    """
    least = _QUOTED if quoted else _PLAIN
    shares = [count / len(value) for count in Counter(value).values()]
    if -sum(share * math.log2(share) for share in shares) < least:
        return False

    if any(re.search(r"[0-9][A-Za-z]", run) for run in re.findall(r"[A-Za-z0-9]{6,}", value)):
        return True

    if re.search(r"[-_./:]", value):
        return False

    kinds = [r"[0-9]", r"[A-Za-z]"] if quoted else [r"[0-9]", r"[A-Z]", r"[a-z]"]
    return all(re.search(kind, value) for kind in kinds)


def without_secrets(text: str) -> str:
    """Return a text with each secret replaced by its kind."""
    parts = []
    at = 0
    for suspect in find_secrets(text):
        if suspect.start < at:
            continue

        parts += [text[at : suspect.start], f"[redacted: {suspect.kind}]"]
        at = suspect.end
        if suspect.kind == "private key":
            at = _end_of_key(text, suspect.start)

    return "".join([*parts, text[at:]])


def _end_of_key(text: str, start: int) -> int:
    end = text.find("-----END ", start)
    if end < 0:
        return len(text)

    closing = text.find("-----", end + 9)
    return closing + 5 if closing >= 0 else len(text)


def has_secret(value: object, text: str) -> bool:
    """Say whether a text within a value holds a secret; `text` is the value as ASCII JSON."""
    if "\\u" in text:  # an escape could hide a secret
        text = json.dumps(value, ensure_ascii=False)
    if NEEDLES.search(text) is None:
        return False

    return any(any(find_secrets(part)) for part in _texts(value))


def _texts(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            pending += (*part, *part.values())


@cache
def _detector(name: str) -> Any:
    """Return a detector by module and class, imported at its first match."""
    module, _, kind = name.rpartition(".")
    return getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), kind)()

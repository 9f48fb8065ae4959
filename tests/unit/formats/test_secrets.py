"""Which texts hold a secret; the samples are put together here,
so that no scanner mistakes this file for a leak.
"""

import base64
import json
import re
from pathlib import Path

import pytest
import yaml

from orbit_registry.formats.secrets import KINDS, disguised_secrets, find_secrets, has_secret

LETTERS = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdEfGhIjKlMnOpQrStUvWxYzq7w2e9r4t1y6u3i8o5p0"
SECRETS = {
    "AWS access key": "AKIA" + "Q7RZ5T3MWK2NV8HB",
    "private key": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq0\n",
    "GitHub token": "ghp_" + LETTERS[:36],
    "GitLab token": "glpat-" + LETTERS[:20],
    "Slack token": "xoxb-" + "2048151623-4211083242-aBcDeFgHiJkL",
    "Stripe key": "sk_live_" + LETTERS[:24],
    "SendGrid key": "SG." + LETTERS[:22] + "." + LETTERS[:43],
    "Google API key": "AIza" + LETTERS[:35],
    "OpenAI key": "sk-proj-" + LETTERS[:70],
    "Anthropic key": "sk-ant-" + "api03-" + LETTERS[:70],
    "npm token": "npm_" + LETTERS[:36],
    "Google OAuth secret": "GOCSPX-" + LETTERS[:28],
    "Hugging Face token": "hf_" + LETTERS[:34],
    "DigitalOcean token": "dop_v1_" + "3f2a9c4be1d04c8f" * 4,
    "Vault token": "hvs." + LETTERS[:40],
    "Docker token": "dckr_pat_" + LETTERS[:27],
    "age secret key": "AGE-SECRET-KEY-1" + ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2)[:58],
    "Atlassian token": "ATATT3" + LETTERS,
    "Databricks token": "dapi" + "3f2a9c4be1d04c8f" * 2,
    "Twilio key": "SK" + "3f2a9c4be1d04c8f" * 2,
    "Telegram bot token": "110201543:" + LETTERS[:35],
    "password in a URL": "https://deploy:" + "hk39Xq-71v" + "@ci.example.net/",
}
HARMLESS = (
    "Rotate the AKIA keys every quarter, and never commit a ghp_ token.",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "postgres://user:password@localhost/db",
    (
        "postgres://postgres:postgres@db/app, amqp://app:hk39Xq-71v@localhost:5672, "
        "https://me:hk39Xq-71v@api.example.com"
    ),
    "password = 'password123', and `user token: '(222)Test123'`",
    "https://user:$TOKEN@example.net and https://user:<token>@example.net",
    "-----BEGIN PRIVATE KEY----- is the first line of such a file",
    "-----BEGIN RSA "
    + "PRIVATE KEY-----\nMIIEogIBAAKCAQEA7bq0TJ41............\n-----END RSA PRIVATE KEY-----",
    '{"key": "-----BEGIN ' + 'PRIVATE KEY-----\\nMLLLEpSDFAGKC24gArqiy1c3…"}',
    "commit 3f2a9c4be1d04c8f9a7b6c5d4e3f2a1b0c9d8e7f, uid a18626039f215cece71757fa01e6d2f1",
    "ssh://git@example.net:22/path and mailto:someone@example.net",
    "sk-learn, sk-ant, eyJ, npm_config_cache",
    (
        "password = 'postgres', token: refresh-token, secret: my-app-v2-prod-db, api_key = "
        "'YOUR_KEY_1234'"
    ),
    (
        "DB_PASSWORD=${X1yz234567} and token=os.environ['GITHUB_TOKEN_2'] and `Authorization: "
        "Bearer <token>`"
    ),
    "The bearer authentication of RFC6750, and the token is checked by sha256-digest",
)


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_found_where_it_stands(kind: str) -> None:
    secret = SECRETS[kind]
    (suspect,) = find_secrets(f"Use {secret} for now.")
    assert (suspect.kind, suspect.start) == (kind, 4)
    assert secret.strip().startswith(
        f"Use {secret} for now."[suspect.start : suspect.end].strip()[:20]
    )


@pytest.mark.parametrize(
    "secret",
    [
        *(prefix + LETTERS[:62] for prefix in ("gho_", "ghu_", "ghs_", "ghr_", "github_pat_")),
        *(prefix + LETTERS[:20] for prefix in ("gldt-", "glft-", "glrt-", "glsoat-", "glcbt-")),
        *(prefix + "Q7RZ5T3MWK2NV8HB" for prefix in ("ASIA", "ABIA", "ACCA")),
        "xoxp-" + "2048151623-4211083242-aBcDeFgHiJkL",
        "rk_live_" + LETTERS[:24],
        "hvb." + LETTERS[:40],
        "ATBB" + LETTERS[:32],
        "AC" + "3f2a9c4be1d04c8f" * 2,
        "pypi-AgEIcHlwaS5vcmc" + LETTERS[:70],
        "sq0csp-" + LETTERS[:43],
    ],
)
def test_every_prefix_of_a_service_is_found(secret: str) -> None:
    assert len(list(find_secrets(f"Use {secret} for now."))) == 1


NAMED = {
    "aws_secret_access_key = ": LETTERS[:37] + "/+z",
    "AWS_SECRET_ACCESS_KEY=": LETTERS[:40],
    "password = '": "hk39Xq-71v",
    '{"password": "': "Tr0ub4dor&3",
    "PGPASSWORD=": "Xk39q71v",
    'password: "': "Password4Xk9q",
    "Authorization: Bearer ": LETTERS[:24],
}


@pytest.mark.parametrize("name", NAMED)
def test_random_values_with_secret_names_are_secrets(name: str) -> None:
    text = f"Use {name}{NAMED[name]}'" if name.endswith("'") else f'Use {name}{NAMED[name]}"'
    (suspect,) = find_secrets(text)
    assert text[suspect.start : suspect.end] == NAMED[name]


def test_a_key_with_a_run_of_digits_is_a_secret() -> None:
    assert [suspect.kind for suspect in find_secrets("ghp_" + "1234567" + LETTERS[:29])] == [
        "GitHub token"
    ]


def test_the_page_says_which_kinds_are_found() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/checks/content.md").read_text("utf-8")
    section = " ".join(page.partition("\n## ORB406")[2].partition("\n## ")[0].split())
    assert [kind for kind in sorted(KINDS) if kind not in section] == []


def test_a_private_key_is_found_with_escaped_line_ends() -> None:
    lines = ["-----BEGIN " + "PRIVATE KEY-----", *([LETTERS[:64]] * 4)]
    assert [suspect.kind for suspect in find_secrets("\\n".join(lines))] == ["private key"]
    assert [suspect.kind for suspect in find_secrets("\n".join([*lines, "..."]))] == ["private key"]


@pytest.mark.parametrize("text", HARMLESS)
def test_examples_and_words_are_no_secrets(text: str) -> None:
    assert list(find_secrets(text)) == []


HOSTILE = json.loads(
    (Path(__file__).parents[2] / "cases" / "hostile_texts.json").read_text("utf-8")
)["secrets"]


@pytest.mark.parametrize("name", HOSTILE)
def test_beginnings_of_secrets_are_none(name: str) -> None:
    before, part, times, after = HOSTILE[name]
    assert list(find_secrets(before + part * times + after)) == []


TEXTS = yaml.safe_load((Path(__file__).parents[2] / "cases/secrets.yaml").read_text("utf-8"))
HEX = "3f2a9c4be1d04c8f6b7d5e2a90c1f834"
CAPITALS = "Q7RZ5T3MWK2NV8HB"
PASSWORD = "hk39Xq" + "71vZ"


def put_in(text: str) -> str:
    """Return a text of the table with made-up secrets in it."""
    basic = base64.b64encode(f"deploy:{PASSWORD}".encode()).decode()
    text = text.replace("{P}", PASSWORD).replace("{B}", basic)
    alphabets = {"L": LETTERS, "H": HEX, "U": CAPITALS}
    return re.sub(
        r"\{([LHU])(\d+)\}", lambda match: (alphabets[match[1]] * 3)[: int(match[2])], text
    )


@pytest.mark.parametrize("text", TEXTS["secrets"])
def test_each_form_is_found(text: str) -> None:
    assert len(list(find_secrets(put_in(text)))) == 1


@pytest.mark.parametrize("text", TEXTS["secrets"])
def test_each_form_is_found_in_a_value_of_the_cache(text: str) -> None:
    value = {"fields": ["", put_in(text)]}

    assert has_secret(value, json.dumps(value))


@pytest.mark.parametrize("between", ["\t", "\n", " \n  ", "\u00a0= "])
def test_a_name_and_its_value_may_be_apart_in_a_value_of_the_cache(between: str) -> None:
    value = [f"api_key:{between}q7Xz1Lw9Tb4Rk8Vn2Ym5Pc3Ds6Fg0Hj"]

    assert has_secret(value, json.dumps(value)) is any(find_secrets(value[0]))


@pytest.mark.parametrize("text", TEXTS["harmless"])
def test_what_looks_alike_is_none(text: str) -> None:
    assert list(find_secrets(put_in(text))) == []


TOKEN = SECRETS["GitHub token"]
DISGUISES = {
    "an escape of Markdown": TOKEN.replace("_", "\\_"),
    "an invisible character": f"{TOKEN[:10]}\u200b{TOKEN[10:]}",
    "bold letters": f"{TOKEN[:10]}**{TOKEN[10:]}**",
    "a comment of HTML": f"{TOKEN[:10]}<!-- x -->{TOKEN[10:]}",
    "entities": TOKEN.replace("g", "&#103;"),
    "wide letters": "".join(chr(ord(letter) + 0xFEE0) for letter in TOKEN),
    "two lines of one paragraph": f"{TOKEN[:20]}\\\n{TOKEN[20:]}",
    "base 64": base64.b64encode(TOKEN.encode()).decode(),
}
SHOWN_AS_THEY_ARE = (
    "a token begins with `ghp\\_` and has forty characters",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGl",
    "**Never** commit a <code>glpat-</code> token",
    base64.b64encode(b"a text of some words, no secret in it").decode(),
)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguised_secret_is_found(disguise: str) -> None:
    assert list(disguised_secrets(f"Use {DISGUISES[disguise]} here")) == ["GitHub token"]


@pytest.mark.parametrize("text", [*SHOWN_AS_THEY_ARE, f"Use {TOKEN} here"])
def test_a_text_without_a_disguise_is_none(text: str) -> None:
    assert list(disguised_secrets(text)) == []

"""Secrets are masked, everything else stays, twice is once, and every engine agrees."""

import base64
import os
import random
import string
import sys
import time
from collections.abc import Sequence
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marid.core.errors import Unavailable
from marid.text.literal_finder import FindLiterals
from marid.text.secrets.masker import MASK, Masker, Redactor

ALNUM = string.ascii_letters + string.digits


def key(length: int, alphabet: str = ALNUM) -> str:
    """Random characters, always the same ones."""
    return "".join(random.Random(length).choices(alphabet, k=length))


TOKEN = "gh" + "p_" + key(36)
MASKED_TOKEN = "[masked:github-token]"
BASE64_LINES = [base64.b64encode(random.Random(n).randbytes(48)).decode() for n in range(9)]


def masked(text: str, name: str = "x.py") -> str:
    return Masker().mask(text.encode(), name)[0].decode()


def count(text: str, name: str = "x.py") -> int:
    return Masker().mask(text.encode(), name)[1]


def test_text_without_secrets_comes_back_as_the_same_object() -> None:
    data = b"def sk_live(): return 'https://example.org/eyJ'"
    assert Masker().mask(data, "x.py")[0] is data


def test_only_the_secret_is_replaced_and_each_one_counted() -> None:
    other = "glp" + "at-" + key(20)
    text = f"a = '{TOKEN}'\nb = '{TOKEN}'  # é\nc = {other}!"
    expected = f"a = '{MASKED_TOKEN}'\nb = '{MASKED_TOKEN}'  # é\nc = [masked:gitlab-token]!"
    assert Masker().mask(text.encode(), "x.py") == (expected.encode(), 3)


@pytest.mark.parametrize("prefix", ["x=", '"', "token:", "\\n", "%3D", "\\u003d", "_", "--", "[", "]", "é"])
def test_a_token_may_follow_anything_but_a_word(prefix: str) -> None:
    assert masked(prefix + TOKEN) == prefix + MASKED_TOKEN


def test_a_token_inside_a_word_is_not_masked() -> None:
    assert masked("x" + TOKEN) == "x" + TOKEN


def test_overlapping_secrets_become_one() -> None:
    assert Masker().mask(f"https://me:{TOKEN}@git.host/x".encode(), "x") == (
        f"https://me:{MASKED_TOKEN}@git.host/x".encode(),
        1,
    )
    text = f"https://me:{TOKEN}!tail9@git.host/x"
    assert masked(text) == f"https://me:{MASKED_TOKEN}@git.host/x"


# Blocks


def block(separator: str = "\n", label: str = "RSA PRIVATE KEY", *, end: bool = True) -> str:
    lines = [f"-----BEGIN {label}-----", *BASE64_LINES, "aB3d=="]
    return separator.join([*lines, f"-----END {label}-----"] if end else lines)


@pytest.mark.parametrize("label", ["PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
@pytest.mark.parametrize(
    "separator", ["\n", "\r\n", "\n    ", "\\n", "\\r\\n", '\\n" +\n    "', "\n# ", "\n// ", "\n> "]
)
@pytest.mark.parametrize("end", [True, False])
def test_a_private_key_is_masked_to_its_end(label: str, separator: str, end: bool) -> None:
    text = f'key: "{block(separator, label, end=end)}"\nnext: 1\n'
    assert masked(text) == 'key: "[masked:private-key]"\nnext: 1\n'


def test_a_private_key_cut_at_the_end_of_the_text_is_masked() -> None:
    whole = block()
    for cut in range(whole.index(BASE64_LINES[0]) + 16, len(whole)):
        assert BASE64_LINES[0] not in masked(whole[:cut])


def test_the_headers_of_a_key_belong_to_it_and_two_keys_are_two_masks() -> None:
    headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n"
    text = block().replace(BASE64_LINES[0], headers + BASE64_LINES[0])
    assert masked(text) == "[masked:private-key]"
    assert masked(f"{block()}\n{block(end=False)}\n\n{block()}") == "\n".join(
        ["[masked:private-key]"] * 2 + ["", "[masked:private-key]"]
    )


@pytest.mark.parametrize(
    "text",
    [
        block(label="PUBLIC KEY"),
        block(label="CERTIFICATE"),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        'if line == "-----BEGIN PRIVATE KEY-----":\n    inside = True',
        'BEGIN = "-----BEGIN RSA PRIVATE KEY-----"\nEND = "-----END RSA PRIVATE KEY-----"',
    ],
)
def test_other_armour_and_placeholders_stay(text: str) -> None:
    assert masked(text) == text


# Addresses


@pytest.mark.parametrize(
    ("before", "password", "after"),
    [
        ("postgres://app:", "s3cr3t-P4ss", "@db:5432/x"),
        ("https://bob:", "pa:ss:w0rd", "@host"),
        ("mongodb+srv://u%40x:", "é8#kk?zz", "@host/?x=1"),
        ("amqp://:", "0penSesame", "@[::1]:5672"),
    ],
)
def test_of_an_address_only_the_password_is_masked(before: str, password: str, after: str) -> None:
    assert masked(f"url = '{before}{password}{after}'") == f"url = '{before}[masked:url-password]{after}'"


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8080/@scope",
        "http://localhost:8080?mail=joe@example.org",
        "http://[::1]:8080@example.org",
        "ftp://user:password@host",
        "postgres://postgres:postgres@localhost",
        "https://user:${PASSWORD}@host",
        "https://user:{password}@host",
        "https://user:%(password)s@host",
        "https://user:$PASSWORD@host",
        "https://user:<your-password>@host",
        "https://user:********@host",
        "https://example.org: write to joe@example.org",
    ],
)
def test_an_address_without_a_real_password_stays(text: str) -> None:
    assert masked(text) == text


# Assignments

SECRET = "t7Kq!9vWx2Lm"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (".env", "DB_PASSWORD=§"),
        (".env.local", "export API_KEY='§'"),
        (".envrc", "export SECRET_KEY_BASE=§ # comment"),
        ("prod.env", "AUTH_TOKEN=§"),
        ("x.yaml", "password: §"),
        ("x.yml", "  client-secret: '§'"),
        ("x.YML", "{user: me, pwd: §}"),
        ("x.yaml", "- name: DB_PASSWORD\n  value: '§'"),
        ("x.json", '{"apiKey": "§", "x": 1}'),
        ("x.json", '{"name": "DB_PASSWORD", "value": "§"}'),
        ("x.toml", 'access_key = "§"'),
        ("x.ini", "smtp_passwd = §"),
        ("x.cfg", "Token: §"),
        ("x.properties", "spring.datasource.password=§"),
        (".npmrc", "//host/:_authToken=§"),
        ("credentials", "aws_session_token = §"),
    ],
)
def test_in_a_configuration_file_what_a_telling_key_is_given_is_masked(name: str, line: str) -> None:
    assert masked(line.replace("§", SECRET), name) == line.replace("§", "[masked:assigned-secret]")


@pytest.mark.parametrize("value", ['ab\\"cd12EF34gh!', "it's-4-S3kret:K", "a,b;c]d}e9F8G7"])
def test_a_quoted_value_ends_at_its_own_quote(value: str) -> None:
    assert masked(f'{{"password": "{value}", "x": 1}}', "x.json") == '{"password": "[masked:assigned-secret]", "x": 1}'


def test_a_key_given_to_a_key_is_a_key() -> None:
    assert masked(f"secret: password: {SECRET}", "x.yaml") == "secret: password: [masked:assigned-secret]"


@pytest.mark.parametrize("name", ["x.py", "x.md", "x.lock", "tokens", "x.environment.ts", "json.py"])
def test_in_other_files_an_assignment_stays(name: str) -> None:
    text = f"password = '{SECRET}'"
    assert masked(text, name) == text


@pytest.mark.parametrize(
    "line",
    [
        "password: ${DB_PASSWORD}",
        "password: $DB_PASSWORD_PRODUCTION_1",
        "password: {{ vault_db_password_9 }}",
        "password: '{{lookup('x9','y8')}}'",
        "password: <your-password-here1>",
        "password: changeme-123456-now",
        "password: xxxxXXXXxxxxXXXX1234",
        "api_key: YOUR_API_KEY_1234567",
        "api_key: AKIAIOSFODNN7EXAMPLE",
        "token: hunter2",
        "token: [masked:github-token]",
        "secretName: k8s-prod-2-db-credentials",
        "secret: my-app-database-credentials",
        "token: 0b5ab2c1-59d4-4f6e-8f27-0d3c9a1be5f7",
        "secret_arn: arn:aws:secretsmanager:eu-1:123456789012:secret:x-AbCd",
        "secret: arn:aws:secretsmanager:eu-1:123456789012:secret:x-AbCd",
        "token_url: https://login.example.org/oauth2/v2.0/token",
        "token: https://login.example.org/oauth2/v2.0/tok3n",
        "password_file: /run/secrets/db_1_pw_x9",
        "secret: /run/secrets/db_1_pw_x9",
        "tokenize: ./lib/tokenize.js",
        "password_changed: 2024-10-31T12:34:56Z",
        "js-tokens: sha512-aB3dE5gH7jK9mN1pQ3sT5vW7yZ",
        "token = handler.read_token(1234, 56)",
        "description: the secret of a good password is that nobody sees it",
    ],
)
def test_a_placeholder_or_a_plain_value_stays(line: str) -> None:
    assert masked(line, "x.yaml") == line


@pytest.mark.parametrize("body", ["x" * 36, "X" * 36, "0" * 36, "yourtoken" * 4, "EXAMPLE" + key(29), "<" + key(36)])
def test_a_placeholder_with_a_known_prefix_stays(body: str) -> None:
    text = "gh" + "p_" + body
    assert masked(text) == text


# What looks like a secret and is none


def lockfile(rows: int) -> list[str]:
    source = random.Random(1)
    digests = (source.randbytes(64) for _ in range(rows))
    return [f'      "integrity": "sha512-{base64.b64encode(digest).decode()}",' for digest in digests]


HARMLESS = [
    "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
    "id: 0b5ab2c1-59d4-4f6e-8f27-0d3c9a1be5f7",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "Bearer of news, bearer bonds, Basic understanding, bearer-token-authentication",
    "Authorization: Bearer <token>, Authorization: Bearer ${TOKEN}, Authorization: Bearer YOUR_ACCESS_TOKEN_HERE",
    ".sk-circle .sk-child:before, .task-list, .disk-usage-percentage, .sk-fading-circle-animation-delay-container {}",
    "risk-assessment desk-research sk-learn sk-somethingverylongwithoutanydigitsinit",
    "hf_hub_download(hf_token, hf_configuration_settings)",
    "SG.package.module, ghp_, glpat-, xoxb-, AKIA, AIza, eyJ, hvs.read(), npm_config_registry, npm_lifecycle_event",
    "data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=",
    "http://www.w3.org/2000/svg https://example.org:8080/a@b",
    "pull-request pul-requests dapi dapibus key-value tskey- secret_name secret_access_key=None",
]


@pytest.mark.parametrize("name", ["x.py", "x.yaml", "x.json", ".env"])
@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str, name: str) -> None:
    assert masked(text, name) == text


def test_of_a_hundred_thousand_lines_of_hashes_images_and_prose_fewer_than_one_in_a_thousand_changes() -> None:
    source = random.Random(2)
    images = [
        f"<img src='data:image/png;base64,{base64.b64encode(source.randbytes(300)).decode()}'>" for _ in range(3000)
    ]
    hashes = [f"{source.randbytes(20).hex()} {source.randbytes(32).hex()}" for _ in range(40_000)]
    prose = [" - ".join(source.choices(HARMLESS, k=2)) for _ in range(40_000)]
    lines = [*lockfile(17_000), *images, *hashes, *prose]
    assert len(lines) == 100_000
    assert count("\n".join(lines), "x.json") < 5


# Properties

FRAGMENTS = [
    *(TOKEN, TOKEN[:20], "glp" + "at-" + key(20), "AK" + "IA" + key(16, string.ascii_uppercase), "sk" + "-" + key(40)),
    *(block(), block(end=False), block("\\n"), "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"),
    *("eyJ" + key(20) + ".eyJ" + key(30) + "." + key(43), "eyJ" + key(20), ".eyJ"),
    *(f"https://me:{key(12)}@host", "https://", "://u:", "@host", "Bearer " + key(30), "Bearer "),
    *(f"password: {SECRET}", f"token={TOKEN}", '"apiKey": "', "secret=", "value: ", SECRET, key(14)),
    *("\n", " ", '"', "'", ":", "=", "@", ",", "]", "[", "}", "\\n", "%3D", "_", "-", ".", "x", "7", "é", "public"),
    *("[masked:jwt]", "[masked:", "masked:jwt]"),
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=3)), max_size=14).map("".join)
NAMES = st.sampled_from(["x.py", "x.yaml", "x.json", ".env"])


@settings(max_examples=300)
@given(TEXTS, NAMES)
def test_masking_twice_is_masking_once(text: str, name: str) -> None:
    once, _ = Masker().mask(text.encode(), name)
    again, found = Masker().mask(once, name)
    assert again is once
    assert found == 0


def no_library(literals: Sequence[bytes], *, caseless: bool) -> FindLiterals:
    raise Unavailable(f"{len(literals)} literals, {caseless=}: no library here")


PLAIN = Masker(warm_bytes=sys.maxsize)
WARM = Masker(warm_bytes=0)
WITHOUT_LIBRARY = Masker(warm_bytes=0, build=no_library)


@settings(max_examples=200)
@given(TEXTS, NAMES)
def test_every_engine_masks_the_same(text: str, name: str) -> None:
    data = text.encode()
    expected = PLAIN.mask(data, name)
    assert WARM.mask(data, name) == expected
    assert WITHOUT_LIBRARY.mask(data, name) == expected


@given(st.binary(max_size=200), st.text(max_size=8))
def test_any_bytes_under_any_name_are_survived(data: bytes, name: str) -> None:
    result, found = Masker().mask(data, name)
    assert found or result is data


@settings(max_examples=200)
@given(TEXTS, NAMES)
def test_text_stays_text(text: str, name: str) -> None:
    Masker().mask(text.encode(), name)[0].decode()


# Time

NEAR_MISSES = [
    *("eyJ", "-eyJ", ".eyJ", "eyJaaaaaaaaaaaa.eyJ", "sk.eyJaaaa", "://", "://a:", "://a:b", "https://a:bbbbbb"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + "A" * 20, "-----BEGIN PRIVATE KEY-----A-b: "),
    *("pypi-Ag", "glpat-", "xoxb-", "xox", "dapi", "SG.aaaa", "dp.pt.", "AKIA", "AKIAAAAA", "gl", "sk-", "sk-a"),
    *("Bearer ", "Bearer a", "AccountKey=", "1Q~", "11111111:AA", "aaaaaaaaaaaaaa.atlasv1.", "Private-Lines: 1\n"),
    *("password", "password=", 'password="', "password: aaaaaaaa", "token value", "passw-", "token.", "token=]"),
    *("secret_access_key=aaaa", "hooks.slack.com/services/", "\\n", "token ,value", '"token":\'"'),
]  # fmt: skip


def seconds(data: bytes) -> float:
    start = time.process_time()
    WARM.mask(data, "x.yaml")
    return time.process_time() - start


@pytest.mark.soak  # it reads a clock, which a busy machine makes lie
@pytest.mark.parametrize("piece", NEAR_MISSES)
def test_eight_times_the_near_misses_take_no_more_than_some_eight_times_as_long(piece: str) -> None:
    few, many = piece.encode() * 1_000, piece.encode() * 8_000
    # A quadratic search would need 64 times as long; the addend is for the clock's grain and for setting up.
    assert min(seconds(many) for _ in range(2)) < 24 * min(seconds(few) for _ in range(3)) + 0.02


@pytest.mark.parametrize("line", [b"a" * 10_000_000, b"ab0+/" * 2_000_000])
def test_a_line_of_ten_megabytes_is_no_trouble(line: bytes) -> None:
    assert Masker().mask(line, "x.json")[0] is line


def test_a_masker_that_was_warmed_finds_the_same() -> None:
    warmed, cold = Masker(), Masker()
    warmed.warm()
    warmed.warm()
    text = b"token ghp_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" + b"\n"
    assert warmed.mask(text, "a.txt") == cold.mask(text, "a.txt")
    assert warmed.mask(text, "a.txt")[1] == 1


KEY = 'canary/+"0123'


@pytest.mark.parametrize(
    "form", [KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode(), 'canary/+\\"0123', KEY[::-1]]
)
def test_a_key_is_masked_in_every_form(form: str) -> None:
    assert Redactor(KEY).redact_text(f"before {form} after") == f"before {MASK} after"


def test_what_looks_like_a_key_is_masked_and_a_short_key_is_not_looked_for() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert token not in Redactor().redact_text(f"use {token} here")
    assert Redactor("x", "").redact_text("xylophone") == "xylophone"


def test_only_harmless_headers_are_shown() -> None:
    shown = Redactor(KEY).redact_headers(
        {"Authorization": f"Bearer {KEY}", "Content-Type": "a/b", "X-Odd": "v", "x-ratelimit-a": "1"}
    )
    assert shown == {"authorization": MASK, "content-type": "a/b", "x-odd": MASK, "x-ratelimit-a": "1"}


def test_a_body_is_json_where_it_can_be() -> None:
    assert Redactor("secret-key").redact_body(b'{"a": "secret-key"}') == {"a": MASK}
    assert Redactor("secret-key").redact_body(b"plain secret-key") == f"plain {MASK}"


def test_a_key_that_is_not_text_does_no_harm() -> None:
    odd = os.fsdecode(b"sk-\xff\xfeabcdef")
    assert Redactor(odd).redact_bytes(b"x sk-\xff\xfeabcdef y") == b"x [masked] y"

"""All finders give the same answer, and the costly one is made only when there is much to read."""

import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import Unavailable
from marid.text.literal_finder import (
    AdaptiveFinder,
    BuildFinder,
    FindLiterals,
    OnLiteral,
    build_hyperscan_finder,
    build_plain_finder,
    build_scan_finder,
)
from marid.text.secrets.secret_rules import ASSIGNMENT, TOKENS

WORDS = (b"abra", b"bra", b"://", b"\xc3\xa9", b"k-9", b"a.c", b"[x]", b"\\d")


class Refused(Exception):
    """What a scan says when it does not want to."""


def refusing_scan(_data: bytes, _note: OnLiteral, _flags: int, _hits: list[int], /) -> None:
    raise Refused


def no_library(literals: Sequence[bytes], *, caseless: bool) -> FindLiterals:
    raise Unavailable(f"{len(literals)} literals, {caseless=}: no library here")


def finders(literals: Sequence[bytes], *, caseless: bool) -> list[FindLiterals]:
    plain = build_plain_finder(literals, caseless=caseless)
    return [
        plain,
        build_hyperscan_finder(literals, caseless=caseless),
        AdaptiveFinder(literals, caseless=caseless, warm_bytes=0).find,
        AdaptiveFinder(literals, caseless=caseless, warm_bytes=1_000_000).find,
        AdaptiveFinder(literals, caseless=caseless, warm_bytes=0, build=no_library).find,
        build_scan_finder(refusing_scan, Refused, plain),
        build_scan_finder(refusing_scan, ZeroDivisionError, plain, max_bytes=-1),
    ]


def texts(literals: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Texts in which literals, their parts and their capitals are likely."""
    whole = st.sampled_from(literals)
    parts = st.sampled_from([literal[:-1] for literal in literals])
    pieces = st.one_of(whole, parts, whole.map(bytes.upper), st.binary(max_size=4))
    return st.lists(pieces, max_size=12).map(b"".join)


@pytest.mark.parametrize("caseless", [False, True])
@pytest.mark.parametrize(
    "literals", [WORDS, tuple(literal for rule in TOKENS for literal in rule.literals), ASSIGNMENT.literals]
)
def test_every_finder_finds_the_same_literals(literals: tuple[bytes, ...], caseless: bool) -> None:
    literals = tuple(literal.lower() for literal in literals) if caseless else literals
    all_finders = finders(literals, caseless=caseless)

    @given(texts(literals))
    def agree(data: bytes) -> None:
        text = data.lower() if caseless else data
        present = [number for number, literal in enumerate(literals) if literal in text]
        for find in all_finders:
            assert sorted(find(data)) == present

    agree()


def test_a_literal_is_reported_once_however_often_it_occurs() -> None:
    for find in finders(WORDS, caseless=False):
        assert sorted(find(b"abracadabra" * 1000)) == [0, 1]
        assert list(find(b"")) == []


class CountingBuild:
    """Builds plain finders and counts them."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, literals: Sequence[bytes], *, caseless: bool) -> FindLiterals:
        self.built += 1
        return build_plain_finder(literals, caseless=caseless)


class MissingBuild(CountingBuild):
    """Counts how often it was called in vain."""

    def __call__(self, literals: Sequence[bytes], *, caseless: bool) -> FindLiterals:
        self.built += 1
        return no_library(literals, caseless=caseless)


def warming(build: BuildFinder) -> AdaptiveFinder:
    return AdaptiveFinder(WORDS, caseless=False, warm_bytes=100, build=build)


def test_little_text_does_not_build_the_fast_finder() -> None:
    build = CountingBuild()
    finder = warming(build)
    for _ in range(10):
        finder.find(b"0123456789")
    assert build.built == 0


def test_the_text_that_is_too_much_is_already_read_fast() -> None:
    build = CountingBuild()
    finder = warming(build)
    finder.find(b"x" * 101)
    assert build.built == 1


@pytest.mark.parametrize("build", [CountingBuild(), MissingBuild()])
def test_the_fast_finder_is_asked_for_once(build: CountingBuild) -> None:
    finder = warming(build)
    for _ in range(5):
        assert list(finder.find(b"a k-9" + b" " * 100)) == [4]
    assert build.built == 1


def test_a_database_that_cannot_be_made_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="does not run"):
        build_hyperscan_finder((), caseless=False)


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_without_hyperscan_secrets_are_masked_all_the_same() -> None:
    # An entry of None makes the import fail as if the library were not installed.
    program = (
        "import sys; sys.modules['hyperscan'] = None\n"
        "from marid.text.secrets.masker import Masker\n"
        "print(Masker(warm_bytes=0).mask(b'gh' + b'p_' + b'aB3dE5gH7j' * 4, 'x.py'))"
    )
    assert run(program).strip() == "(b'[masked:github-token]', 1)"


def test_a_small_run_loads_no_hyperscan() -> None:
    program = (
        "import sys\n"
        "from marid.text.secrets.masker import Masker\n"
        "Masker().mask(b'password = 123', '.env')\n"
        "print('hyperscan' in sys.modules)"
    )
    assert run(program).strip() == "False"

"""Languages are told by names alone."""

import pytest

from marid.syntax.languages import LANGUAGES, fence_of, language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("stubs/app.pyi", "python"),
        ("SConstruct", "python"),
        ("LOUD.PY", "python"),
        ("a.mjs", "javascript"),
        ("a.jsx", "javascript"),
        ("a.ts", "typescript"),
        ("a.d.ts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.c", "c"),
        ("a.h", "cpp"),
        ("a.hpp", "cpp"),
        ("a.cc", "cpp"),
        ("A.java", "java"),
        ("a.go", "go"),
        ("a.rs", "rust"),
        ("a.cs", "csharp"),
        ("a.rb", "ruby"),
        ("lib/Rakefile", "ruby"),
        ("a.php", "php"),
        ("a.sh", "bash"),
        (".bashrc", "bash"),
        ("C:\\code\\a.go", "go"),
    ],
)
def test_a_file_with_a_grammar_is_known_by_its_name(path: str, language: str) -> None:
    assert language_of(path) == language
    assert fence_of(path) == language
    assert language in LANGUAGES


@pytest.mark.parametrize(
    ("path", "fence"),
    [
        ("a.json", "json"),
        ("a.yml", "yaml"),
        ("a.toml", "toml"),
        ("README.md", "markdown"),
        ("a.html", "html"),
        ("a.css", "css"),
        ("a.sql", "sql"),
        ("Makefile", "makefile"),
        ("deep/Dockerfile", "dockerfile"),
        ("CMakeLists.txt", "cmake"),
        ("notes.txt", "text"),
        ("a.kt", "kotlin"),
    ],
)
def test_a_file_without_a_grammar_still_has_a_fence(path: str, fence: str) -> None:
    assert language_of(path) is None
    assert fence_of(path) == fence


@pytest.mark.parametrize(
    "path", ["", ".", "noextension", "go", "c", "a.", "a.unknown", "python/readme", "a.py/b", "makefilex"]
)
def test_a_name_that_says_nothing_has_no_language_and_an_empty_fence(path: str) -> None:
    assert language_of(path) is None
    assert fence_of(path) == ""


def test_every_language_is_named_in_lower_case_letters() -> None:
    assert len(set(LANGUAGES)) == len(LANGUAGES) == 13
    assert all(name.isalpha() and name.islower() for name in LANGUAGES)

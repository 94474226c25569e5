"""The language of a file by its name."""

import pytest

from marid.syntax.languages import LANGUAGES, fence_of, language_of

GRAMMARS = {
    "python": "src/app.py stubs/app.pyi SConstruct LOUD.PY",
    "javascript": "a.mjs a.jsx",
    "typescript": "a.ts a.d.ts",
    "tsx": "a.tsx",
    "c": "a.c",
    "cpp": "a.h a.hpp a.cc",
    "java": "A.java",
    "go": "a.go C:\\code\\a.go",
    "rust": "a.rs",
    "csharp": "a.cs",
    "ruby": "a.rb lib/Rakefile",
    "php": "a.php",
    "bash": "a.sh .bashrc",
}
FENCES = (
    "a.json=json a.yml=yaml a.toml=toml README.md=markdown a.html=html a.css=css a.sql=sql Makefile=makefile "
    "deep/Dockerfile=dockerfile CMakeLists.txt=cmake notes.txt=text a.kt=kotlin"
)


def test_every_language_with_a_grammar_is_known_by_file_names() -> None:
    assert sorted(GRAMMARS) == sorted(LANGUAGES)
    for language, paths in GRAMMARS.items():
        for path in paths.split():
            assert (path, language_of(path), fence_of(path)) == (path, language, language)


@pytest.mark.parametrize("case", FENCES.split())
def test_a_file_without_a_grammar_has_a_fence(case: str) -> None:
    path, fence = case.split("=")
    assert (language_of(path), fence_of(path)) == (None, fence)


@pytest.mark.parametrize(
    "path", ["", ".", "noextension", "go", "c", "a.", "a.unknown", "python/readme", "a.py/b", "makefilex"]
)
def test_another_name_has_no_language_and_an_empty_fence(path: str) -> None:
    assert (language_of(path), fence_of(path)) == (None, "")

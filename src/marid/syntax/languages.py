"""The language of a file by its name alone: opens no file and loads no grammar."""

from collections.abc import Mapping
from types import MappingProxyType

# Languages with a grammar. A `.h` file is C++: that grammar understands C headers, but not the reverse.
_WITH_GRAMMAR = {
    "bash": ".sh .bash .zsh .ksh .bats .ebuild .bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc "
    ".zshenv .zprofile .envrc PKGBUILD APKBUILD",
    "c": ".c",
    "cpp": ".cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .inl .ipp .tpp .txx .ino .cu .cuh",
    "csharp": ".cs .csx",
    "go": ".go",
    "java": ".java",
    "javascript": ".js .mjs .cjs .jsx .es6",
    "php": ".php .phtml .php3 .php4 .php5 .php7 .php8 .phps",
    "python": ".py .pyi .pyw SConstruct SConscript wscript",
    "ruby": ".rb .rake .gemspec .ru .podspec .jbuilder Rakefile Gemfile Podfile Vagrantfile Brewfile Guardfile Capfile "
    "Fastfile Dangerfile .irbrc .pryrc",
    "rust": ".rs",
    "tsx": ".tsx",
    "typescript": ".ts .mts .cts",
}

# Languages for fences only, named as highlighters name them.
_FENCE_ONLY = {
    "asciidoc": ".adoc .asciidoc",
    "asm": ".asm .s",
    "bat": ".bat .cmd",
    "bibtex": ".bib",
    "clojure": ".clj .cljs .cljc .edn",
    "cmake": ".cmake CMakeLists.txt",
    "css": ".css",
    "csv": ".csv",
    "d": ".d",
    "dart": ".dart",
    "diff": ".diff .patch",
    "dockerfile": ".dockerfile Dockerfile Containerfile",
    "elixir": ".ex .exs",
    "elm": ".elm",
    "erlang": ".erl .hrl",
    "fortran": ".f .f90 .f95 .f03",
    "fsharp": ".fs .fsi .fsx",
    "glsl": ".glsl .vert .frag",
    "gradle": ".gradle",
    "graphql": ".graphql .gql",
    "groovy": ".groovy Jenkinsfile",
    "haskell": ".hs .lhs",
    "hcl": ".hcl .tf .tfvars",
    "html": ".html .htm .xhtml",
    "ini": ".ini .cfg .conf .properties .editorconfig .gitconfig .npmrc",
    "json": ".json .jsonl .ndjson .geojson .webmanifest .ipynb .babelrc .eslintrc .prettierrc",
    "jsonc": ".jsonc .json5",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "latex": ".tex .sty .cls",
    "less": ".less",
    "lisp": ".lisp .lsp .cl .el",
    "lua": ".lua",
    "makefile": ".mk .mak Makefile makefile GNUmakefile",
    "markdown": ".md .markdown .mkd",
    "mdx": ".mdx",
    "nix": ".nix",
    "objectivec": ".m .mm",
    "ocaml": ".ml .mli",
    "pascal": ".pas .pp",
    "perl": ".pl .pm .t",
    "powershell": ".ps1 .psm1 .psd1",
    "prolog": ".pro",
    "protobuf": ".proto",
    "r": ".r",
    "rst": ".rst",
    "scala": ".scala .sbt .sc",
    "scheme": ".scm .ss .rkt",
    "scss": ".scss",
    "sass": ".sass",
    "sql": ".sql .ddl .dml",
    "svelte": ".svelte",
    "swift": ".swift",
    "tcl": ".tcl",
    "text": ".txt .text .log",
    "toml": ".toml Pipfile",
    "verilog": ".v .sv .svh",
    "vhdl": ".vhd .vhdl",
    "vim": ".vim .vimrc",
    "vue": ".vue",
    "xml": ".xml .xsd .xsl .xslt .svg .plist .csproj .vbproj .fsproj .props .targets .resx",
    "yaml": ".yaml .yml",
    "zig": ".zig",
}

LANGUAGES = tuple(_WITH_GRAMMAR)


def _by_name(table: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({name: language for language, names in table.items() for name in names.split()})


_LANGUAGE_BY_NAME = _by_name(_WITH_GRAMMAR)
_FENCE_BY_NAME = _by_name(_FENCE_ONLY)


def _look_up(path: str, table: Mapping[str, str]) -> str | None:
    """By whole name first, so that `CMakeLists.txt` is not plain text, then by the last extension in any case."""
    name = path.replace("\\", "/").rpartition("/")[2]
    _, dot, extension = name.rpartition(".")
    return table.get(name) or table.get(dot + extension.lower())


def language_of(path: str) -> str | None:
    """The language whose grammar parses this file, or None."""
    return _look_up(path, _LANGUAGE_BY_NAME)


def fence_of(path: str) -> str:
    """The language word of a Markdown fence for this file, or empty."""
    return language_of(path) or _look_up(path, _FENCE_BY_NAME) or ""

"""The built-in exclusions. The table in docs/rules.md is made from this."""

from typing import NamedTuple


class DefaultRules(NamedTuple):
    """A group of built-in exclusions and why it is there."""

    reason: str
    patterns: tuple[str, ...]


def _group(reason: str, patterns: str) -> DefaultRules:
    return DefaultRules(reason, tuple(patterns.split()))


DEFAULT_RULES = (
    _group("version control", ".git .hg/ .svn/ .bzr/"),
    _group("installed packages", "node_modules/ venv/ env/ .venv/ .env/"),
    _group("caches", "__pycache__/ .tox/ .nox/ .mypy_cache/ .pytest_cache/ .ruff_cache/ *.pyc"),
    _group("build results", "build/ dist/ target/ out/ bin/ obj/ *.egg-info/"),
    _group("editors", ".idea/ .vscode/ *.swp *~"),
    _group("output", "logs/ output/ coverage/ *.log *.log.*"),
    _group("temporary files", "*.bak *.tmp *.temp .DS_Store"),
    _group(
        "lock files of package managers",
        "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock "
        "poetry.lock uv.lock pdm.lock Pipfile.lock Cargo.lock Gemfile.lock composer.lock go.sum mix.lock "
        "pubspec.lock Podfile.lock Package.resolved packages.lock.json gradle.lockfile flake.lock "
        "conda-lock.yml",
    ),
    _group("secrets", ".env .env.* !.env.example"),
    _group("our own rule files", ".contextfiles"),
)


def default_gitignore() -> str:
    """All patterns as the text of a `.gitignore`."""
    return "\n".join(pattern for group in DEFAULT_RULES for pattern in group.patterns)

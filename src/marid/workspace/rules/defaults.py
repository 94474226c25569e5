"""What is left out of every project unless a rule includes it. The table in docs/rules.md is made from this."""

from typing import NamedTuple


class DefaultRules(NamedTuple):
    """A group of built-in exclusions and why it is there."""

    reason: str
    patterns: tuple[str, ...]


DEFAULT_RULES = (
    DefaultRules("version control", (".git", ".hg/", ".svn/", ".bzr/")),
    DefaultRules("installed packages", ("node_modules/", "venv/", "env/", ".venv/", ".env/")),
    DefaultRules(
        "caches",
        ("__pycache__/", ".tox/", ".nox/", ".mypy_cache/", ".pytest_cache/", ".ruff_cache/", "*.pyc"),
    ),
    DefaultRules("build results", ("build/", "dist/", "target/", "out/", "bin/", "obj/", "*.egg-info/")),
    DefaultRules("editors", (".idea/", ".vscode/", "*.swp", "*~")),
    DefaultRules("output", ("logs/", "output/", "coverage/", "*.log", "*.log.*")),
    DefaultRules("temporary files", ("*.bak", "*.tmp", "*.temp", ".DS_Store")),
    DefaultRules(
        "lock files of package managers",
        (
            "package-lock.json",
            "npm-shrinkwrap.json",
            "yarn.lock",
            "pnpm-lock.yaml",
            "bun.lock",
            "bun.lockb",
            "deno.lock",
            "poetry.lock",
            "uv.lock",
            "pdm.lock",
            "Pipfile.lock",
            "Cargo.lock",
            "Gemfile.lock",
            "composer.lock",
            "go.sum",
            "mix.lock",
            "pubspec.lock",
            "Podfile.lock",
            "Package.resolved",
            "packages.lock.json",
            "gradle.lockfile",
            "flake.lock",
            "conda-lock.yml",
        ),
    ),
    DefaultRules("secrets", (".env", ".env.*", "!.env.example")),
    DefaultRules("our own rule files", (".contextfiles",)),
)


def default_gitignore() -> str:
    """All of them in the form of a `.gitignore`."""
    return "\n".join(pattern for group in DEFAULT_RULES for pattern in group.patterns)

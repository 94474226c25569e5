"""The commands to measure: floors that users know, marid with various options, and the peers."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench.context.measure import Job
from bench.context.peers import RIPGREP, Peer
from bench.context.trees import Tree

CAT = "git ls-files | xargs cat (big)"
RG = RIPGREP.job
PASS = "python -c pass (tiny)"
IMPORTS = "python, five imports (tiny)"
TEXT = "marid (big)"
TALL = "marid (tall)"
CROWD = "marid (crowd)"
WIDE = "marid (wide)"
TINY = "marid (tiny)"
LIST = "marid --list-only (wide)"
COLD = "marid --tokens, first time (big)"
CACHED = "marid --tokens, again (big)"
TALL_TOKENS = "marid --tokens, first time (tall)"
CROWD_TOKENS = "marid --tokens, first time (crowd)"

_IMPORTS = "import click, tomllib, json, dataclasses, pathlib"


@dataclass(frozen=True, kw_only=True)
class Place:
    """The paths of this run."""

    marid: str
    python: str
    scratch: str
    trees: Mapping[str, Tree]


def floor_jobs(place: Place, ripgrep: Peer | None) -> list[Job]:
    """The commands that limits refer to."""
    out = os.path.join(place.scratch, "floor")
    cat = ("/bin/sh", "-c", 'git ls-files -z | xargs -0 cat > "$0"', out)
    jobs = [
        replace(_floor(place, CAT, "big", cat), output=out),
        replace(_floor(place, PASS, "tiny", (place.python, "-c", "pass")), repeat=4),
        replace(_floor(place, IMPORTS, "tiny", (place.python, "-c", _IMPORTS)), repeat=4),
    ]
    if ripgrep:
        jobs.append(replace(_floor(place, RG, "wide", ripgrep.argv("", "")), output=out, redirect=True))
    return jobs


def _floor(place: Place, name: str, tree: str, argv: tuple[str, ...]) -> Job:
    root = place.trees[tree].root
    return Job(name=name, tree=tree, argv=argv, root=root, folder=root, group="floor", floor=name)


def marid_jobs(place: Place) -> list[Job]:
    """The jobs that limits need, then those that are only reported; two that share a home follow each other."""
    return [
        replace(_marid(place, TEXT, "big"), floor=CAT),
        replace(_marid(place, LIST, "wide", "--list-only"), floor=RG),
        replace(_marid(place, TINY, "tiny"), floor=PASS, repeat=4),
        replace(_marid(place, TALL, "tall"), rounds=2),
        replace(_marid(place, WIDE, "wide"), rounds=2),
        replace(_marid(place, CROWD, "crowd"), rounds=1),
        *_first_and_again(place, COLD, CACHED, "--tokens"),
        replace(_marid(place, TALL_TOKENS, "tall", "--tokens"), fresh_home=True, rounds=1),
        replace(_marid(place, CROWD_TOKENS, "crowd", "--tokens"), fresh_home=True, rounds=1),
        *_report_only(place),
    ]


def _report_only(place: Place) -> list[Job]:
    plain = [
        _marid(place, f"marid {' '.join(options)} (big)", "big", *options)
        for options in (("--no-mask",), ("--list-only",), *(("--format", form) for form in ("markdown", "xml", "json")))
    ]
    stats = _first_and_again(place, "marid --stats, first time (big)", "marid --stats, again (big)", "--stats")
    # Not even the names of the files fit: how soon is that reported?
    small = replace(_marid(place, "marid --budget 20000 (big)", "big", "--budget", "20000"), form="", refusal=5)
    fitting = _first_and_again(
        place, "marid --budget 1000000, first time (big)", "marid --budget 1000000, again (big)", "--budget", "1000000"
    )
    return [
        *(replace(job, floor=CAT, rounds=2) for job in (*plain, *stats, small)),
        *(replace(job, rounds=1, warm_up=False, timeout=180) for job in fitting),
    ]


def _first_and_again(place: Place, first: str, again: str, *options: str) -> tuple[Job, Job]:
    """With an empty cache, and with the cache of the first run."""
    cold = replace(_marid(place, first, "big", *options), floor=CAT, fresh_home=True)
    return cold, replace(_marid(place, again, "big", *options), floor=CAT, home=cold.home)


def _marid(place: Place, name: str, tree: str, *options: str) -> Job:
    """Lists and counts go to standard output, content to a file; each job has its own home."""
    output = os.path.join(place.scratch, name.replace(" ", "-"))
    root = place.trees[tree].root
    prints = "--list-only" in options or "--stats" in options
    return Job(
        name=name,
        tree=tree,
        argv=(place.marid, "context", root, *options, *(() if prints else ("--output", output))),
        root=root,
        folder=place.scratch,
        output=output,
        redirect=prints,
        form=_form(options),
        home=f"{output}.home",
    )


def _form(options: Sequence[str]) -> str:
    """How the output of a run with these options can be verified."""
    if "--stats" in options or "--budget" in options:
        return "nothing-else"
    if "--list-only" in options:
        return "list"
    return options[options.index("--format") + 1] if "--format" in options else "text"


def peer_jobs(place: Place, peers: Sequence[Peer]) -> list[Job]:
    """Each peer with the options that make it fastest."""
    root = place.trees["big"].root
    jobs: list[Job] = []
    for peer in peers:
        output = os.path.join(place.scratch, peer.recipe.package)
        jobs.append(
            Job(
                name=peer.recipe.job,
                tree=peer.recipe.tree,
                argv=peer.argv(root, output),
                root=root,
                folder=place.scratch,
                group="peer",
                floor=CAT,
                output=output,
                form="text",
                rounds=peer.recipe.rounds,
                warm_up=peer.recipe.rounds > 1,
                timeout=180,
                note=", ".join(part for part in (peer.version, peer.recipe.note) if part),
            )
        )
    return jobs

"""`python -m bench.context`: measure, print, compare; exit 1 when a limit does not hold."""

import argparse
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Sequence

from bench import page
from bench.context import report, watch
from bench.context.bars import Status, other_bars, ratio_bars
from bench.context.jobs import Place, floor_jobs, marid_jobs, peer_jobs
from bench.context.measure import MAXRSS_IN_MB
from bench.context.peers import RECIPES, RIPGREP, NotAvailable, Peer, Recipe, install
from bench.context.rounds import Rounds
from bench.context.surroundings import environment, machine, memory_folder
from bench.context.trees import prepare

_REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_RESULTS = os.path.join(_REPOSITORY, "bench", "results")


class Options(argparse.Namespace):
    """The command line."""

    quick: bool
    rounds: int
    trees: str
    marid: str
    write_docs: bool


def options() -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.context", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="floors and marid only, no peers")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often everything is run (default 5)")
    trees = os.path.join(tempfile.gettempdir(), "marid-bench-trees")
    parser.add_argument("--trees", metavar="DIR", default=trees, help=f"where trees and peers are kept ({trees})")
    marid = os.path.join(os.path.dirname(sys.executable), "marid")
    parser.add_argument("--marid", metavar="PROGRAM", default=marid, help="default: the one beside this interpreter")
    parser.add_argument(
        "--write-docs", action="store_true", help="only write the last full run into docs/comparison.md"
    )
    return parser.parse_args(namespace=Options())


def main() -> int:
    """Run the benchmark; returns the exit code."""
    asked = options()
    if asked.write_docs:
        return write_docs()
    folder = os.path.abspath(asked.trees)
    os.makedirs(folder, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix="marid-bench-", dir=memory_folder())
    try:
        trees = prepare(folder)
        place = Place(marid=os.path.abspath(asked.marid), python=sys.executable, scratch=scratch, trees=trees)
        return bench(asked, place, os.path.join(folder, "peers"))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def bench(asked: Options, place: Place, peer_folder: str) -> int:
    """Measure everything, once the trees exist."""
    recipes = () if asked.quick else RECIPES
    peers, missing = find_peers((RIPGREP, *recipes), peer_folder)
    ripgrep = peers.pop(RIPGREP.job, None)
    jobs = [*floor_jobs(place, ripgrep), *marid_jobs(place), *peer_jobs(place, list(peers.values()))]
    env = environment(os.environ, place.scratch)
    rounds = Rounds(jobs, env, place.scratch)
    results = rounds.results
    results.missing.update(missing)
    ratios = ratio_bars(recipes)
    rounds.warm_up()
    rounds.play(asked.rounds)
    rounds.insist(ratios, 2 * asked.rounds)
    own_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MAXRSS_IN_MB
    results.watch = measure_watch(place, env)
    verdicts = [bar.judge(results) for bar in (*ratios, *other_bars(place.trees, rounds.verified()))]
    setting = report.Setting(quick=asked.quick, rounds=asked.rounds, machine=machine(), own_mb=own_mb)
    found = report.facts(setting, jobs, results, verdicts)
    print(report.table(found), report.circumstances(found), report.summary(found["bars"]), sep="\n\n")
    print(f"\nsaved in {os.path.relpath(report.save(_RESULTS, found))}")
    return int(any(verdict.status is Status.FAIL for verdict in verdicts))


def find_peers(recipes: Sequence[Recipe], folder: str) -> tuple[dict[str, Peer], dict[str, str]]:
    """The peers that are installed now, and why the others are not."""
    peers: dict[str, Peer] = {}
    missing: dict[str, str] = {}
    for recipe in recipes:
        try:
            peers[recipe.job] = install(recipe, folder)
        except NotAvailable as why:
            missing[recipe.job] = f"not available: {why}"
    return peers, missing


def measure_watch(place: Place, env: dict[str, str]) -> watch.WatchCost:
    """The cost of watching `big`."""
    tree = place.trees["big"].root
    watched = watch.Watched(
        tree=tree,
        copy=f"{tree}.watched",
        output=os.path.join(place.scratch, "watched"),
        errors=os.path.join(place.scratch, "stderr"),
    )
    return watch.measure(place.marid, watched, {**env, "MARID_HOME": os.path.join(place.scratch, "home")})


def write_docs() -> int:
    """Write the last full run into the page."""
    found = report.newest(_RESULTS)
    if found is None:
        print("there is no full run yet; run `python -m bench.context`", file=sys.stderr)
        return 1
    page.write("measured", report.markdown(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())

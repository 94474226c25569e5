import pytest
from bench.context import jobs
from bench.context.jobs import Place, floor_jobs, marid_jobs, peer_jobs
from bench.context.peers import RECIPES, RIPGREP, Peer, reason
from bench.context.trees import NAMES, Tree
from bench.context.verify import FORMS

TREES = {name: Tree(name=name, root=f"/trees/{name}", files=1, size=1, largest=1) for name in NAMES}
PLACE = Place(marid="/bin/marid", python="/bin/python", scratch="/scratch", trees=TREES)
RG = Peer(recipe=RIPGREP, version="1", program=("/bin/rg",))
PEERS = [Peer(recipe=recipe, version="1", program=("/bin/peer",)) for recipe in RECIPES]


def test_every_job_has_a_name_of_its_own_and_a_floor_that_is_measured() -> None:
    every = [*floor_jobs(PLACE, RG), *marid_jobs(PLACE), *peer_jobs(PLACE, PEERS)]
    names = {job.name for job in every}
    assert len(names) == len(every)
    assert {job.floor for job in every if job.floor} <= names
    assert all(job.form in ("", *FORMS) for job in every)


def test_a_second_run_follows_the_first_and_shares_its_home_only() -> None:
    every = marid_jobs(PLACE)
    at = next(index for index, job in enumerate(every) if job.name == jobs.COLD)
    cold, cached = every[at : at + 2]
    assert (cold.fresh_home, cached.fresh_home) == (True, False)
    assert [job.name for job in every if job.home == cold.home] == [jobs.COLD, jobs.CACHED] == [cold.name, cached.name]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("", "no message"),
        ("Looking\nERROR: No matching distribution found for x\n", "No matching distribution found for x"),
        ("npm error code E404\nnpm error 404 at https://registry.invalid/x\n", "npm error 404 at …"),
        ("only\nthis", "this"),
    ],
)
def test_an_installer_s_message_is_shown_without_addresses(message: str, shown: str) -> None:
    assert reason(message) == shown

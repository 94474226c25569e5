from bench.context import jobs
from bench.context.bars import AtMost, Bar, Exact, Faster, Peak, Results, Status, TokensAdd, WatchSaves
from bench.context.measure import Sample, Series
from bench.context.peers import Recipe
from bench.context.verify import Finding
from bench.context.watch import WatchCost

PEER = Recipe(name="peer", package="peer", command=("peer",))


def _series(wall: float, cpu: float | None = None, *, peak_mb: float = 20, failure: str = "") -> Series:
    sample = Sample(wall=wall, cpu=wall if cpu is None else cpu, peak_mb=peak_mb, failure=failure)
    series = Series()
    series.add(sample)
    return series


def _results(**more: Series) -> Results:
    named = {"text": jobs.TEXT, "cat": jobs.CAT, "cold": jobs.COLD, "cached": jobs.CACHED, "peer": PEER.job}
    series = {jobs.PASS: _series(0.01), jobs.IMPORTS: _series(0.06)}
    return Results(series=series | {named[name]: each for name, each in more.items()})


def _status(bar: Bar, results: Results) -> Status:
    return bar.judge(results).status


def test_a_ratio_is_judged_by_wall_time_on_an_idle_machine() -> None:
    bar = AtMost(left=jobs.TEXT, right=jobs.CAT, limit=1.5)
    assert _status(bar, _results(text=_series(0.3), cat=_series(0.2))) is Status.PASS
    assert _status(bar, _results(text=_series(0.31, 0.1), cat=_series(0.2))) is Status.FAIL


def test_on_a_loaded_machine_the_better_of_wall_and_cpu_judges() -> None:
    bar = AtMost(left=jobs.TEXT, right=jobs.CAT, limit=1.5)
    results = _results(text=_series(0.9, 0.3), cat=_series(0.5, 0.2))
    assert results.loaded
    assert bar.judge(results).measured == "1.50x"


def test_a_peer_must_be_slower_by_a_factor() -> None:
    results = _results(text=_series(0.2), peer=_series(2.0))
    assert _status(Faster(peer=PEER, times=10), results) is Status.PASS
    assert _status(Faster(peer=PEER, times=11), results) is Status.FAIL
    assert _status(Faster(peer=PEER, times=1), _results(text=_series(2), peer=_series(2))) is Status.FAIL


def test_a_peer_that_is_missing_or_broken_is_skipped_visibly() -> None:
    bar = Faster(peer=PEER, times=1)
    missing = _results(text=_series(1))
    missing.missing[PEER.job] = "not available: no wheel"
    assert bar.judge(missing).measured == "peer (big): not available: no wheel"
    assert _status(bar, missing) is Status.SKIP
    broken = _results(text=_series(1), peer=_series(1, failure="exit 1: boom"))
    assert (_status(bar, broken), bar.judge(broken).measured) == (Status.SKIP, "peer (big): exit 1: boom")


def test_a_job_of_ours_that_breaks_has_failed() -> None:
    bar = Peak(job=jobs.TEXT, limit_mb=60)
    assert _status(bar, _results(text=_series(1, failure="exit 70: boom"))) is Status.FAIL
    assert _status(bar, _results()) is Status.SKIP


def test_a_peak_must_stay_below_its_limit() -> None:
    bar = Peak(job=jobs.TEXT, limit_mb=60)
    assert _status(bar, _results(text=_series(1, peak_mb=59))) is Status.PASS
    assert _status(bar, _results(text=_series(1, peak_mb=60))) is Status.FAIL


def test_counting_tokens_may_add_a_second_once() -> None:
    bar = TokensAdd(limit_s=1, again=0.5)
    text = _series(0.3)
    assert _status(bar, _results(text=text, cold=_series(1.2), cached=_series(0.4))) is Status.PASS
    assert _status(bar, _results(text=text, cold=_series(1.4), cached=_series(0.4))) is Status.FAIL
    assert _status(bar, _results(text=text, cold=_series(1.2), cached=_series(1.1))) is Status.FAIL


def test_watching_is_judged_where_it_could_be_measured() -> None:
    bar = WatchSaves(part=0.5)
    results = _results(text=_series(0.4))
    outcomes: list[Status] = []
    for cost in (
        None,
        WatchCost(failure="no /proc", impossible=True),
        WatchCost(failure="it ended"),
        WatchCost(first_cpu=0.4, change_cpu=0.2),
        WatchCost(first_cpu=0.4, change_cpu=0.3),
    ):
        results.watch = cost
        outcomes.append(_status(bar, results))
    assert outcomes == [Status.SKIP, Status.SKIP, Status.FAIL, Status.PASS, Status.FAIL]


def test_one_wrong_output_fails_and_is_named() -> None:
    results = _results(text=_series(1), cold=_series(1))
    results.findings = {
        jobs.TEXT: Finding(files=3, exact=3),
        jobs.COLD: Finding(files=3, exact=2, problems=("altered",)),
    }
    assert Exact(outputs=(jobs.TEXT,)).judge(results).measured == "1 outputs, 3 files"
    verdict = Exact(outputs=(jobs.TEXT, jobs.COLD)).judge(results)
    assert (verdict.status, verdict.measured) == (Status.FAIL, f"{jobs.COLD}: altered")

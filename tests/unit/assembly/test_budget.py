from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.apps import AppFakes
from fakes.git import FakeRepository
from fakes.trees import plant, scratch
from marid.assembly.budget import Candidate, Ranking, choose_levels, demote_least_useful, mention_name
from marid.assembly.pipeline import ContextRun
from marid.core.context import (
    ContextRequest,
    FileSelection,
    Level,
    LevelRule,
    OutputFormat,
    RenderOptions,
    SymbolChoice,
    SymbolDetail,
)
from marid.core.errors import Exhausted
from marid.text.tokens import make_counter


def test_a_named_file_comes_first_and_its_neighbours_before_strangers() -> None:
    ranking = Ranking(["src/shop/cart.py"], {}, {})
    order = ["src/shop/cart.py", "src/shop/till.py", "src/other/far.py", "docs/deep/down/x.py"]
    scores = [ranking.score(path) for path in order]
    assert scores == sorted(set(scores), reverse=True)


def test_of_files_alike_the_changed_the_mentioned_and_the_upper_are_more_useful() -> None:
    ranking = Ranking([], {"a.py": 200, "b.py": 0}, {})
    assert ranking.score("b.py") > ranking.score("a.py") > ranking.score("never.py")
    ranking = Ranking([], {}, {"store": 9, "view": 1})
    assert ranking.score("store.py") > ranking.score("view.py") > ranking.score("lonely.py")
    assert Ranking([], {}, {}).score("a.py") > Ranking([], {}, {}).score("x/y/a.py")


@pytest.mark.parametrize(
    ("path", "known_as"),
    [
        ("app/store.py", "store"),
        ("app/store.test.ts", "store"),
        ("app/__init__.py", "app"),
        ("web/index.ts", "web"),
        ("src/mod.rs", "src"),
        ("cmd/main.go", "cmd"),
        ("index.js", "index"),
        ("Makefile", "Makefile"),
    ],
)
def test_a_file_is_mentioned_by_its_name_or_its_folder_s(path: str, known_as: str) -> None:
    assert mention_name(path) == known_as


def no_outline(_path: str) -> int | None:
    return None


def outlines(**costs: int) -> Callable[[str], int | None]:
    return costs.get


def test_everything_that_fits_is_shown_in_full() -> None:
    files = [Candidate("a", 100, 5, 1.0), Candidate("b", 50, 5, 2.0)]
    assert choose_levels(files, 150, no_outline) == {"a": Level.FULL, "b": Level.FULL}


def test_the_most_useful_files_come_first() -> None:
    files = [Candidate("a", 50, 5, 1.0), Candidate("b", 50, 5, 3.0), Candidate("c", 50, 5, 2.0)]
    assert choose_levels(files, 120, no_outline) == {"a": Level.NAME, "b": Level.FULL, "c": Level.FULL}


def test_a_large_file_is_shown_as_its_outline_if_that_is_shorter() -> None:
    files = [Candidate("large", 1000, 5, 2.0), Candidate("small", 20, 5, 1.0)]
    assert choose_levels(files, 200, outlines(large=80)) == {"large": Level.OUTLINE, "small": Level.FULL}
    files = [Candidate("a", 100, 5, 2.0), Candidate("b", 60, 5, 1.0)]
    assert choose_levels(files, 80, outlines(a=100, b=60)) == {"a": Level.NAME, "b": Level.FULL}


def test_a_file_whose_outline_cannot_fit_is_not_parsed() -> None:
    asked: list[str] = []

    def cost(path: str) -> int:
        asked.append(path)
        return 1

    choose_levels([Candidate("huge", 100_000, 5, 2.0), Candidate("b", 900, 5, 1.0)], 500, cost)
    assert "huge" not in asked


def test_one_large_file_does_not_push_everything_else_out() -> None:
    files = [Candidate("large", 90, 5, 9.0), *(Candidate(name, 20, 5, 1.0) for name in "abc")]
    levels = choose_levels(files, 105, outlines(large=30))
    assert levels == {"large": Level.OUTLINE, "a": Level.FULL, "b": Level.FULL, "c": Level.FULL}


def test_what_is_left_tops_an_outline_up() -> None:
    files = [Candidate("a", 60, 5, 9.0), Candidate("b", 500, 5, 1.0)]
    assert choose_levels(files, 80, outlines(a=20)) == {"a": Level.FULL, "b": Level.NAME}


def test_pinned_levels_are_kept() -> None:
    files = [
        Candidate("name", 10, 5, 9.0, Level.NAME),
        Candidate("full", 50, 5, 0.0, Level.FULL),
        Candidate("outline", 90, 5, 0.0, Level.OUTLINE),
        Candidate("plain", 30, 5, 0.0, Level.OUTLINE),
    ]
    assert choose_levels(files, 200, outlines(outline=20)) == {
        "name": Level.NAME,
        "full": Level.FULL,
        "outline": Level.OUTLINE,
        "plain": Level.OUTLINE,
    }


def test_a_budget_below_the_names_is_refused_with_what_would_help() -> None:
    with pytest.raises(
        Exhausted, match=r"1,000 files need 5,000 even by name; raise --budget, or .* --rule '!PATTERN'"
    ):
        choose_levels([Candidate(str(n), 100, 5, 1.0) for n in range(1000)], 4999, no_outline)


def test_the_least_useful_file_goes_first_until_none_is_left() -> None:
    files = [Candidate("a", 9, 1, 2.0), Candidate("b", 9, 1, 1.0), Candidate("c", 9, 1, 0.5), Candidate("d", 9, 1, 0.0)]
    levels = {"a": Level.FULL, "b": Level.OUTLINE, "c": Level.NAME, "d": Level.FULL}
    files[3] = files[3]._replace(pinned_level=Level.FULL)
    assert demote_least_useful(files, levels) == {**levels, "b": Level.NAME}
    with pytest.raises(Exhausted, match="even by name"):
        demote_least_useful([Candidate("a", 9, 1, 2.0)], {"a": Level.NAME})


def price(one: Candidate, level: Level, costs: dict[str, int]) -> int:
    return {Level.FULL: one.full_cost, Level.NAME: one.name_cost, Level.OUTLINE: costs.get(one.path, 0)}[level]


CANDIDATES = st.lists(
    st.builds(
        Candidate,
        st.text("abcdef", min_size=1, max_size=6),
        st.integers(5, 500),
        st.integers(1, 5),
        st.floats(-5, 15),
        st.sampled_from([None, None, Level.FULL, Level.NAME]),
    ),
    max_size=8,
    unique_by=lambda one: one.path,
)


@settings(deadline=None)
@given(
    CANDIDATES, st.integers(0, 1500), st.dictionaries(st.text("abcdef", min_size=1, max_size=6), st.integers(1, 400))
)
def test_what_is_chosen_never_costs_more_than_the_budget(
    candidates: list[Candidate], budget: int, costs: dict[str, int]
) -> None:
    try:
        levels = choose_levels(candidates, budget, costs.get)
    except Exhausted:
        assert sum(one.full_cost if one.pinned_level is Level.FULL else one.name_cost for one in candidates) > budget
    else:
        assert sum(price(one, levels[one.path], costs) for one in candidates) <= budget
        assert all(levels[one.path] is one.pinned_level for one in candidates if one.pinned_level)


def run_of(
    top: Path | str,
    budget: int,
    *,
    outside: AppFakes | None = None,
    shown: RenderOptions | None = None,
    wanted: FileSelection | None = None,
) -> ContextRun:
    request = ContextRequest(
        cwd=str(top),
        selection=wanted or FileSelection(),
        render=(shown or RenderOptions())._replace(budget=budget),
        encoding="cl100k_base",
    )
    return ContextRun(request, (outside or AppFakes()).context_ports(), lambda _: None)


def written(run: ContextRun) -> bytes:
    return b"".join(piece for batch in run for piece in batch)


def tokens(data: bytes) -> int:
    return make_counter("cl100k_base").count(data)


def code(name: str, lines: int) -> str:
    return f"def {name}():\n" + "".join(f"    value_{n} = compute({n}, {name!r})\n" for n in range(lines))


def shown_in_full(text: bytes, *names: str) -> list[str]:
    return [
        name for name in names if f"File: {name}\n".encode() in text and f"def {name[:-3]}():\n    ".encode() in text
    ]


def test_everything_is_shown_when_it_fits(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": code("a", 5), "b.py": code("b", 5)})
    free = written(ContextRun(ContextRequest(cwd=str(tmp_path)), AppFakes().context_ports(), lambda _: None))
    assert written(run_of(tmp_path, tokens(free) + 10)) == free


def test_a_large_file_is_shown_as_its_outline(tmp_path: Path) -> None:
    plant(tmp_path, {"large.py": code("large", 300), "small.py": code("small", 3)})
    text = written(run_of(tmp_path, 400))
    assert b"File: large.py\n" in text
    assert b"Level: outline\n" in text
    assert shown_in_full(text, "large.py", "small.py") == ["small.py"]


def test_what_has_no_place_left_is_listed_by_name(tmp_path: Path) -> None:
    plant(tmp_path, {f"{name}.txt": "word " * 200 for name in "abcdef"})
    text = written(run_of(tmp_path, 600))
    assert b"By name only: " in text
    assert tokens(text) <= 600


def test_named_files_come_first(tmp_path: Path) -> None:
    plant(tmp_path, {f"{name}.py": code(name, 30) for name in "abcdef"})
    text = written(run_of(tmp_path, 700, wanted=FileSelection(targets=(".", "e.py"))))
    assert "e.py" in shown_in_full(text, *(f"{name}.py" for name in "abcdef"))


def test_files_that_changed_last_come_first(tmp_path: Path) -> None:
    repository = FakeRepository()
    files = {f"{name}.py": code(name, 30).encode() for name in "abcdef"}
    repository.commit("all", files)
    for n in range(30):
        repository.commit("other", {"x": str(n).encode()})
    repository.commit("d", {"d.py": files["d.py"] + b"\n"})
    plant(tmp_path, {name: data for name, data in repository.files.items() if name != "x"})
    outside = AppFakes(repositories={str(tmp_path): repository})
    names = [f"{name}.py" for name in "abcdef"]
    assert "d.py" in shown_in_full(written(run_of(tmp_path, 700, outside=outside)), *names)


def test_files_that_others_mention_come_first(tmp_path: Path) -> None:
    files = {f"{name}.py": "import zeta\n" + code(name, 30) for name in ("alpha", "beta", "gamma")}
    plant(tmp_path, {**files, "zeta.py": code("zeta", 30)})
    text = written(run_of(tmp_path, 700))
    assert shown_in_full(text, "zeta.py") == ["zeta.py"]
    assert b"def gamma():\n    " not in text


def test_the_user_s_own_levels_are_kept(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": code("a", 40), "b.py": code("b", 3), "c.txt": "text", "d.py": code("d", 9)})
    rules = (
        LevelRule("a.py", Level.FULL),
        LevelRule("b.py", Level.NAME),
        LevelRule("c.txt", Level.OUTLINE),
        LevelRule("d.py", Level.OUTLINE),
    )
    text = written(run_of(tmp_path, 5000, shown=RenderOptions(levels=rules)))
    assert shown_in_full(text, "a.py", "b.py", "d.py") == ["a.py"]
    assert b"By name only: 2 files" in text
    assert text.count(b"Level: outline\n") == 1


def test_a_pinned_file_that_does_not_fit_is_too_much(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": code("a", 400)})
    with pytest.raises(Exhausted, match=r"budget of 100 tokens is too small: 1 files need [\d,]+ even by name"):
        written(run_of(tmp_path, 100, shown=RenderOptions(levels=(LevelRule("*", Level.FULL),))))


def test_not_even_names_fit(tmp_path: Path) -> None:
    plant(tmp_path, {f"{n}.txt": "text" for n in range(100)})
    with pytest.raises(Exhausted, match="--budget"):
        written(run_of(tmp_path, 50))


def test_what_stands_before_the_files_counts_too(tmp_path: Path) -> None:
    plant(tmp_path, {f"some_long_name_{n}.txt": "text" for n in range(30)})
    with pytest.raises(Exhausted, match="too small for the tree"):
        written(run_of(tmp_path, 100, shown=RenderOptions(with_tree=True)))


def test_a_file_that_vanishes_between_the_passes_is_left_out(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": code("a", 3), "b.py": code("b", 3)})
    repository = FakeRepository()

    class Vanishing(FakeRepository):
        def touched(self, number: int) -> dict[str, str]:
            (tmp_path / "b.py").unlink(missing_ok=True)
            return super().touched(number)

    repository = Vanishing()
    repository.commit("all", {"a.py": b"", "b.py": b""})
    text = written(run_of(tmp_path, 5000, outside=AppFakes(repositories={str(tmp_path): repository})))
    assert shown_in_full(text, "a.py", "b.py") == ["a.py"]


def test_the_report_has_the_tokens_of_what_is_shown(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": code("a", 3), "b.py": code("b", 300)})
    run = run_of(tmp_path, 300)
    text = written(run)
    report = run.report()
    assert report.files == 2
    assert 0 < (report.tokens or 0) <= tokens(text) <= 300


def test_every_budget_is_kept_however_tight(tmp_path: Path) -> None:
    plant(tmp_path, {**{f"{name}.py": code(name, 2) for name in "abc"}, "d.txt": "日本 " * 9})
    reached: set[int] = set()
    for budget in range(20, 420, 3):
        with suppress(Exhausted):
            found = tokens(written(run_of(tmp_path, budget)))
            assert found <= budget
            reached.add(found)
    assert len(reached) > 5


def test_chosen_symbols_are_kept(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": code("a", 3) + code("b", 300), "c.py": code("c", 50)})
    shown = RenderOptions(
        symbols=(SymbolChoice("a.py", "a", SymbolDetail.FULL), SymbolChoice("a.py", "b", SymbolDetail.SIGNATURE))
    )
    text = written(run_of(tmp_path, 250, shown=shown))
    assert shown_in_full(text, "a.py", "c.py") == ["a.py"]
    assert "def b():  ⋮ 5-305\n".encode() in text


WORDS = st.sampled_from(
    ["def f():\n    pass\n", "x", "\n", "日本語", "class A:\n  def m(self):\n    return 1\n", "=" * 80, "a b "]
)
PROJECTS = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "src/c.py", "src/d.txt", "e\n.js", "docs/readme.md"]),
    st.lists(WORDS, max_size=60).map("".join),
    max_size=6,
)


@settings(deadline=None, max_examples=60)
@given(PROJECTS, st.integers(1, 900), st.sampled_from(OutputFormat), st.booleans())
def test_the_whole_output_never_has_more_tokens_than_the_budget(
    files: dict[str, str], budget: int, form: OutputFormat, with_tree: bool
) -> None:
    with scratch() as top:
        plant(top, files)
        with suppress(Exhausted):
            assert tokens(written(run_of(top, budget, shown=RenderOptions(form=form, with_tree=with_tree)))) <= budget

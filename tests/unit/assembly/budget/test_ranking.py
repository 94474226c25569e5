import pytest

from marid.assembly.budget.ranking import Ranking, count_mentions, mention_name


def test_a_named_file_comes_first_and_its_neighbours_before_strangers() -> None:
    ranking = Ranking(["src/shop/cart.py"], {}, {})
    order = ["src/shop/cart.py", "src/shop/till.py", "src/other/far.py", "docs/deep/down/x.py"]
    scores = [ranking.score(path) for path in order]
    assert scores == sorted(set(scores), reverse=True)


def test_of_equally_near_files_the_one_that_changed_last_is_more_useful() -> None:
    ranking = Ranking([], {"a.py": 200, "b.py": 0}, {})
    assert ranking.score("b.py") > ranking.score("a.py") > ranking.score("never.py")


def test_of_files_alike_the_one_that_others_mention_is_more_useful() -> None:
    ranking = Ranking([], {}, {"store": 9, "view": 1})
    assert ranking.score("store.py") > ranking.score("view.py") > ranking.score("lonely.py")


def test_of_files_alike_the_one_nearer_to_the_top_is_more_useful() -> None:
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


def test_mentions_are_counted_once_per_file_and_only_of_known_names() -> None:
    assert count_mentions({"a", "b"}, [["a", "x"], ["a", "b"], []]) == {"a": 2, "b": 1}

import json

from marid.assembly.views.statistics import (
    FileRow,
    Statistics,
    Totals,
    compute_statistics,
    render_tree,
    statistics_json,
    statistics_text,
)


def test_a_tree_has_files_before_folders_each_by_name() -> None:
    rows = [FileRow(path) for path in ("b/y.py", "z.py", "b/a/x.py", "a.py", "b/z.py", "c/d/e.py")]
    assert list(render_tree(rows, "/home/me/shop")) == [
        "shop/",
        "├── a.py",
        "├── z.py",
        "├── b/",
        "│   ├── y.py",
        "│   ├── z.py",
        "│   └── a/",
        "│       └── x.py",
        "└── c/",
        "    └── d/",
        "        └── e.py",
    ]


def test_tokens_stand_beside_the_files_where_they_are_known() -> None:
    assert list(render_tree([FileRow("a", 1, 1234), FileRow("b", 1)], "/p", mark="≈"))[1:] == [
        "├── a (≈1,234 tokens)",
        "└── b",
    ]


def test_names_in_a_tree_cannot_break_its_lines() -> None:
    assert list(render_tree([FileRow("a\nb/c\td")], "/p\n")) == ['"p\\n"/', '└── "a\\nb"/', '    └── "c\\td"']


def test_the_top_of_the_disk_has_a_name_too() -> None:
    assert list(render_tree([], "/")) == ["//"]


def test_a_tree_may_be_deeper_than_python_may_recurse() -> None:
    assert len(list(render_tree([FileRow("/".join("d" * 3000))], "/p"))) == 3001


ROWS = [FileRow("a.py", 10, 3), FileRow("src/b.py", 2000, 500), FileRow("src/x/c.py", 30, 8)]


def test_statistics_add_up_the_whole_each_folder_with_all_below_and_the_largest() -> None:
    assert compute_statistics(ROWS) == Statistics(
        Totals(3, 2040, 511),
        {"src": Totals(2, 2030, 508), "src/x": Totals(1, 30, 8)},
        [ROWS[1], ROWS[2], ROWS[0]],
    )


def test_the_largest_are_ten_of_many() -> None:
    rows = [FileRow(f"{n}.py", n, n) for n in range(2000)]
    assert [row.size for row in compute_statistics(rows).largest] == list(range(1999, 1989, -1))


def test_statistics_for_a_person_are_a_table() -> None:
    assert list(statistics_text(compute_statistics(ROWS), encoding="o200k_base", mark="≈")) == [
        "3 files, 2.0 KB, ≈511 tokens (o200k_base)",
        "",
        "folder  files   bytes  tokens",
        "src/        2  2.0 KB    ≈508",
        "src/x/      1    30 B      ≈8",
        "",
        "largest files   bytes  tokens",
        "src/b.py       2.0 KB    ≈500",
        "src/x/c.py       30 B      ≈8",
        "a.py             10 B      ≈3",
    ]


def test_statistics_of_nothing_are_one_line() -> None:
    assert list(statistics_text(compute_statistics([]), encoding="x", mark="")) == ["0 files, 0 B, 0 tokens (x)"]


def test_forty_folders_are_shown_and_the_others_counted() -> None:
    lines = list(
        statistics_text(compute_statistics([FileRow(f"{n}/a", 1, 1) for n in range(50)]), encoding="x", mark="")
    )
    assert "and 10 more folders" in lines
    assert sum(line[0:1].isdigit() and "/ " in line for line in lines) == 40


def test_statistics_for_a_program_hold_everything() -> None:
    data = json.loads(statistics_json(compute_statistics(ROWS), encoding="o200k_base", exact=True))
    assert (data["files"], data["bytes"], data["tokens"]) == (3, 2040, 511)
    assert (data["encoding"], data["exact"]) == ("o200k_base", True)
    assert data["folders"][0] == {"path": "src", "files": 2, "bytes": 2030, "tokens": 508}
    assert data["largest"][0] == {"path": "src/b.py", "bytes": 2000, "tokens": 500}

from marid.workspace.rules.parse import CONFIG, IGNORE, INLINE, parse_gitignore, parse_inline
from marid.workspace.rules.rule_layers import RuleLayer, RuleSource


def context(*lines: str, rank: int = INLINE) -> RuleSource:
    return RuleSource(parse_inline(lines), rank=rank, origin="test")


def ignore(*lines: str, fold: bool = False) -> RuleSource:
    return RuleSource(parse_gitignore("\n".join(lines)), rank=IGNORE, origin="test", ignore_case=fold)


def down(layer: RuleLayer, *names: str) -> RuleLayer:
    for name in names:
        layer = layer.below(name)
    return layer


def matched(source: RuleSource, path: str, *, folder: bool = False) -> list[str]:
    *folders, name = path.split("/")
    return [source.rules[i].text for i in down(source.top_layer(), *folders).find_matches(name, folder=folder)]


def test_the_rules_that_match_directly_are_named_in_order_and_by_kind() -> None:
    source = context("*.py", "a.py", "src/a.py", "src/*", "other/a.py", "src")
    assert matched(source, "src/a.py") == ["*.py", "a.py", "src/a.py", "src/*"]
    assert matched(source, "a.py") == ["*.py", "a.py"]
    assert matched(source, "src", folder=True) == ["src"]
    assert matched(source, "b.txt") == []
    source = context("a/", "b/c/")
    assert matched(source, "a") == matched(source, "b/c") == []
    assert matched(source, "a", folder=True) == ["a/"]
    assert matched(source, "b/c", folder=True) == ["b/c/"]


def test_two_stars_stand_for_any_number_of_folders() -> None:
    source = ignore("a/**/z", "**/y", "x/**", "**/m/**/n")
    assert matched(source, "a/z") == matched(source, "a/b/c/z") == ["a/**/z"]
    assert matched(source, "y") == matched(source, "p/q/y") == ["**/y"]
    assert matched(source, "x/1") == matched(source, "x/1/2") == ["x/**"]
    assert matched(source, "x", folder=True) == []
    assert matched(source, "p/m/n") == matched(source, "m/q/n") == ["**/m/**/n"]
    assert matched(source, "q/z") == []


def test_folders_in_which_nothing_is_left_alive_share_one_layer() -> None:
    top = context("*.py", "src/a.py").top_layer()
    assert not top.is_flat
    gone = top.below("docs")
    assert gone.is_flat
    assert gone is top.below("other") is gone.below("deeper")
    assert not top.below("src").is_flat


def test_states_are_shared_between_folders_that_are_alike() -> None:
    source = context("*/x/a.py")
    assert source.top_layer().below("one") is source.top_layer().below("two")


def test_a_layer_may_include_only_while_an_inclusion_can_still_match_below() -> None:
    assert context("*.py").top_layer().below("any").may_include
    layer = context("src/a.py", "!docs/b.md").top_layer()
    assert layer.may_include
    assert layer.below("src").may_include
    assert not layer.below("docs").may_include
    assert not layer.below("src").below("deeper").may_include
    assert not ignore("!a").top_layer().may_include


def test_below_an_exclusion_with_wildcards_only_a_file_named_without_wildcards_may_be_included() -> None:
    assert context("a.py").top_layer().below_exclusion().may_include
    assert not context("*.py", "a/", "b/*").top_layer().below_exclusion().may_include
    layer = context("src/a.py").top_layer().below("src").below_exclusion()
    assert layer.excluded_above
    assert layer.may_include
    assert layer.below_exclusion() is layer


def test_context_rules_do_not_tell_two_spellings_of_a_letter_apart() -> None:
    source = context("é/caf?.txt", "[é].md")
    for spelling in ("é", "e\u0301"):
        assert matched(source, f"{spelling}/caf{spelling}.txt") == ["é/caf?.txt"]
        assert matched(source, f"{spelling}.md") == ["[é].md"]
    assert source.needs_normalizing
    assert context("?").needs_normalizing
    assert not context("a*").needs_normalizing


def test_ignore_rules_are_about_bytes_as_in_git() -> None:
    source = ignore("é", "[é]x", "?y", "??z", "[!a]w", "é*.log")
    assert matched(source, "é") == ["é"]
    assert matched(source, "e\u0301") == matched(source, "éx") == matched(source, "éy") == matched(source, "éw") == []
    assert matched(source, "éz") == ["??z"]
    assert matched(source, "bw") == ["[!a]w"]
    assert matched(source, "é1.log") == ["é*.log"]
    assert not source.needs_normalizing


def test_case_is_ignored_where_the_repository_says_so_and_then_only_of_ascii() -> None:
    source = ignore("ReadMe", "*.LOG", "src/[a-b]*", "É", fold=True)
    assert matched(source, "README") == ["ReadMe"]
    assert matched(source, "a.log") == ["*.LOG"]
    assert matched(source, "SRC/Bx") == ["src/[a-b]*"]
    assert matched(source, "É") == ["É"]
    assert matched(source, "é") == []
    assert matched(ignore("K"), "\u212a") == matched(ignore("k", fold=True), "\u212a") == []


def test_a_table_holds_names_suffixes_and_one_regex_for_the_rest() -> None:
    table = context("a", "!a", "*.py", "b*", "c*", "f/").top_layer().table(folders=False)
    assert table.names == {"a": (0, 1)}
    assert table.suffixes == {".py": (2,)}
    assert [number for _, number in table.rest] == [3, 4]
    assert table.any_rest is not None
    assert table.any_rest("c1")
    assert not table.any_rest("d1")
    assert context("a").top_layer().table(folders=True).any_rest is None


def test_sources_up_to_the_config_file_are_context_rules() -> None:
    assert context(rank=CONFIG).is_contextual
    assert not ignore().is_contextual

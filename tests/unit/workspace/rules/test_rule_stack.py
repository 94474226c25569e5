from marid.workspace.rules.parse import CONFIG, DEFAULT, IGNORE, INLINE, NEAR, NO_RULE, parse_gitignore, parse_inline
from marid.workspace.rules.rule_stack import INCLUDED, RuleLayer, RuleSource, RuleStack, RuleStackPool


def context(*lines: str, rank: int = INLINE) -> RuleSource:
    return RuleSource(parse_inline(lines), rank=rank, origin="test")


def ignore(*lines: str, fold: bool = False) -> RuleSource:
    return RuleSource(parse_gitignore("\n".join(lines)), rank=IGNORE, origin="test", ignore_case=fold)


def layer_below(layer: RuleLayer, *names: str) -> RuleLayer:
    for name in names:
        layer = layer.below(name)
    return layer


def matched(source: RuleSource, path: str, *, folder: bool = False) -> list[str]:
    *folders, name = path.split("/")
    return [source.rules[i].text for i in layer_below(source.top_layer(), *folders).find_matches(name, folder=folder)]


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


def source(rank: int, *lines: str) -> RuleSource:
    rules = parse_inline(lines) if rank <= CONFIG else parse_gitignore("\n".join(lines))
    return RuleSource(rules, rank=rank, origin=str(rank))


def stack(*sources: RuleSource) -> RuleStack:
    return RuleStackPool().get_stack(tuple(one.top_layer() for one in sources))


def down(start: RuleStack, *names: str) -> RuleStack:
    for name in names:
        start = start.below(name, start.judge(name, folder=True))
    return start


def verdict(start: RuleStack, path: str) -> tuple[bool, int]:
    *folders, name = path.split("/")
    decision = down(start, *folders).judge(name, folder=False)
    return decision.include, decision.rank


def test_what_nothing_matches_is_in() -> None:
    assert stack().judge("a", folder=False) is INCLUDED
    assert stack().select(["a", "b"]) == ["a", "b"]
    assert verdict(stack(source(INLINE, "!b")), "a") == (True, NO_RULE)


def test_the_strongest_source_that_says_something_decides() -> None:
    every = [
        source(INLINE, "1"),
        source(NEAR, "!1", "2"),
        source(CONFIG, "![12]", "3"),
        source(IGNORE, "[1-3]", "!4"),
        source(DEFAULT, "[1-5]"),
    ]
    found = [verdict(stack(*every), name) for name in "123456"]
    assert found == [(True, INLINE), (True, NEAR), (True, CONFIG), (True, IGNORE), (False, DEFAULT), (True, NO_RULE)]


def test_in_one_context_source_an_exclusion_beats_an_inclusion_whatever_their_order() -> None:
    for lines in (("!*.py", "a*"), ("a*", "!*.py")):
        assert verdict(stack(source(NEAR, *lines)), "a.py") == (False, NEAR)


def test_a_file_named_without_wildcards_beats_an_exclusion_that_has_one() -> None:
    assert verdict(stack(source(NEAR, "!*.log", "a.log")), "a.log") == (True, NEAR)
    assert verdict(stack(source(NEAR, "!a.log", "a.log")), "a.log") == (False, NEAR)
    assert verdict(stack(source(NEAR, "!*.log", "!a.log", "a.log")), "a.log") == (False, NEAR)
    assert verdict(stack(source(NEAR, "!*.log", "a.lo?")), "a.log") == (False, NEAR)


def test_a_folder_cannot_be_named_back_in() -> None:
    for name in ("keep", "keep/"):
        assert not stack(source(NEAR, "!k*", name)).judge("keep", folder=True).include


def test_in_an_ignore_file_the_last_match_decides() -> None:
    assert verdict(stack(source(IGNORE, "*.py", "!a.py")), "a.py") == (True, IGNORE)
    assert verdict(stack(source(IGNORE, "!a.py", "*.py")), "a.py") == (False, IGNORE)


def test_a_rule_on_a_folder_is_its_sources_word_on_everything_below() -> None:
    rules = stack(source(NEAR, "docs/", "!tests/"), source(DEFAULT, "*.log", "build/"))
    assert verdict(rules, "docs/build/deep/a.log") == (True, NEAR)
    assert verdict(rules, "tests/deep/a.py") == (False, NEAR)


def test_an_inclusion_of_a_folder_does_not_overrule_an_exclusion_of_the_same_source() -> None:
    assert verdict(stack(source(NEAR, "docs/", "!*.log")), "docs/a.log") == (False, NEAR)
    assert verdict(stack(source(NEAR, "!docs/", "*.md")), "docs/a.md") == (False, NEAR)


def test_a_stronger_inclusion_reaches_below_an_excluded_folder_and_a_weaker_one_does_not() -> None:
    rules = stack(source(INLINE, "*.py"), source(NEAR, "!src/"), source(CONFIG, "*.md"))
    assert down(rules, "src").is_open
    assert verdict(rules, "src/deep/a.py") == (True, INLINE)
    assert verdict(rules, "src/deep/a.md") == (False, NEAR)
    assert verdict(rules, "src/deep/a.txt") == (False, NEAR)


def test_a_folder_in_which_nothing_can_be_included_is_closed() -> None:
    rules = stack(source(INLINE, "src/keep/a.py", "!x"), source(NEAR, "!src/", "!docs/"), source(CONFIG, "*.md"))
    assert not down(rules, "docs").is_open
    assert down(rules, "src").is_open
    assert not down(rules, "src", "other").is_open
    assert down(rules, "src", "keep").is_open
    assert not down(rules, "src", "keep", "deeper").is_open


def test_below_a_folder_excluded_by_a_wildcard_only_a_named_file_of_that_source_is_in() -> None:
    rules = stack(source(NEAR, "!d*/", "a.md", "*.txt", "e/", "d1/e/b.md"))
    assert verdict(rules, "d1/a.md") == verdict(rules, "d1/e/b.md") == (True, NEAR)
    assert verdict(rules, "d1/a.txt") == verdict(rules, "d1/e/c.md") == (False, NEAR)
    plain = stack(source(NEAR, "!d*/", "!d1/", "a.md"))
    assert verdict(plain, "d1/a.md") == (False, NEAR)
    assert not down(plain, "d1").is_open


def test_an_ignore_file_does_not_reopen_what_lies_below_an_ignored_folder() -> None:
    assert verdict(stack(source(IGNORE, "out/", "!out/a")), "out/a") == (False, IGNORE)
    assert verdict(stack(source(IGNORE, "out/*", "!out/keep/")), "out/keep/a") == (True, NO_RULE)
    taken_back = stack(source(IGNORE, "!build/"), source(DEFAULT, "build/", "*.log"))
    assert verdict(taken_back, "build/a") == (True, NO_RULE)
    assert verdict(taken_back, "build/a.log") == (False, DEFAULT)


def test_a_stack_selects_in_order_and_notices_another_spelling_of_a_letter() -> None:
    rules = stack(source(INLINE, "!b", "!*.log"))
    assert rules.select(["a", "b", "c", "d.log"]) == ["a", "c"]
    inside = down(stack(source(INLINE, "a*"), source(DEFAULT, "build/")), "build")
    assert inside.select(["a1", "b", "a2"]) == ["a1", "a2"]
    assert inside.select(["b"]) == []
    rules = stack(source(INLINE, "!caf?"), source(DEFAULT, "x*"))
    assert rules.select(["cafe\u0301", "café", "cafés", "x1"]) == ["cafés"]


def test_rule_files_of_a_folder_take_their_place_by_strength() -> None:
    start = stack(
        source(INLINE, "1"), source(NEAR, "2"), source(CONFIG, "3"), source(IGNORE, "4"), source(DEFAULT, "5")
    )
    near, ignore = source(NEAR, "a"), source(IGNORE, "b")
    found = start.with_sources([near], [ignore], repository=False)
    assert [layer.source.rank for layer in found.layers] == [INLINE, NEAR, NEAR, CONFIG, IGNORE, IGNORE, DEFAULT]
    assert found.layers[1].source is near
    assert found.layers[4].source is ignore


def test_a_repository_drops_the_ignore_rules_from_above_it() -> None:
    start = stack(source(NEAR, "2"), source(IGNORE, "4"), source(DEFAULT, "5"))
    found = start.with_sources([], [source(IGNORE, "b")], repository=True)
    assert [layer.source.rules[0].text for layer in found.layers] == ["2", "b", "5"]


def test_rule_files_weaker_than_the_rule_that_included_their_folder_do_not_count() -> None:
    near, ignore = [source(NEAR, "!a")], [source(IGNORE, "a")]
    by_inline = down(stack(source(INLINE, "d/")), "d").with_sources(near, ignore, repository=False)
    assert verdict(by_inline, "a") == (True, INLINE)
    by_config = down(stack(source(CONFIG, "d/")), "d")
    assert verdict(by_config.with_sources(near, ignore, repository=False), "a") == (False, NEAR)
    assert verdict(by_config.with_sources([], ignore, repository=False), "a") == (True, CONFIG)


def test_a_folder_that_the_user_named_is_entered_in_spite_of_rules_and_with_those_that_include_it() -> None:
    rules = stack(source(NEAR, "!tests/", "docs/", "!tests/deep/x"), source(DEFAULT, "*.log"))
    tests = rules.enter_named("tests")
    assert verdict(tests, "a.py") == (True, NO_RULE)
    assert verdict(tests, "deep/x") == (False, NEAR)
    assert verdict(tests, "a.log") == (False, DEFAULT)
    assert verdict(rules.enter_named("docs"), "a.log") == (True, NEAR)


def test_folders_that_are_alike_share_one_stack() -> None:
    rules = stack(source(INLINE, "*.py", "a/b/c"), source(DEFAULT, "build/"))
    assert down(rules, "x") is down(rules, "y") is down(rules, "x", "z")
    assert down(rules, "build") is down(rules, "x", "build")

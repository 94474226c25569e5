import pytest

from marid.syntax.python.resolve.resolver import ModuleIndex

TREE = ModuleIndex(
    [
        "setup.py",
        "src/shop/__init__.py",
        "src/shop/till.py",
        "src/shop/parts/__init__.py",
        "src/shop/parts/json.py",
        "src/names/deep/one.py",
        "tests/test_till.py",
        "tests/json.py",
        "stubs/only.pyi",
        "other/shop/till.py",
    ]
)


@pytest.mark.parametrize(
    ("importer", "module", "level", "place"),
    [
        ("src/shop/till.py", "shop", 0, "src/shop"),
        ("src/shop/till.py", "shop.parts.json", 0, "src/shop/parts/json"),
        ("src/shop/till.py", "", 1, "src/shop"),
        ("src/shop/till.py", "parts", 1, "src/shop/parts"),
        ("src/shop/parts/json.py", "till", 2, "src/shop/till"),
        ("src/shop/parts/json.py", "none", 2, None),
        ("src/shop/parts/__init__.py", "json", 1, "src/shop/parts/json"),
        ("src/shop/parts/__init__.py", "json", 0, None),
        ("tests/test_till.py", "json", 0, "tests/json"),
        ("tests/test_till.py", "shop.till", 0, "other/shop/till"),
        ("setup.py", "json", 0, None),
        ("setup.py", "names.deep", 0, "src/names/deep"),
        ("setup.py", "names.deep.one", 0, "src/names/deep/one"),
        ("setup.py", "numpy", 0, None),
        ("setup.py", "", 0, None),
        ("setup.py", "only", 0, "stubs/only"),
        ("setup.py", "a", 9, None),
    ],
)
def test_an_import_means_a_place(importer: str, module: str, level: int, place: str | None) -> None:
    assert TREE.find(importer, module, level) == place


def test_a_place_has_a_file_or_is_a_folder() -> None:
    assert TREE.file_path("src/shop") == "src/shop/__init__.py"
    assert TREE.file_path("stubs/only") == "stubs/only.pyi"
    assert TREE.file_path("src/names") is None
    assert TREE.exists("src/names")
    assert TREE.submodule("src/shop", "till") == "src/shop/till"
    assert TREE.submodule("src/shop", "none") is None
    assert TREE.submodule("setup", "py") is None


def test_a_dotted_name_may_mean_several_places() -> None:
    assert TREE.candidates(["shop", "till"]) == ["other/shop/till", "src/shop/till"]
    assert TREE.candidates(["till"]) == ["other/shop/till"]
    assert TREE.candidates(["none"]) == []


def test_the_top_of_the_tree_is_not_a_package() -> None:
    assert ModuleIndex(["__init__.py", "a.py"]).candidates(["a"]) == ["a"]

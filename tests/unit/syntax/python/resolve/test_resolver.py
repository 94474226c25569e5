from collections.abc import Mapping

import pytest

from marid.core.errors import Exhausted
from marid.syntax.python.resolve.fact_reader import py_facts
from marid.syntax.python.resolve.facts import Class, Entity, External, Function, Instance, Module
from marid.syntax.python.resolve.resolver import ModuleIndex, Resolver

TREE = {
    "pkg/__init__.py": "from .core import Base as Root, helper\nfrom .more import *\nfrom . import core\n",
    "pkg/core.py": """
import typing as t
def helper() -> "Base": ...
def nothing(): ...
class Base:
    limit = nothing
    def run(self): self.step()
    def step(self): ...
    @classmethod
    def make(cls) -> t.Self: ...
    @property
    def friend(self) -> "Friend": ...
    def __call__(self) -> "Friend": ...
class Friend:
    def greet(self): ...
""",
    "pkg/more.py": "def extra(): ...\ndef _hidden(): ...\nVALUE = 3\n",
    "pkg/sub/deep.py": "from ..core import Base\ndef far(): ...\n",
    "main.py": """
import os.path, threading, pkg.sub.deep
import pkg.core as c
from pkg import Root, helper, extra, core, _hidden
from pkg.core import *
from json import dumps as js
from nowhere import thing
from .gone import lost
from pkg import missing
loop = loop.next()
early = later
later = early
class Mixin:
    def step(self): ...
class Child(Mixin, Root):
    part: c.Friend
    def __init__(self, friend: "c.Friend | None", other):
        self.friend2 = friend
        self.other = other
        self.made = c.Friend()
    def step(self):
        super().step()
        def nested():
            self.run()
    @staticmethod
    def still(): ...
class Thread(threading.Thread):
    def go(self): ...
class Odd(unknown()):
    def go(self): ...
class Self(Self): ...
class Plain: ...
def run(child: Child, kind: type[Child], call: Callable, any: Any):
    local = Child()
    with Child() as opened: ...
    import email.message as em
    class Inner(Child): ...
    def inner(): ...
""",
}


def resolver_over(tree: Mapping[str, str]) -> Resolver:
    return Resolver(ModuleIndex(tree), lambda path: py_facts(tree[path].encode()))


CHILD = Class("main.py", "Child")
BASE, FRIEND = Class("pkg/core.py", "Base"), Class("pkg/core.py", "Friend")
FRIENDS = ("friend", "friend2", "made", "part")


def method(key: str, path: str = "pkg/core.py", receiver: Class | None = CHILD) -> Function:
    return Function(path, key, receiver)


UNKNOWN = (
    "nonesuch missing pkg.nonesuch _hidden child.other.greet child.nonesuch call any.thing Odd.nonesuch Self.x "
    "run.attribute loop.next early"
)


@pytest.mark.parametrize(
    ("chains", "thing"),
    [
        ([*UNKNOWN.split(), "Plain () ()", "core ()", "run ()"], None),
        (["len"], External("len")),
        (["os.path.join"], External("os.path.join")),
        (["js"], External("json.dumps")),
        (["thing"], External("nowhere.thing")),
        (["lost"], External(".gone.lost")),
        (["em.Message"], External("email.message.Message")),
        (["child.__repr__"], External("object.__repr__")),
        (["Thread () start"], External("threading.Thread.start")),
        (["super ()"], External("super()")),
        (["core"], Module("pkg/core")),
        (["pkg.sub.deep.far"], Function("pkg/sub/deep.py", "far")),
        (["core.helper"], Function("pkg/core.py", "helper")),
        (["extra", "pkg.extra"], Function("pkg/more.py", "extra")),
        (["inner"], Function("main.py", "run.inner")),
        (["child.limit"], Function("pkg/core.py", "nothing")),
        (["Root", "pkg.sub.deep.Base"], BASE),
        (["Friend"], FRIEND),
        (["Inner"], Class("main.py", "run.Inner")),
        (["helper ()"], Instance(BASE)),
        (["c.Friend.greet", "child () greet"], method("Friend.greet", receiver=FRIEND)),
        ([f"child.{name}.greet" for name in FRIENDS], method("Friend.greet", receiver=FRIEND)),
        (["helper () run"], method("Base.run", receiver=BASE)),
        (["child.run", "local.run", "opened.run"], method("Base.run")),
        (["Inner.run"], method("Base.run", receiver=Class("main.py", "run.Inner"))),
        (["kind.make"], method("Base.make")),
        (["child.step", "kind.make () step"], method("Child.step", "main.py")),
        (["child.still"], method("Child.still", "main.py")),
        (["Thread.go"], method("Thread.go", "main.py", Class("main.py", "Thread"))),
        (["Odd.go"], method("Odd.go", "main.py", Class("main.py", "Odd"))),
    ],
)
def test_a_chain_is_followed_to_what_it_means(chains: list[str], thing: Entity | None) -> None:
    for steps in chains:
        chain = tuple(step for word in steps.split() for step in ([word] if word == "()" else word.split(".")))
        assert (steps, resolver_over(TREE).follow(Function("main.py", "run"), chain)) == (steps, thing)


def test_self_is_an_object_of_the_class_that_a_method_runs_for() -> None:
    resolver = resolver_over(TREE)
    run = resolver.attribute(Instance(CHILD), "run")
    assert run == method("Base.run")
    assert isinstance(run, Function)
    assert resolver.follow(run, ("self", "step")) == method("Child.step", "main.py")
    own = Function("pkg/core.py", "Base.run")
    assert resolver.follow(own, ("self", "step")) == method("Base.step", receiver=BASE)


def test_super_goes_on_in_the_order_of_the_class_that_a_method_runs_for() -> None:
    resolver = resolver_over(TREE)
    assert resolver.mro(CHILD) == (CHILD, Class("main.py", "Mixin"), BASE)
    at = Function("main.py", "Child.step", CHILD)
    assert resolver.follow(at, ("super", "()", "step")) == method("Mixin.step", "main.py")
    assert resolver.follow(at, ("super", "()", "run")) == method("Base.run")
    foreign = at._replace(receiver=FRIEND)
    assert resolver.follow(foreign, ("super", "()", "run")) == method("Base.run", receiver=FRIEND)
    assert resolver.follow(at, ("super", "()", "()")) is None


def test_a_function_inside_a_method_knows_its_object_and_its_parent() -> None:
    resolver = resolver_over(TREE)
    nested = resolver.follow(Function("main.py", "Child.step", CHILD), ("nested",))
    assert nested == Function("main.py", "Child.step.nested", CHILD)
    assert isinstance(nested, Function)
    assert resolver.follow(nested, ("self", "run")) == method("Base.run")
    assert resolver.follow(nested, ("super", "()", "run")) == method("Base.run")


def test_a_diamond_is_searched_in_the_order_of_python() -> None:
    tree = {"d.py": "class A: ...\nclass B(A): ...\nclass C(A): ...\nclass D(B, C): ...\n"}
    order = resolver_over(tree).mro(Class("d.py", "D"))
    assert [each.key for each in order if isinstance(each, Class)] == ["D", "B", "C", "A"]


def test_circles_end() -> None:
    tree = {
        "a.py": "from b import *\nfrom b import x\nclass A(B): ...\nclass B(A): ...\ndef f(): ...\n",
        "b.py": "from a import *\nfrom a import x\n",
    }
    resolver = resolver_over(tree)
    assert resolver.follow(Function("a.py", "f"), ("x",)) is None
    assert resolver.follow(Function("a.py", "f"), ("y",)) is None
    assert resolver.follow(Function("a.py", "f"), ("A", "nothing")) is None


def test_a_long_line_of_classes_or_names_is_no_deep_recursion() -> None:
    classes = "class C0: ...\n" + "".join(f"class C{n + 1}(C{n}): ...\n" for n in range(2000))
    names = "n0 = len\n" + "".join(f"n{n + 1} = n{n}\n" for n in range(2000))
    resolver = resolver_over({"a.py": classes + names})
    assert len(resolver.mro(Class("a.py", "C2000"))) == 300
    assert resolver.follow(Function("a.py", ""), ("n2000",)) is None
    assert resolver.follow(Function("a.py", ""), ("n9",)) == External("len")


def test_modules_that_all_hand_on_each_other_are_searched_once() -> None:
    count = 30
    stars = "".join(f"from m{number} import *\n" for number in range(count))
    tree = {f"m{number}.py": stars for number in range(count)} | {"last.py": "def f(): ...\n"}
    tree["m29.py"] += "from last import *\n"
    resolver = resolver_over(tree)
    assert resolver.follow(Function("m0.py", ""), ("nonesuch",)) is None
    assert resolver.follow(Function("m0.py", ""), ("f",)) == Function("last.py", "f")


def test_what_leads_through_everything_again_and_again_is_followed_once() -> None:
    code = "".join(
        f"class A{n}:\n  def __init__(self): self.x = A{n + 1}().x.me.x.me.x\n"
        f"  @property\n  def me(self) -> A{n}: ...\n"
        for n in range(30)
    )
    resolver = resolver_over({"a.py": f"{code}class A30:\n  x: A30\n  me: A30\n"})
    assert resolver.follow(Function("a.py", ""), ("A0", "()", "x")) == Instance(Class("a.py", "A30"))


def test_following_ends_at_its_limit() -> None:
    resolver = Resolver(ModuleIndex(["a.py"]), lambda _: py_facts(b"a = b\nb = c\n"), steps=2)
    with pytest.raises(Exhausted, match="too entangled"):
        resolver.follow(Function("a.py", ""), ("a",))


def test_a_file_that_cannot_be_loaded_hides_its_names_only() -> None:
    resolver = Resolver(ModuleIndex(["a.py", "b.py"]), lambda path: py_facts(b"import b") if path == "a.py" else None)
    assert resolver.follow(Function("a.py", ""), ("b", "f")) is None
    assert resolver.follow(Function("b.py", "f"), ("len",)) == External("len")
    assert resolver.scope("b.py", "f") is None
    assert resolver.call_result(Function("b.py", "f")) is None
    assert resolver.bases(Class("b.py", "C")) == ()


PATHS = """
    setup.py src/shop/__init__.py src/shop/till.py src/shop/parts/__init__.py src/shop/parts/json.py
    src/names/deep/one.py tests/test_till.py tests/json.py stubs/only.pyi other/shop/till.py
"""
PLACES = ModuleIndex(PATHS.split())


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
        ("setup.py", "names.deep", 0, "src/names/deep"),
        ("setup.py", "names.deep.one", 0, "src/names/deep/one"),
        ("setup.py", "only", 0, "stubs/only"),
        *(("setup.py", module, level, None) for module, level in (("json", 0), ("numpy", 0), ("", 0), ("a", 9))),
    ],
)
def test_an_import_means_a_place(importer: str, module: str, level: int, place: str | None) -> None:
    assert PLACES.find(importer, module, level) == place


def test_a_place_has_a_file_or_is_a_folder() -> None:
    assert PLACES.file_path("src/shop") == "src/shop/__init__.py"
    assert PLACES.file_path("stubs/only") == "stubs/only.pyi"
    assert PLACES.file_path("src/names") is None
    assert PLACES.exists("src/names")
    assert PLACES.submodule("src/shop", "till") == "src/shop/till"
    assert PLACES.submodule("src/shop", "none") is None
    assert PLACES.submodule("setup", "py") is None


def test_a_dotted_name_may_mean_several_places() -> None:
    assert PLACES.candidates(["shop", "till"]) == ["other/shop/till", "src/shop/till"]
    assert PLACES.candidates(["till"]) == ["other/shop/till"]
    assert PLACES.candidates(["none"]) == []


def test_the_top_of_the_tree_is_not_a_package() -> None:
    assert ModuleIndex(["__init__.py", "a.py"]).candidates(["a"]) == ["a"]

"""What each language's table finds in a file of that language."""

import pytest

from marid.syntax.languages import LANGUAGES
from marid.syntax.treesitter.definitions import definitions
from marid.syntax.treesitter.grammars import load_grammar
from marid.syntax.treesitter.language_tables import LANGUAGE_TABLES

PACKAGES = {"csharp": "c_sharp", "tsx": "typescript"}
FUNCTIONS = {"tsx": "language_tsx", "typescript": "language_typescript", "php": "language_php"}


def describe(source: str, language: str) -> list[str]:
    """Each definition as `kind name first-last`."""
    found = definitions(source.encode(), language)
    return [f"{each.kind} {each.name} {each.start}-{each.end}" for each in found]


def _entries(text: str) -> list[str]:
    return [" ".join(entry.split()) for entry in text.split(";")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_node_type_in_a_table_is_in_the_grammar(language: str) -> None:
    grammar = load_grammar(f"tree_sitter_{PACKAGES.get(language, language)}", FUNCTIONS.get(language, "language"))
    known = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)} | {"ERROR"}
    named = LANGUAGE_TABLES[language]
    assert {*named.roles, *named.decorator_types} <= known


def test_python_classes_functions_and_variables() -> None:
    source = """\
LIMIT: int = 1
left, right = 1, 2
type Price = int

@register
@cached(size=1)
class Shop(Base):
    name: str
    size = 2

    @property
    async def total(self) -> int:
        local = 1
        def inner(): pass
        class Helper:
            field = 1
        return local

if LIMIT:
    def chosen(): ...
else:
    def other(): ...

try:
    import fast
except ImportError:
    with x:
        def slow(): ...
"""
    assert describe(source, "python") == _entries("""
        constant LIMIT 1-1; variable left 2-2; variable right 2-2; type Price 3-3; class Shop 5-17;
        variable Shop.name 8-8; variable Shop.size 9-9; method Shop.total 11-17; function Shop.total.inner 14-14;
        class Shop.total.Helper 15-16; function chosen 20-20; function other 22-22; function slow 28-28
    """)


def test_javascript_functions_in_all_the_places_where_they_are_put() -> None:
    source = """\
export default function main() {}
export const add = (a, b) => a + b;
const LIMIT = 1, late = function () {};
let { x, y } = z;
class Shop extends Base {
  static count = 0;
  #secret = () => 1;
  constructor(a) { super(); }
  get total() { return 1; }
  async *items() {}
}
const tools = { open() {}, close: function () {}, 'a-b': () => 1, data: 1 };
const data = { a: 1 };
exports.run = function () {};
module.exports = { main, stop() {} };
Shop.prototype.sell = function (x) {};
other.thing = 1;
(function () { function hidden() {} })();
describe("x", () => { function unseen() {} });
function outer() {
  const local = 1;
  const object = { method() {} };
  const inner = () => { function deep() {} };
  if (a) { class Local {} }
}
export default class { speak() {} }
"""
    assert describe(source, "javascript") == _entries("""
        function main 1-1; function add 2-2; constant LIMIT 3-3; function late 3-3; class Shop 5-11;
        variable Shop.count 6-6; method Shop.#secret 7-7; method Shop.constructor 8-8; method Shop.total 9-9;
        method Shop.items 10-10; variable tools 12-12; method tools.open 12-12; function tools.close 12-12;
        function tools.a-b 12-12; variable data 13-13; function run 14-14; variable exports 15-15;
        method exports.stop 15-15; method Shop.sell 16-16; function hidden 18-18; function outer 20-25;
        function outer.inner 23-23; function outer.inner.deep 23-23; class outer.Local 24-24; class default 26-26;
        method default.speak 26-26
    """)


@pytest.mark.parametrize("language", ["typescript", "tsx"])
def test_typescript_types_overloads_and_namespaces(language: str) -> None:
    source = """\
@Component({ a: 1 })
export class Shop<T> extends Base<T> implements Sells {
  private readonly size: number = 1;
  handler = (e: Event): void => {};
  find(id: string): Item;
  find(id: any) { return id; }
  @Input() name: string;
}
export abstract class Store { abstract open(): void; }
export interface Sells extends Trades {
  price: number;
  sell(x: number): void;
}
export type Either = string | number;
export enum Color { Red, Blue }
declare module 'lib/x' { export function call(): void; }
namespace A.B { export function inside() {} }
declare global { interface Window { shop: Shop } }
declare const version: string;
function over(a: string): void;
function over(a: any) {}
"""
    assert describe(source, language) == _entries("""
        class Shop 1-8; variable Shop.size 3-3; method Shop.handler 4-4; method Shop.find 5-5;
        method Shop.find 6-6; variable Shop.name 7-7; class Store 9-9; method Store.open 9-9;
        interface Sells 10-13; variable Sells.price 11-11; method Sells.sell 12-12; type Either 14-14;
        enum Color 15-15; module lib/x 16-16; function lib/x.call 16-16; namespace A.B 17-17;
        function A.B.inside 17-17; interface Window 18-18; variable Window.shop 18-18; variable version 19-19;
        function over 20-20; function over 21-21
    """)


def test_tsx_components_are_functions() -> None:
    source = "export function App({ name }: Props) {\n  return <p>{name}</p>;\n}\nconst Row = () => <tr />;\n"
    assert describe(source, "tsx") == ["function App 1-3", "function Row 4-4"]


def test_c_functions_types_macros_and_preprocessor_blocks() -> None:
    source = """\
#ifndef SHOP_H
#define SHOP_H
#define LIMIT 10
#define MAX(a, b) \\
    ((a) > (b) ? (a) : (b))
typedef struct item { int price; } item_t;
typedef int (*callback)(int);
typedef enum { RED, BLUE } color;
struct shop { int size; };
union either { int a; float b; };
static inline int *find(struct shop *s) { return 0; }
int declared(void);
int (*pointer)(int);
static const char *names[] = {"a"};
struct forward;
#ifdef FAST
int fast(void) { return 1; }
#elif defined(SLOW)
int slow(void) { return 2; }
#else
int other(void) { return 3; }
#endif
#endif
"""
    assert describe(source, "c") == _entries("""
        constant LIMIT 3-3; function MAX 4-5; struct item_t 6-6; variable item_t.price 6-6; type callback 7-7;
        enum color 8-8; struct shop 9-9; variable shop.size 9-9; struct either 10-10; variable either.a 10-10;
        variable either.b 10-10; function find 11-11; function declared 12-12; variable pointer 13-13;
        constant names 14-14; function fast 17-17; function slow 19-19; function other 21-21
    """)


def test_cpp_namespaces_templates_and_definitions_out_of_line() -> None:
    source = """\
namespace a::b {
template <typename T>
class Shop final : public Base<T> {
 public:
  Shop();
  ~Shop() override;
  int total(int a) const;
  int total(double a) const;
  bool operator==(const Shop& o) const { return true; }
  operator bool() const;
  enum Kind { A, B };
  struct Inner { int z; } inner;
  template <class U> U convert() { return U(); }
 private:
  int size = 0;
};
}  // namespace a::b
namespace { int hidden() { return 1; } }

template <typename T>
int a::b::Shop<T>::total(int x) const {
  return x;
}
a::b::Shop<int>::Shop() : size(1) {}
extern "C" {
void plain(void);
}
using Alias = int;
constexpr int LIMIT = 1;
template <class T> concept Sellable = true;
enum class Color : int { Red };
"""
    assert describe(source, "cpp") == _entries("""
        namespace a.b 1-17; class a.b.Shop 2-16; method a.b.Shop.Shop 5-5; method a.b.Shop.~Shop 6-6;
        method a.b.Shop.total 7-7; method a.b.Shop.total 8-8; method a.b.Shop.operator== 9-9;
        method a.b.Shop.operator bool 10-10; enum a.b.Shop.Kind 11-11; struct a.b.Shop.Inner 12-12;
        variable a.b.Shop.Inner.z 12-12; method a.b.Shop.convert 13-13; variable a.b.Shop.size 15-15;
        function hidden 18-18; method a.b.Shop.total 20-23; method a.b.Shop.Shop 24-24; function plain 26-26;
        type Alias 28-28; constant LIMIT 29-29; type Sellable 30-30; enum Color 31-31
    """)


def test_java_members_of_classes_records_enums_and_annotations() -> None:
    source = """\
package a.b;

@Entity
public class Shop<T> extends Base implements Sells {
  static final int LIMIT = 1, MORE = 2;
  private final String name;
  public Shop(String name) { this.name = name; }
  @Override
  public <U> int total(List<U> items) throws Exception { return 1; }
  interface Inner { void call(); default void other() {} int SIZE = 1; }
  enum Kind { A, B { void odd() {} }; void each() {} }
}
record Point(int x, int y) { Point { } int sum() { return x + y; } }
@interface Entity { String name() default ""; }
"""
    assert describe(source, "java") == _entries("""
        class Shop 3-12; constant Shop.LIMIT 5-5; constant Shop.MORE 5-5; variable Shop.name 6-6;
        method Shop.Shop 7-7; method Shop.total 8-9; interface Shop.Inner 10-10; method Shop.Inner.call 10-10;
        method Shop.Inner.other 10-10; constant Shop.Inner.SIZE 10-10; enum Shop.Kind 11-11;
        method Shop.Kind.each 11-11; class Point 13-13; method Point.Point 13-13; method Point.sum 13-13;
        interface Entity 14-14; method Entity.name 14-14
    """)


def test_go_receivers_interfaces_and_groups() -> None:
    source = """\
package shop

type Shop[T any] struct {
	Name, Place string
	Base
}

type (
	Seller interface {
		Sell(x int) error
		io.Reader
	}
	Alias = int
)

const Limit = 1

const (
	A, B = 1, 2
	C    = iota
)

var left, right int

var (
	inner = 1
)

func (s *Shop[T]) Total(x int) (int, error) { return 1, nil }

func (Shop) Anonymous() {}

func New[T any](name string) *Shop[T] { return nil }
"""
    assert describe(source, "go") == _entries("""
        struct Shop 3-6; variable Shop.Name 4-4; variable Shop.Place 4-4; interface Seller 9-12;
        method Seller.Sell 10-10; type Alias 13-13; constant Limit 16-16; constant A 19-19; constant B 19-19;
        constant C 20-20; variable left 23-23; variable right 23-23; variable inner 26-26;
        method Shop.Total 29-29; method Shop.Anonymous 31-31; function New 33-33
    """)


def test_rust_impl_blocks_traits_and_modules() -> None:
    source = """\
#[derive(Debug)]
#[serde(default)]
pub struct Shop<T: Sell> where T: Clone { size: usize }
struct Pair(i32, i32);
struct Unit;
impl<T> fmt::Display for Shop<T> where T: Sell {
    const LIMIT: usize = 1;
    type Output = i32;
    #[inline]
    pub async fn total(&self, x: i32) -> i32 {
        fn inner() {}
        const LOCAL: i32 = 1;
        1
    }
}
impl<'a> Sell for &'a mut Shop<i32> {}
pub trait Sell: Trade { fn sell(&self); fn buy(&self) {} type Price; }
enum Kind { A, B(i32) }
mod inner { pub fn call() {} }
const LIMIT: i32 = 1;
static NAME: &str = "a";
macro_rules! make { () => {} }
type Alias = i32;
union Either { a: i32 }
extern "C" { fn foreign(x: i32); }
"""
    assert describe(source, "rust") == _entries("""
        struct Shop 1-3; variable Shop.size 3-3; struct Pair 4-4; struct Unit 5-5; impl Shop 6-15;
        constant Shop.LIMIT 7-7; type Shop.Output 8-8; method Shop.total 9-14; function Shop.total.inner 11-11;
        impl Shop 16-16; trait Sell 17-17; method Sell.sell 17-17; method Sell.buy 17-17; type Sell.Price 17-17;
        enum Kind 18-18; module inner 19-19; function inner.call 19-19; constant LIMIT 20-20; variable NAME 21-21;
        function make 22-22; type Alias 23-23; struct Either 24-24; variable Either.a 24-24;
        function foreign 25-25
    """)


def test_csharp_members_and_both_forms_of_namespaces() -> None:
    source = """\
using System;
namespace A.B;

[Serializable]
public class Shop<T> : Base, ISell where T : class {
  public const int Limit = 1;
  private int left, right;
  public int Size { get; set; }
  public int Twice => 2 * Size;
  public Shop(int a) : base(a) { }
  ~Shop() { }
  public async Task<int> Total(int[] x) { int local() { return 1; } return local(); }
  public int Arrow(int x) => x;
  public event EventHandler Sold;
  public event EventHandler Bought { add { } remove { } }
  public static bool operator ==(Shop a, Shop b) { return true; }
  public static implicit operator int(Shop a) => 1;
  public int this[int i] { get { return i; } }
  delegate void Done(int x);
  enum Kind { A }
}
namespace Inner { interface ISell { void Sell(); } record Point(int X); struct Pair { } }
"""
    assert describe(source, "csharp") == _entries("""
        namespace A.B 2-2; class A.B.Shop 4-21; constant A.B.Shop.Limit 6-6; variable A.B.Shop.left 7-7;
        variable A.B.Shop.right 7-7; property A.B.Shop.Size 8-8; property A.B.Shop.Twice 9-9;
        method A.B.Shop.Shop 10-10; method A.B.Shop.~Shop 11-11; method A.B.Shop.Total 12-12;
        function A.B.Shop.Total.local 12-12; method A.B.Shop.Arrow 13-13; variable A.B.Shop.Sold 14-14;
        property A.B.Shop.Bought 15-15; method A.B.Shop.operator == 16-16; method A.B.Shop.operator int 17-17;
        property A.B.Shop.this 18-18; type A.B.Shop.Done 19-19; enum A.B.Shop.Kind 20-20;
        namespace A.B.Inner 22-22; interface A.B.Inner.ISell 22-22; method A.B.Inner.ISell.Sell 22-22;
        class A.B.Inner.Point 22-22; struct A.B.Inner.Pair 22-22
    """)


def test_ruby_modules_classes_and_methods_of_all_kinds() -> None:
    source = """\
module A::B
  LIMIT = 1
  class Shop < Base
    attr_reader :name
    def initialize(name, size = 1)
      @name = name
    end
    def self.open(x) = new(x)
    class << self
      def count; end
    end
    def ==(other); end
    def empty?; true; end
    private def secret; end
  end
  class Error < StandardError; end
end
def top
  def inner; end
  LOCAL = 1
end
Point = Struct.new(:x, :y) do
  def sum = x + y
end
value = 1
"""
    assert describe(source, "ruby") == _entries("""
        module A.B 1-17; constant A.B.LIMIT 2-2; class A.B.Shop 3-15; method A.B.Shop.initialize 5-7;
        method A.B.Shop.open 8-8; method A.B.Shop.count 10-10; method A.B.Shop.== 12-12;
        method A.B.Shop.empty? 13-13; method A.B.Shop.secret 14-14; class A.B.Error 16-16; function top 18-21;
        method top.inner 19-19; class Point 22-24; method Point.sum 23-23
    """)


def test_php_namespaces_follow_each_other() -> None:
    source = """\
<p>text</p>
<?php
namespace A\\B;
#[Attribute]
final class Shop extends Base implements Sells {
  use Helps;
  const LIMIT = 1;
  public ?int $left = 1, $right;
  public function __construct(private int $size) {}
  abstract public static function total(array $x): int;
}
interface Sells { function sell(); }
namespace C;
trait Helps { function help() {} }
enum Kind: string { case A = 'a'; function label() {} }
function call(int $a): int { return $a; }
const Z = 1;
if (!function_exists('late')) { function late() {} }
"""
    assert describe(source, "php") == _entries("""
        namespace A.B 3-3; class A.B.Shop 4-11; constant A.B.Shop.LIMIT 7-7; variable A.B.Shop.left 8-8;
        variable A.B.Shop.right 8-8; method A.B.Shop.__construct 9-9; method A.B.Shop.total 10-10;
        interface A.B.Sells 12-12; method A.B.Sells.sell 12-12; namespace C 13-13; trait C.Helps 14-14;
        method C.Helps.help 14-14; enum C.Kind 15-15; method C.Kind.label 15-15; function C.call 16-16;
        constant C.Z 17-17; function C.late 18-18
    """)


def test_bash_functions_and_variables() -> None:
    source = """\
#!/bin/bash
open() {
  local x=1
  inner() { :; }
}
function close { echo; }
function both() ( echo )
LIMIT=1
export PLACE=2 name=3
if true; then late() { :; }; fi
"""
    assert describe(source, "bash") == _entries("""
        function open 2-5; function open.inner 4-4; function close 6-6; function both 7-7; constant LIMIT 8-8;
        constant PLACE 9-9; variable name 9-9; function late 10-10
    """)

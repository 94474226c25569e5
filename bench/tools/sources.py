"""The sources to measure on: a long Python file, a long C++ file, and a tree of 2,000 files."""

import ast
import shutil
import sysconfig
from pathlib import Path

LINES = 5_000
FILES = 2_000

_CPP = """
namespace part{n} {{

/// A shape with a name, number {n}.
class Shape{n} : public Base, private detail::Counted<Shape{n}> {{
 public:
  explicit Shape{n}(std::string name, int sides = {n});
  ~Shape{n}() override;
  double area(const std::vector<double>& lengths) const noexcept;
  template <typename Visitor>
  void visit(Visitor&& visitor) {{
    for (const auto& one : parts_) {{
      if (one.first > {n}) visitor(one.second);
    }}
  }}

 private:
  std::string name_;
  std::map<int, std::string> parts_;
}};

double Shape{n}::area(const std::vector<double>& lengths) const noexcept {{
  double sum = 0.0;
  for (std::size_t at = 0; at < lengths.size(); ++at) {{
    sum += lengths[at] * (at % 2 == 0 ? 1.0 : -0.5);
  }}
  return sum > 0 ? sum : -sum;
}}

enum class Colour{n} {{ red, green = {n}, blue }};

static inline int count{n}(int a, int b) {{ return a < b ? a + {n} : b; }}

}}  // namespace part{n}
"""


def stdlib() -> list[Path]:
    """The Python files of the standard library, in a stable order."""
    top = Path(sysconfig.get_paths()["stdlib"])
    return sorted(file for file in top.rglob("*.py") if not {"site-packages", "lib2to3"}.intersection(file.parts))


def long_python() -> str:
    """About 5,000 lines of real code: modules of the standard library, the last one in part."""
    found: list[str] = []
    for name in ("argparse", "typing", "subprocess", "tarfile", "zipfile", "inspect", "doctest", "ast"):
        file = Path(sysconfig.get_paths()["stdlib"], f"{name}.py")
        if file.exists() and "from __future__" not in (code := file.read_text("utf-8")):
            most = LINES - len(found)
            # Keep only complete statements, so that the result parses.
            ends = [node.end_lineno or 0 for node in ast.parse(code).body]
            found += code.split("\n")[: max((end for end in ends if end <= most), default=0)]
    return "\n".join(found) + "\n"


def long_cpp() -> str:
    """About 5,000 lines of C++ with namespaces, templates and out-of-line definitions."""
    one = _CPP.format(n=0).count("\n")
    return "#include <string>\n#include <map>\n" + "".join(_CPP.format(n=n) for n in range(LINES // one + 1))


def prepare(folder: Path) -> Path:
    """Create the tree of 2,000 files and the two long files, if they do not exist yet."""
    tree = folder / "tree"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        files = stdlib()
        for number in range(FILES):
            source = files[number % len(files)]
            path = tree / f"part{number % 40:02}" / f"group{number % 5}" / f"{number:04}_{source.name}"
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, path)
        chain(tree / "chain")
        (folder / "long.py").write_text(long_python(), "utf-8")
        (folder / "long.cpp").write_text(long_cpp(), "utf-8")
        (folder / "done").touch()
    return folder


def chain(folder: Path, length: int = 8) -> None:
    """A package in which each module calls the next: something to follow through a large tree."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text("")
    for number in range(length):
        following = f"from chain.step{number + 1} import go as onwards\n" if number + 1 < length else ""
        call = "onwards()" if following else "len('the end')"
        body = f"{following}\n\nclass Step{number}:\n    def run(self):\n        return {call}\n\n\n"
        (folder / f"step{number}.py").write_text(f"{body}def go():\n    return Step{number}().run()\n")

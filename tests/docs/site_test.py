#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site builds from a clean copy, without a network and without a warning; has every document and every public name; its links lead
somewhere; it fetches nothing from elsewhere and works in a browser from the disk. Its drawings name what is there, and the examples
are complete.

usage: site_test.py ROOT
"""
import ast
import html
import html.parser
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path()


class Page(html.parser.HTMLParser):
    """What a page links to, and where one can link into it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.fetched = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        self.anchors |= {has[k] for k in ("id", "name") if has.get(k)}
        if tag == "a" and has.get("href"):
            self.links.append(has["href"])
        for key, wanted in (("src", True), ("href", tag == "link")):
            if has.get(key) and wanted:
                self.fetched.append(has[key])


CALLED = re.compile(r"(?:^|[\s*&>])((?:operator ?(?:bool|\(\)|[^\s\w(]+))|\w+)\(")
NAMED = re.compile(r"  (?:using|static constexpr [\w:<>]+) (\w+) =|  [\w:<>,* ]+?[ *](\w+)(?: = .*|\{.*\})?;")
NO_NAMES = re.compile(r"(friend|return|requires|static_assert|using namespace|class|struct|concept|extern|KGATE_|explicit \w+\(\) =)")


def name_declared(line):
    """What a line declares, if it is one that does so."""
    line = re.sub(r"template <.*?>+ (?=\w)|requires\(.*?\)|alignas\([^)]*\)|noexcept\(.*?\)|\[\[.*?\]\]|\bdecltype\([^)]*\)", "", line)
    found, named = CALLED.search(line.partition(" = ")[0] if "operator" not in line else line), NAMED.match(line)
    if NO_NAMES.match(line.strip()) or " = delete" in line or line.strip().startswith("template"):
        return None
    return found[1] if found else named and (named[1] or named[2])


def public_names(header):
    """By the form of a header's lines: the classes for users, each with its public functions, constants, types and fields; "" for what is outside
    of classes. A second way to find them, which knows nothing of Doxygen. What stands at the left margin opens and closes blocks."""
    blocks, names, pending, access, nested = [], {}, "", "", False
    for line in re.sub(r"(?m)^ *#(?:.*\\\n)*.*\n", "\n", header).split("\n"):
        line = re.sub(r" *//.*", "", line)
        margin = line[:1] not in ("", " ", "}")
        if margin:
            pending = line
        elif line.startswith("    ") and pending:
            pending += " " + line.strip()
        kind, name = blocks[-1] if blocks else ("", "")
        if line.startswith("}"):
            if blocks:
                blocks.pop()
            pending, nested = "", False
        elif pending:
            pending = re.sub(r"^requires\(.*\) (?=class|struct)", "", pending)
            space, of_class = re.match(r"(?:inline )?namespace ?([\w:]*) \{", pending), re.match(
                r"(class|struct)(?: alignas\([^)]*\))?(?: \[\[\w+\]\])? ([\w:]+)(<.*>)?(?: final)?(?: : [^;]*)? \{", pending)
            hidden = any("detail" in n or k == "hidden" for k, n in blocks)
            if pending.endswith("{"):
                blocks.append(("space", space[1]) if space else ("class" if of_class and not of_class[3] and not hidden else "hidden", of_class[2] if of_class else ""))
                if blocks[-1][0] == "class":
                    access = "public" if of_class[1] == "struct" else "private"
                    names.setdefault(of_class[2], set())
            if pending.endswith(("{", ";", "}", ">")):
                if not hidden and not space and not of_class and kind == "space":
                    declared = name_declared(pending)
                    if declared and f"::{declared}(" not in pending.partition("(")[0] + "(":
                        names.setdefault("", set()).add(declared)
                pending = ""
        elif kind == "class" and line.startswith("  }"):
            nested = False
        elif kind == "class" and re.match(r" (public|protected|private):", line):
            access = line.strip(" :")
        elif kind == "class" and re.match(r"  (struct|class|enum|union)\b[^;]*\{$", line):
            nested = True
        elif kind == "class" and access == "public" and not nested and re.match(r"  [\w\[]", line):
            declared = name_declared(line)
            if declared:
                names[name].add(declared)
    return names


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        # From a copy of the tree as it is cloned, and where that can be had without a network.
        tree = Path(cls.made.name, "tree")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", "__pycache__", "*.egg-info"))
        alone = ["unshare", "--net"]
        if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
            alone = []
        cls.done = subprocess.run([*alone, tree / "site"], capture_output=True, text=True)
        cls.site = tree / "build/site"
        cls.pages = {str(p.relative_to(cls.site)): Page(p.read_text()) for p in cls.site.rglob("*.html")}

    @classmethod
    def tearDownClass(cls):
        cls.made.cleanup()

    def text(self, page):
        return (self.site / page).read_text()

    def test_without_a_warning(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""), self.done.stdout)
        self.assertEqual(self.done.stdout, f"{self.site}/index.html\n")
        self.assertTrue((self.site / "search/search_index.json").exists())

    def test_every_document(self):
        for source in (ROOT / "docs").rglob("*.md"):
            page = source.relative_to(ROOT / "docs").with_suffix(".html")
            self.assertIn(str(page.with_name("index.html") if page.name == "README.html" else page), self.pages)

    def test_links_lead_somewhere(self):
        wrong = []
        for name, page in self.pages.items():
            if name == "404.html":
                continue  # is shown at any place, and so speaks of the root of a server
            for link in page.links + page.fetched:
                target = urllib.parse.urlsplit(link)
                if target.scheme in ("http", "https", "mailto", "data", "javascript"):
                    continue
                path = (Path(name).parent / urllib.parse.unquote(target.path)) if target.path else Path(name)
                path = Path(*[p for p in (self.site / path).resolve().relative_to(self.site.resolve()).parts])
                if not (self.site / path).exists():
                    wrong.append(f"{name}: {link}")
                elif target.fragment and str(path) in self.pages and urllib.parse.unquote(target.fragment) not in self.pages[str(path)].anchors:
                    wrong.append(f"{name}: {link} (no such anchor)")
        self.assertEqual(sorted(set(wrong)), [])

    def test_in_a_browser_from_the_disk(self):
        """It can be searched, follows the system's scheme and its own button, drawings too, and is no wider than a telephone."""
        sys.path.insert(0, str(ROOT / "tests/lab/pages"))
        from browser import Browser

        def until(condition):
            end = time.monotonic() + 60
            while not condition():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)

        for scheme, name in (("light", "default"), ("dark", "slate")):
            browser = Browser(reads_files=False)
            self.addCleanup(browser.close)
            browser.scheme(scheme)
            browser.open(self.site / "index.html")
            until(lambda: browser.run("return document.body.dataset.mdColorScheme") == name)
            browser.find(".md-search__input").send_keys("jobserver")
            until(lambda: browser.count(".md-search-result__item") > 0)
            browser.open(self.site / "how-it-works.html")
            drawn = "return getComputedStyle(document.querySelector('article img')).colorScheme"
            until(lambda: browser.run(drawn) == scheme)
            browser.click(f"label[for=__palette_{2 if scheme == 'light' else 1}]")
            until(lambda: browser.run(drawn) == ("dark" if scheme == "light" else "light"))
            browser.width(390)
            some = ["index.html", "how-it-works.html", "compared.html", "papers/choi-2011.html", "reference/kgate_h.html"]
            for page in some if scheme == "dark" else sorted(set(self.pages) - {"404.html"}):
                browser.open(self.site / page)
                self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), 390, page)
                self.assertEqual(browser.run("return [...document.images].filter(i => !i.naturalWidth).map(i => i.src)"), [], page)
            self.assertEqual(browser.complaints(), [])

    def test_nothing_is_fetched_from_elsewhere(self):
        for name, page in self.pages.items():
            self.assertEqual([f for f in page.fetched if re.match(r"(https?:)?//", f)], [], name)

    def test_the_reference_has_every_public_name(self):
        header = self.text("reference/kgate_h.html")
        for line in (ROOT / "tests/c/symbols.txt").read_text().split("\n"):
            found = re.match(r"(kgate_\w+)", line)
            if found and not found[1].startswith("kgate_waiting_room"):
                self.assertTrue(f">{found[1]}" in header, found[1])
        self.assertIn("<strong>Threads</strong>", header)  # a rule of the header's comment, not code
        self.assertRegex(self.text("reference/async_hpp.html"), r"<li>a number: how many permits")
        python = self.text("reference/python.html")
        tree = ast.parse((ROOT / "bindings/python/src/kgate/__init__.py").read_text())
        (listed,) = [ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"]
        for name in listed:
            self.assertTrue(f'id="{name.lower()}"' in python, name)
        for heading, words in (("gateslots", "How many may be inside"), ("permitslots", "All slots of a permit"), ("permit", "stands for its slot"),
                               ("guard_against_truncation", "whose file somebody cuts off")):
            self.assertRegex(python, rf'(?s)id="{heading}"(?:(?!<h[23]).)*{words}')
        for heading, words in (("clusterpermitlost", "session has expired"), ("clusterpermitfileno", "readable when the permit is lost"),
                               ("clustergateon", "ensemble that the gate is on"), ("gate__init__", "overtake")):
            self.assertRegex(python, rf'(?s)id="{heading}"(?:(?!<h[23]).)*{words}')
        for page in (ROOT / "man").iterdir():
            self.assertIn(f"reference/{page.name}.html", self.pages)

    def shown(self, page):
        """The names that a page of the reference has, by class; "" for those outside of classes."""
        found = {"": set()}
        of_class = ""
        for level, text in re.findall(r"<h([23])[^>]*>(.*?)</h[23]>", self.text(page), re.S):
            name = html.unescape(re.sub(r'<a class="headerlink".*?</a>|<[^>]+>', "", text)).strip()
            if level == "3":
                found[of_class].add(name)
            else:
                of_class = name.removeprefix("kgate::")
                found.setdefault(of_class, set())
                found[""].add(name.split("::")[-1])
        return found

    def test_the_reference_has_what_the_headers_declare(self):
        sys.path.insert(0, str(ROOT / "docs/book"))
        import reference
        include, number = ROOT / "include/kgate", 0
        for path in [*sorted(include.glob("*.hpp")), *(include / name for name in reference.OTHERS)]:
            file = str(path.relative_to(include))
            shown = self.shown(f"reference/{re.sub('[./]', '_', file)}.html")
            for of_class, names in public_names(path.read_text()).items():
                number += len(names)
                with self.subTest(file=file, of_class=of_class):
                    self.assertIn(of_class, shown)
                    self.assertEqual(sorted(names - shown[of_class]), [])
        self.assertGreater(number, 250)
        for name in sorted(include.glob("asio/*.hpp")):  # those for users are there, the rest is detail
            users = re.search(r"^namespace kgate(?!::detail)", name.read_text(), re.M)
            self.assertEqual(f"asio/{name.name}" in reference.OTHERS, bool(users), name.name)

    def test_the_reference_of_c_has_codes_and_fields(self):
        """Each, with the words of the header behind it."""
        page, header = self.text("reference/kgate_h.html"), (ROOT / "include/kgate/kgate.h").read_text()
        shown = self.shown("reference/kgate_h.html")
        plain = html.unescape(re.sub(r"<[^>]+>", "", page))
        codes = re.findall(r"^  (KGATE_\w+) = (\d+)", header, re.M)
        self.assertGreater(len(codes), 20)
        for name, number in codes:
            self.assertRegex(plain, rf"\b{name} = {number}\b")
        fields = [line.split()[0].split(".") for line in (ROOT / "tests/c/symbols.txt").read_text().split("\n") if re.match(r"kgate_\w+\.\w+ ", line)]
        self.assertGreater(len(fields), 20)
        for struct, field in fields:
            self.assertIn(field, shown[struct], struct)

    def test_the_forms_that_declare(self):
        """What public_names() finds, and does not find."""
        header = """namespace kgate {
namespace detail {
struct hidden {
  int no;
};
}
struct plain {
  int field = 0;
  struct inner {
    int not_this;
  };
  bool operator()() const;
};
template <class T>
requires(sizeof(T) > 1) class lent {
  int kept_;

 public:
  lent(const lent&) = delete;
  explicit lent(T t);
  [[nodiscard]] T take(int a,
                       int b) noexcept;
  friend void nothing(lent&);

 private:
  void mine();
};
int outside(int a) {
  return a;
}
void plain::elsewhere() {}
}  // namespace kgate
"""
        self.assertEqual(public_names(header), {"plain": {"field", "operator()"}, "lent": {"lent", "take"}, "": {"outside"}})

    def test_the_lists_of_contents_show_names_as_they_are(self):
        shown = html.unescape(re.sub(r"<[^>]+>|\s+", "", "".join(re.findall(r"<nav class=\"md-nav md-nav--secondary\".*?</nav>", self.text("reference/python.html"), re.S))))
        self.assertIn("Gate.__init__", shown)
        for name in self.pages:
            self.assertNotRegex(self.text(name), "[\x02\x03\\\\]_", name)

    def test_manual_pages_are_whole(self):
        """Every option of a manual page is in the book, and no markup is left over."""
        for page in (ROOT / "man").iterdir():
            article = re.search(r"<article.*</article>", self.text(f"reference/{page.name}.html"), re.S)[0]
            shown = re.sub(r"<[^>]+>", "", article)
            for option in re.findall(r"^\\fB.*?\\-\\-((?:[a-z]|\\-)+)", page.read_text(), re.M):
                self.assertTrue("--" + option.replace("\\", "") in shown, f"{page.name}: --{option}")
            self.assertEqual(re.findall(r"\\f[BIRP]|\\-", shown), [], page.name)


class Examples(unittest.TestCase):
    def test_each_has_five_lines_a_row_and_a_test(self):
        listed, tests = (ROOT / "examples/README.md").read_text(), (ROOT / "examples/CMakeLists.txt").read_text()
        folders = [p for p in (ROOT / "examples").iterdir() if p.is_dir() and p.name not in ("exercises", "__pycache__")]
        self.assertGreaterEqual(len(folders), 10)
        for folder in folders:
            self.assertEqual(len((folder / "README.md").read_text().strip().split("\n")), 5, folder.name)
            self.assertIn(f"({folder.name}/README.md)", listed)
            self.assertRegex(tests, rf"kgate_add(_checked)?_example\({folder.name}\b")


class Drawings(unittest.TestCase):
    def test_they_name_what_is_there(self):
        drawings = sorted((ROOT / "docs/drawings").glob("*.svg"))
        self.assertGreaterEqual(len(drawings), 4)
        for path in drawings:
            root = xml.etree.ElementTree.parse(path).getroot()
            space = "{http://www.w3.org/2000/svg}"
            sources = "".join((ROOT / name).read_text() for name in root.find(f"{space}desc").text.split())
            names = [e.text for e in root.iter() if e.get("class") == "name"]
            self.assertTrue(names or path.stem == "waiting-room")
            for name in names:
                self.assertRegex(sources, rf"\b{re.escape(name)}\b", path.name)
            self.assertIn("prefers-color-scheme: dark", path.read_text())


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main(argv=[sys.argv[0], "-v"])

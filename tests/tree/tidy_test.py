#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tidy.py: a small tree without faults, and for every rule what breaks it."""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tidy

SPDX_CPP = "// SPDX-License-Identifier: Apache-2.0\n"
SPDX_HASH = "# SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX_CPP + "#pragma once\n"

GOOD = {
    "LICENSE": "Apache License\n",
    "CHANGELOG.md": "# Changes\n",
    "CONTRIBUTING.md": "# Contributing\n\n## The tests\n",
    "README.md": "# kgate\n\n```sh\n./kgate-lab list\n./test\n```\n\n[changes](CHANGELOG.md), [tests](CONTRIBUTING.md#the-tests),"
                 " [rooms](docs/architecture.md), [elsewhere](https://example.org/x.md)\n",
    "docs/architecture.md": "# Rooms\n\nUp: [readme](../README.md).\n\n```\nsrc/catalog/  rows\nsrc/lab/checker/model/  automata\n"
                            "src/lab/checker/explore/  states\nsrc/lab/models/  texts\n```\n",
    "CMakeLists.txt": SPDX_HASH + "add_executable(t main.cpp)\n",
    "packages.txt": "[build]\ng++\n",
    "include/kgate/semaphore.hpp": HEADER + '#include <atomic>\n#include "kgate/algorithms/one.hpp"\n',
    "include/kgate/detail/process.hpp": HEADER + "#include <linux/futex.h>\n#include <cstdint>\n",
    "include/kgate/algorithms/one.hpp": HEADER + '#include "kgate/detail/process.hpp"\n',
    "src/catalog/row.hpp": HEADER,
    "include/kgate/detail/machines/native.hpp": HEADER + '#include "kgate/detail/process.hpp"\n',
    "src/lab/checker/CMakeLists.txt": SPDX_HASH + "add_library(checker explorer.cpp)\n",
    "src/lab/checker/model/program.hpp": HEADER,
    "src/lab/checker/explore/explorer.hpp": HEADER + '#include "catalog/row.hpp"\n#include "lab/checker/model/program.hpp"\n#include <fmt/format.h>\n',
    "src/lab/checker/explore/explorer.cpp": SPDX_CPP + '#include "lab/checker/explore/explorer.hpp"\n#include "kgate/detail/machines/native.hpp"\n',
    "src/lab/models/CMakeLists.txt": SPDX_HASH + "add_library(models models.cpp)\n",
    "src/lab/models/models.cpp": SPDX_CPP + '#include "kgate/algorithms/one.hpp"\n',
    "tests/unit/CMakeLists.txt": SPDX_HASH + "kgate_add_test(unit SOURCES unit_test.cpp)\n",
    "tests/unit/unit_test.cpp": SPDX_CPP + '#include <gtest/gtest.h>\n#include "lab/checker/explore/explorer.hpp"\n',
}

# (what is tried, file, text to put there or None to remove it or a function of the good text, rule, part of the message)
BAD = [
    ("what users do not see includes an algorithm", "include/kgate/detail/process.hpp",
     HEADER + '#include "kgate/algorithms/one.hpp"\n', "includes", "may not include kgate/algorithms/one.hpp"),
    ("an algorithm sees a machine", "include/kgate/algorithms/one.hpp",
     lambda t: t + '#include "kgate/detail/machines/native.hpp"\n', "includes", "may not include kgate/detail/machines/native.hpp"),
    ("a machine sees an algorithm", "include/kgate/detail/machines/native.hpp",
     lambda t: t + '#include "kgate/algorithms/one.hpp"\n', "includes", "may not include kgate/algorithms/one.hpp"),
    ("a public header needs another library", "include/kgate/semaphore.hpp",
     lambda t: t + "#include <boost/context/fiber.hpp>\n", "includes", "not on boost/context/fiber.hpp"),
    ("a public header sees src", "include/kgate/semaphore.hpp",
     lambda t: t + '#include "lab/checker/explore/explorer.hpp"\n', "includes", "may not include lab/checker/explore/explorer.hpp"),
    ("the checker sees an algorithm", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + '  #  include "kgate/algorithms/one.hpp"\n', "includes", "src/lab/checker/explore may not include kgate/algorithms/one.hpp"),
    ("a header of the laboratory sees an algorithm", "src/lab/models/models.hpp",
     HEADER + '#include "kgate/algorithms/one.hpp"\n', "includes", "src/lab/models may not include kgate/algorithms/one.hpp"),
    ("the laboratory sees a tool", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + '#include "tools/kgate/options.hpp"\n', "includes", "may not include tools/kgate/options.hpp"),
    ("an include against the order of the laboratory's rooms", "src/lab/checker/model/program.hpp",
     HEADER + '#include "lab/checker/explore/explorer.hpp"\n', "includes", "src/lab/checker/model may not include lab/checker/explore/explorer.hpp"),
    ("the checker sees who uses it", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + '#include "lab/models/models.hpp"\n', "includes", "src/lab/checker/explore may not include lab/models/models.hpp"),
    ("one tool sees another's room", "src/tools/kgate/main.cpp",
     SPDX_CPP + '#include "lab/checker/explore/explorer.hpp"\n', "includes", "src/tools/kgate may not include lab/checker/explore/explorer.hpp"),
    ("a room of the laboratory that no line names", "src/lab/other/other.cpp", SPDX_CPP, "placement", "outside the rooms"),
    ("a room that the drawing lacks", "docs/architecture.md", lambda t: t.replace("src/lab/models/", "src/lab/other/"),
     "rooms", "lacks src/lab/models/"),
    ("angle brackets for our own", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + "#include <kgate/detail/process.hpp>\n", "includes", "angle brackets"),
    ("an include by its short name", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + '#include "explorer.hpp"\n', "includes", "from the top of its room"),
    ("code at the top", "main.cpp", SPDX_CPP, "placement", "no place at the top"),
    ("code in docs", "docs/example.cpp", SPDX_CPP, "placement", "outside the rooms"),
    ("a source among the headers", "include/kgate/detail/process.cpp", SPDX_CPP, "placement", "only headers"),
    ("a second C header", "include/kgate/detail/other.h", SPDX_CPP, "placement", "the one C header"),
    ("a capital in a name", "src/lab/checker/Explorer.cpp", SPDX_CPP, "placement", "snake_case"),
    ("another ending", "src/lab/checker/explorer.cc", SPDX_CPP, "placement", "end in .cpp"),
    ("a dead header", "include/kgate/detail/unused.hpp", HEADER, "reachable", "no file includes"),
    ("a header that only includes itself", "include/kgate/detail/unused.hpp",
     HEADER + '#include "kgate/detail/unused.hpp"\n', "reachable", "no file includes"),
    ("a source no build names", "src/lab/checker/dead.cpp", SPDX_CPP, "reachable", "names this source"),
    ("a script nobody calls", "cmake/lonely.sh", SPDX_HASH, "reachable", "mentions this script"),
    ("a header without a guard", "include/kgate/detail/process.hpp", SPDX_CPP, "reachable", "#pragma once"),
    ("a page without a link to it", "docs/lost.md", "# Lost\n", "reachable", "no chain of links"),
    ("no licence line", "src/lab/checker/explore/explorer.cpp", lambda t: t.replace(SPDX_CPP, ""), "licence", "SPDX"),
    ("no licence line in a list", "CMakeLists.txt", lambda t: t.replace(SPDX_HASH, ""), "licence", "SPDX"),
    ("a path of one machine", "docs/architecture.md", lambda t: t + "See /wo" "rk/notes.\n", "words", "a path of one machine"),
    ("a note without owner", "src/lab/checker/explore/explorer.cpp", lambda t: t + "// TO" "DO later\n", "words", "without an owner"),
    ("an unfinished place", "src/lab/checker/explore/explorer.cpp", lambda t: t + "// FIX" "ME\n", "words", "unfinished"),
    ("how it was made", "docs/architecture.md", lambda t: t + "Found in a coding ses" "sion.\n", "words", "does not belong"),
    ("who made it", "docs/architecture.md", lambda t: t + "By a suba" "gent.\n", "words", "does not belong"),
    ("a word against the glossary", "src/lab/checker/explore/explorer.cpp", lambda t: t + "// hov" "ers\n", "words", "glossary"),
    *((f"a waiter, a permit or a notice in other words: {words}", "src/lab/checker/explore/explorer.cpp",
       lambda t, words=words: t + f"// {words}\n", "words", f"'{words}'") for words in (
           "stands in line", "next in line", "those in the line", "place in the queue", "free places", "keep their places",
           "slot or place", "one place", "safe place to die", "is told", "unless told", "told to")),
    *((f"a comment that does not say what it speaks of: {comment}", path, lambda t, comment=comment: t + comment + "\n", "words", why)
      for comment, path, why in (
          ("// who waits", "src/lab/checker/explore/explorer.cpp", "'who' in a comment"),
          ("int a;  ///< Nobody writes it", "src/lab/checker/explore/explorer.cpp", "'Nobody' in a comment"),
          ("/* read by\n * everybody */", "tests/unit/unit_test.cpp", "'everybody' in a comment"),
          ("// if a user is somebody else", "src/lab/checker/explore/explorer.cpp", "'somebody' in a comment"),
          ("add_library(x unit.cpp)  # whoever waits", "tests/unit/CMakeLists.txt", "'whoever' in a comment"),
          ("// he must get in", "src/lab/checker/explore/explorer.cpp", "'he' in a comment"),
          ("# for whom", "tests/unit/CMakeLists.txt", "'whom' in a comment"))),
    ("a name against the glossary", "src/lab/checker/explore/explorer.cpp", lambda t: t + "int place_of(int);\n", "names", "'place_of'"),
    ("a name that has such a word at its end", "tests/unit/unit_test.cpp", lambda t: t + "TEST(misuse, is_told) {}\n", "names", "'is_told'"),
    ("the same in CamelCase", "tests/unit/unit_test.cpp", lambda t: t + "TEST(Misuse, IsToldToAll) {}\n", "names", "'IsToldToAll'"),
    *((f"the queue called a line: {name}", "include/kgate/semaphore.hpp", lambda t, name=name: t + f"int {name};\n", "names", f"'{name}'")
      for name in ("in_line", "yield_in_line", "yields_in_line_max", "first_line_is", "long_line", "may_pass_line", "serve_line_of",
                   "TheMostInLineFillIt", "ThoseStandInOneLine", "line_item")),
    ("such a name that is private", "include/kgate/semaphore.hpp", lambda t: t + "int look_;\n", "names", "'look_'"),
    ("such a name with a capital", "include/kgate/semaphore.hpp", lambda t: t + "template <class Place> class x;\n", "names", "'Place'"),
    ("such a name behind numbers with separators", "tests/unit/unit_test.cpp",
     lambda t: t + "int a = 1'000, asked = 1'000;\n", "names", "'asked'"),
    ("such a name between texts", "tests/unit/unit_test.cpp",
     lambda t: t + 'auto a = f("a \\" b", nudge, R"x(")x", \'"\');\n', "names", "'nudge'"),
    ("a long file", "docs/architecture.md", lambda t: t + "x\n" * 701, "text_form", "split"),
    ("no newline at the end", "packages.txt", "[build]", "text_form", "no newline"),
    ("carriage returns", "packages.txt", "[build]\r\n", "text_form", "carriage"),
    ("blanks at the end", "CMakeLists.txt", lambda t: t + "a() \n", "text_form", "blanks"),
    ("a tab", "src/lab/checker/explore/explorer.cpp", lambda t: t + "\tint x;\n", "text_form", "a tab"),
    ("no changelog", "CHANGELOG.md", None, "documents", "missing"),
    ("no command for the tool", "README.md", lambda t: t.replace("./kgate-lab list", "ls"), "documents", "./kgate-lab"),
    ("no command for the tests", "README.md", lambda t: t.replace("./test\n", ""), "documents", "./test"),
    ("a hole in the decisions", "docs/decisions/0002-second.md", "# Second\n", "decisions", "no record 1"),
    ("evidence that does not exist", "include/kgate/algorithms/one.hpp",
     lambda t: t + "/// Evidence     tests/unit, tests/gone\n", "evidence", "tests/gone"),
    ("an inner name among the users'", "include/kgate/detail/unused.hpp",
     HEADER + "namespace kgate {\nint x;\n}\n", "namespaces", "not in kgate::detail"),
    ("another version in the citation", "CITATION.cff", SPDX_HASH + "version: 9.9.9\n", "versions", "version 9.9.9"),
    ("another version in the changes", "CHANGELOG.md", lambda t: t + "## 9.9.8 - 2026-01-01\n", "versions", "version 9.9.8"),
    ("a broken link", "docs/architecture.md", lambda t: t + "[gone](gone.md)\n", "documents", "docs/gone.md"),
    ("a broken anchor", "README.md", lambda t: t.replace("#the-tests", "#the-test"), "documents", "no such heading"),
]

# What must pass, though it looks like a fault.
FINE = [
    ("a note with an owner", "src/lab/checker/explore/explorer.cpp", lambda t: t + "// TO" "DO(ada): why\n"),
    ("lines of texts, places in other senses, what is told apart", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + "// what is in line 15 takes place in one place, in the place of a file; they are told apart; in line with it\n"),
    ("words in comments and texts that no name may have", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + "// a place to look\n/* asked\n for */\nauto a = f(\"place\", R\"(look \"asked\")\", '\"', \"nudge\");\n"),
    ("names that contain them without being made of them", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + "int placement, outlook, personal, emplaced, Threshold, CamelPlacement;\n"),
    ("lines of a cache, of a text and of a terminal", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + "int cache_line, first_line, status_line, words_per_line, waiting_line, line_of;\n"),
    ("comments about people, a value, and code and texts that are no comments", "src/lab/checker/explore/explorer.cpp",
     lambda t: t + "// for people who ask, users who may, the user, who must; `nobody`; everyone of them; as a whole\n"
                   "auto who = f(\"/* nobody */\", nobody, \"// who\");\n"),
    ("the standard's word", "src/lab/checker/explore/explorer.cpp", lambda t: t + "auto a = heap_in_place(std::in_place_type<int>);\n"),
    ("a link in code", "docs/architecture.md", lambda t: t + "`[a](b.md)`\n\n```md\n[a](b.md)\n```\n"),
    ("a source found by a pattern", "tests/unit/CMakeLists.txt", SPDX_HASH + "file(GLOB sources *.cpp)\n"),
    ("a source with a variable in its name", "tests/unit/CMakeLists.txt", SPDX_HASH + "add_library(x unit_${kind}.cpp)\n"),
    ("a file of exactly the length", "CHANGELOG.md", "x\n" * 700),
]


class Tidy(unittest.TestCase):
    def faults(self, changes=()):
        with tempfile.TemporaryDirectory() as root:
            files = dict(GOOD)
            for name, change in changes:
                files[name] = change(files[name]) if callable(change) else change
            for name, text in files.items():
                if text is not None:
                    path = Path(root, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(text.encode())
            return tidy.faults(root)

    def test_good_tree(self):
        self.assertEqual(self.faults(), [])

    def test_bad_trees(self):
        for what, name, change, rule, message in BAD:
            with self.subTest(what):
                found = self.faults([(name, change)])
                self.assertTrue(any(r == rule and w.split(":")[0] == name and message in m for r, w, m in found), found)

    def test_a_variable_that_does_not_fit(self):
        found = self.faults([("tests/unit/CMakeLists.txt", SPDX_HASH + "add_library(x other_${kind}.cpp)\n")])
        self.assertEqual([(rule, where) for rule, where, _ in found], [("reachable", "tests/unit/unit_test.cpp")])

    def test_line_numbers(self):
        found = self.faults([("packages.txt", "a\nb \n")])
        self.assertIn(("text_form", "packages.txt:2", "blanks at the end of the line"), found)

    def test_fine_trees(self):
        for what, name, change in FINE:
            with self.subTest(what):
                self.assertEqual(self.faults([(name, change)]), [])

    def test_no_includes_of_the_laboratory_go_round_in_a_circle(self):
        earlier = set()
        for room, others in tidy.LAB_ROOMS.items():
            self.assertLessEqual(set(others), earlier, room)
            earlier.add(room)

    def test_the_page_says_which_rooms_of_the_laboratory_include_which(self):
        page = Path(tidy.__file__).parents[2].joinpath("docs/architecture.md").read_text()
        table = page.split("| room of `src/lab` |")[1].split("\n\n")[0].splitlines()[2:]
        said = {room: others for room, *others in (re.findall(r"`([^`]+)`", row) for row in table)}
        self.assertEqual(said, tidy.LAB_ROOMS)

    def test_every_rule_has_a_bad_tree(self):
        self.assertEqual({rule.__name__ for rule in tidy.RULES}, {rule for _, _, _, rule, _ in BAD})

    def test_program(self):
        program = [sys.executable, tidy.__file__]
        with tempfile.TemporaryDirectory() as root:
            bad = subprocess.run([*program, root], capture_output=True, text=True)
        self.assertEqual(bad.returncode, 1)
        self.assertIn("README.md: missing [documents]", bad.stdout)
        self.assertEqual(subprocess.run(program, capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()

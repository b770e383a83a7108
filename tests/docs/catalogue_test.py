#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every algorithm of the catalogue has its part on a page about a paper, with its promises, texts and errata as they are today. The
page of our own texts, which change most, is compared with its verdicts and counts, those of the papers by papers_deep_test.py.

usage: catalogue_test.py ROOT PROGRAM
"""
import re
import sys
import unittest
from pathlib import Path

ROOT, PROGRAM = Path(), ""


class Catalogue(unittest.TestCase):
    def test_every_algorithm_and_erratum_is_on_its_page(self):
        sys.path.insert(0, str(ROOT / "docs/papers"))
        import make_pages
        papers = {}
        for row in make_pages.asked(PROGRAM, "list"):
            papers.setdefault(row["paper"], []).append(row)
        self.assertEqual((ROOT / "docs/papers/README.md").read_text(), make_pages.index(papers))
        ours = "this project"
        self.assertEqual((ROOT / "docs/papers/kgate.md").read_text().split("\n"), make_pages.page(PROGRAM, ours, papers[ours]).split("\n"),
                         "docs/papers/kgate.md: run docs/papers/make_pages.py")
        make_pages.asked = lambda *_: None  # no runs: what is left is what the catalogue says
        for paper, rows in papers.items():
            page = (ROOT / f"docs/papers/{make_pages.slug(paper)}.md").read_text()
            for row in rows:
                for line in make_pages.of_algorithm(PROGRAM, row):
                    self.assertTrue(line in page, f"{paper}: {line}")
            for line in make_pages.errata_of(paper):
                self.assertTrue(line in page, f"{paper}: {line}")

    def test_links_to_errata_lead_to_one_heading(self):
        headings = re.findall(r"^#+ (.*)$", (ROOT / "docs/errata.md").read_text(), re.M)
        anchors = [re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading).lower()) for heading in headings]
        for page in (ROOT / "docs/papers").glob("*.md"):
            for anchor in re.findall(r"errata\.md#([\w-]+)", page.read_text()):
                self.assertEqual(anchors.count(anchor), 1, f"{page.name}: {anchor}")


if __name__ == "__main__":
    ROOT, PROGRAM = Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
    unittest.main(argv=[sys.argv[0], "-v"])

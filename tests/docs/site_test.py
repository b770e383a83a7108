#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site builds without a warning, has every document, and fetches nothing from elsewhere.

usage: site_test.py ROOT
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path()


class Site(unittest.TestCase):
    def test_site(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder], cwd=ROOT,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            pages = {str(p.relative_to(folder)) for p in Path(folder).rglob("*.html")}
            for source in (ROOT / "docs").rglob("*.md"):
                page = source.relative_to(ROOT / "docs").with_suffix(".html")
                self.assertIn(str(page.with_name("index.html") if page.name == "README.html" else page), pages)
            self.assertTrue(Path(folder, "search/search_index.json").exists())
            for page in pages:
                text = Path(folder, page).read_text()
                fetched = re.findall(r"""(?:src=|<link[^>]+href=)["']?(https?://[^"' >]+)""", text)
                self.assertEqual(fetched, [], page)


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main(argv=[sys.argv[0], "-v"])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/audit.md, the papers item by item, from the catalogue, the texts and the tests.

usage: docs/papers/make_audit.py [--check]
What people judged of each item is in docs/papers/audit: where it is beside what the catalogue says, how it deviates, and the
tests that hold it. Which algorithms belong to a figure or theorem, where their texts are and what these say of deviations comes from
src/catalog and include/kgate/algorithms; every test named must be there and be built. --check compares and writes nothing.
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "audit.md"
TEXTS = ROOT / "include" / "kgate" / "algorithms"
PAPERS = {"flbb79": "Fischer, Lynch, Burns & Borodin 1979", "afek94": "Afek, Dolev, Gafni, Merritt & Shavit 1994",
          "am97": "Anderson & Moir 1997", "danek10": "Danek 2010", "choi11": "Choi 2011"}


class Row:
    """An algorithm of the catalogue."""

    def __init__(self, text, study):
        field = lambda name: (re.search(rf'\.{name} = "([^"]*)"', text) or ["", ""])[1]
        self.id, self.figure, self.theorem, self.study = field("id"), field("figure"), field("theorem"), study
        self.paper = next((PAPERS[key] for key in PAPERS if self.id.startswith(key)), None)
        self.headers = re.findall(r'"([^"]+)"', (re.search(r"\.headers = \{([^}]*)\}", text) or ["", ""])[1])

    def items(self):
        """The numbered items that its row says it is of: figure 3, lemma 4.4, theorem 4.1."""
        if re.match(r"\d", self.figure):
            yield from (f"figure {n}" for n in re.findall(r"\d+", self.figure))
        for kind, numbers in re.findall(r"\b(lemma|theorem|corollary)s? (\d[\d.]*(?:(?:-| and )\d[\d.]*)*)", self.figure + "; " + self.theorem):
            numbers = [n.rstrip(".") for n in re.split(r"-| and ", numbers)]
            if "-" in self.figure + self.theorem and len(numbers) == 2:
                chapter, first = numbers[0].split(".")
                numbers = [f"{chapter}.{n}" for n in range(int(first), int(numbers[1].split(".")[1]) + 1)]
            yield from (f"{kind} {n}" for n in numbers)

    def name_at(self, item):
        """Corollaries are about k-assignment."""
        return f"`{self.id}{'+names' if item.startswith('corollary') else ''}`"


def catalogue():
    """Its rows of these papers. Texts that several rows share are given once, before them."""
    sources = {path.stem: path.read_text() for path in sorted((ROOT / "src" / "catalog").glob("*.hpp"))}
    shared = [re.findall(r'"([^"]+)"', one) for one in re.findall(r"own\.headers = \{([^}]*)\}", "".join(sources.values()))]
    for name, text in sources.items():
        for part in re.split(r"(?=\.id = )", text)[1:]:
            row = Row(part, name == "errata")
            if not row.paper:
                continue
            if not row.headers:
                row.headers = next(one for one in shared if one[0].startswith(row.id.split("-")[0]))
            yield row


def judged():
    """{paper: [(item, where, reading, tests)]} as docs/papers/audit has them."""
    found = {}
    for key, paper in PAPERS.items():
        found[paper] = []
        for one in re.split(r"^### ", (HERE / "audit" / f"{key}.txt").read_text(), flags=re.M)[1:]:
            item, *lines = one.strip().split("\n")
            fields = dict(line.split(": ", 1) for line in lines)
            if not {"as", "by"} <= set(fields) <= {"where", "as", "by"} or len(fields) != len(lines):
                sys.exit(f"make_audit.py: {paper}, {item}: fields are where (if any), as, by, a line each")
            found[paper].append((item, fields.get("where", ""), fields["as"], fields["by"].split(", ")))
    return found


def test_is_built(evidence):
    """`algorithms/danek10/model_test:danek10.name` is a TEST of tests/algorithms/danek10/model_test.cpp, which is compiled."""
    where, _, name = evidence.partition(":")
    source = ROOT / "tests" / (where + (".cpp" if "." in name else ".py"))
    if not source.is_file():
        return False
    lists = "".join(p.read_text() for p in (source.parent / "CMakeLists.txt", ROOT / "tests" / "CMakeLists.txt") if p.is_file())
    if not re.search(rf"\b{source.stem}\b", lists):
        return False
    if "." not in name:
        return f"def {name}(" in source.read_text()
    suite, test = name.split(".")
    return re.search(rf"\bTEST(_P|_F)?\(\s*{suite},\s*{test}\b", source.read_text()) is not None


def deviations(header):
    """What the text's own header says of them: none, or the marks D1, D2."""
    part = re.search(r"^/// Deviations(.*?)^/// (?=[A-Z])", (TEXTS / header).read_text(), re.M | re.S)
    if not part:
        return None
    marks = sorted(set(re.findall(r"\bD\d+\b", part[1])), key=lambda m: int(m[1:]))
    return ", ".join(marks) if marks else re.split(r"[.:;]\s", re.sub(r"\s*///\s*", " ", part[1]).strip() + " ")[0]


def where(paper, item, more, rows):
    here = [row for row in rows if row.paper == paper and item in row.items()]
    texts = [row for row in here if not row.study]
    parts = [", ".join(row.name_at(item) for row in texts),
             ", ".join(dict.fromkeys(h for row in texts for h in row.headers)), more]
    parts += ["for study: " + row.name_at(item) for row in here if row.study]
    return "; ".join(part for part in parts if part)


def table(paper, items, rows):
    yield from (f"\n## {paper}\n", "| item | where | faithful? | evidence |", "|---|---|---|---|")
    for item, more, reading, tests in items:
        missing = [one for one in tests if not test_is_built(one)]
        if missing:
            sys.exit(f"make_audit.py: {paper}, {item}: no such test: {', '.join(missing)}")
        place = where(paper, item, more, rows)
        if not place:
            sys.exit(f"make_audit.py: {paper}, {item}: neither the catalogue nor docs/papers/audit says where it is")
        yield f"| {item} | {place} | {reading} | {', '.join(f'`{one}`' for one in tests)} |"


def texts(rows):
    yield from ("\n## The algorithms of these papers, by the catalogue\n", "| id | of | texts, and what their headers say of deviations |", "|---|---|---|")
    for row in rows:
        said = [f"{header} ({deviations(header)})" if deviations(header) else header for header in row.headers]
        of = "; ".join(("figure " if re.match(r"\d", part) else "") + part for part in (row.figure, row.theorem) if part)
        yield f"| `{row.id}` | {row.paper.rsplit(' ', 1)[0].split(',')[0]}: {of}{' (for study)' if row.study else ''} | {', '.join(said)} |"


def page():
    rows = sorted(catalogue(), key=lambda row: (list(PAPERS.values()).index(row.paper), row.study))
    lines = [(HERE / "audit" / "intro.txt").read_text().strip()]
    for paper, listed in judged().items():
        lines += table(paper, listed, rows)
    lines += texts(rows)
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    made = page()
    if sys.argv[1:] and PAGE.read_text() != made:
        sys.exit("docs/audit.md is not what docs/papers/make_audit.py makes: run it")
    if not sys.argv[1:]:
        PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages about the papers from the catalogue: what the laboratory lists, checks and counts is what they say.

usage: docs/papers/make_pages.py PROGRAM [OUTPUT]
PROGRAM is kgate-lab; OUTPUT the folder of the pages (default: beside this script). Takes some minutes. Verdicts are those of
`kgate-lab check` at the size named on the page, costs those of `kgate-lab rmr`; what the papers say in a few sentences is in
docs/papers/summaries.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# At N = 3, k = 2 these have more states than a page is worth. The others are of k = 1 alone.
SMALLER = {"flbb79-bounded", "flbb79-fifo", "flbb79-bounded-printed-order", "flbb79-bounded-printed-test", "danek10-nonatomic",
           "afek94-bounded", "kgate-gate", "afek94-fife", "afek94-as-printed", "danek10-fife", "danek10-reset",
           "choi11-wrapping"}
ALONE = {"mcs", "danek10-bakery", "bakery", "burns-lynch", "ticket", "clh"}
TWO = {"dekker"}  # for two processes only
# Known from textbooks: docs/audit.md does not go through these papers item by item.
CLASSICS = {"Dijkstra 1968", "Lamport 1974", "Burns & Lynch 1993", "Craig 1993"}
# Its references are those of a mapped file, and nobody has stated a bound for them.
NOT_COUNTED = {"kgate-gate"}


def asked(program, *words):
    """What kgate-lab answers, as JSON; nothing where it has nothing to say."""
    done = subprocess.run([program, *words, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1, 3):
        return None
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit(f"make_pages.py: kgate-lab {' '.join(words)} answers with no JSON, exit code {done.returncode}: {done.stderr.strip()}")


def size_of(row):
    if row["id"] in ALONE or row["id"].startswith("am97-fastpath"):  # N = 3, k = 2 has no short way
        return 3, 1
    return (2, 1) if row["id"] in SMALLER | TWO else (3, 2)


def slug(paper):
    name = re.sub(r"[^a-z0-9]+", "-", paper.lower()).strip("-")
    return {"fischer-lynch-burns-borodin-1979": "fischer-1979", "afek-dolev-gafni-merritt-shavit-1994": "afek-1994",
            "anderson-moir-1997": "anderson-moir-1997", "gottlieb-lubachevsky-rudolph-1983": "gottlieb-1983",
            "mellor-crummey-scott-1991": "mellor-crummey-scott-1991", "this-project": "kgate"}.get(name, name)


def promises(row):
    promised = row["promises"]
    words = [name for name, value in promised.items() if value is True]
    most = promised["overtakings_max"]
    often = {None: "", 0: " (never overtaken)", 1: " (overtaken at most once)"}.get(most, f" (overtaken at most {most} times)")
    words = [name + often if name == "bounded-waiting" else name for name in words]
    crashes = promised.get("crashes")
    return ", ".join(words) + (f"; progress with at most {crashes} crashes" if crashes and crashes != "0" else "")


def times(passages):
    return f"{passages} passage{'' if passages == 1 else 's'}"


def verdicts(checked):
    """One line for each property: the verdict, and how a violation is shown."""
    for one in checked["properties"]:
        said = f"holds within {times(one['within_passages'])}" if "within_passages" in one else one["verdict"]
        said += "" if one.get("promised") else " (not promised)"
        if one.get("replay"):
            said += f": {one['length']} steps, `{one['replay']}`"
        yield f"| {one['name']} | {said} |"


def explored(checked):
    passages = checked["passages"]
    how = f"{times(passages)} of each process" if isinstance(passages, int) and passages else "any number of passages"
    return f"N = {checked['N']}, k = {checked['k']}, {how}, at most {checked['crashes']} crashed: {checked['states']:,} states"


def size_of_costs(row):
    """References are counted with more in a state than verdicts need: gigabytes for figure 9 behind a short way."""
    return (3, 2) if row["id"].startswith("am97-fastpath") and row["id"].endswith("-small") else size_of(row)


def costs(program, row, n, k):
    for model in () if row["id"] in NOT_COUNTED else ("cc", "dsm"):
        counted = asked(program, "rmr", row["id"], "-N", str(n), "-k", str(k), "--model", model)
        bounds = [b["formula"] + ("" if b["when"] == "always" else f" ({b['when']})") for b in row["rmr"] if b["model"] == model]
        if counted is None:
            continue
        worst = counted.get("worst")
        found = "unbounded" if worst is None or worst == "unbounded" else str(worst)
        if not counted.get("exhaustive"):
            found += " seen so far"
        elif counted.get("passages") and found != "unbounded":
            found += f" within {times(counted['passages'])}"
        yield f"| {model.upper()} | {found} | {'; '.join(bounds) or '-'} |"


def of_algorithm(program, row):
    n, k = size_of(row)
    lines = [f"### {row['id']}", "", f"{row['title'][0].upper()}{row['title'][1:]}: {row['figure']}"
             + (f", {row['theorem']}" if row.get("theorem") else "") + ".", ""]
    if row["note"]:
        lines += [row["note"][0].upper() + row["note"][1:] + ".", ""]
    texts = ", ".join(f"[`{h}`](../../include/kgate/algorithms/{h})" for h in row["headers"])
    lines += [f"- Our text: {texts}", f"- Promises: {promises(row) or 'none'}", f"- Primitives: {', '.join(row['primitives'])}",
              f"- Registers: {row['registers']}; variables {'bounded' if row['bounded_variables'] else 'unbounded'}", ""]
    # By one thread: among several, chance decides which of the shortest traces is found.
    checked = asked(program, "check", row["id"], "-N", str(n), "-k", str(k), "--threads", "1")
    if checked:
        lines += [f"Checked at {explored(checked)}.", "", "| property | verdict |", "|---|---|", *verdicts(checked), ""]
    n, k = size_of_costs(row)
    counted = list(costs(program, row, n, k))
    if counted:
        lines += [f"| remote references, N = {n}, k = {k} | worst passage | as stated |", "|---|---|---|", *counted, ""]
    return lines


def errata_of(paper):
    """The headings of docs/errata.md on this paper."""
    text = (ROOT / "docs/errata.md").read_text()
    part = re.search(rf"^## {re.escape(paper)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    for title in re.findall(r"^### (.*)$", part[1], re.M) if part else ():
        anchor = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title).lower())
        yield f"- [{title}](../errata.md#{anchor})"


def page(program, paper, rows):
    summary = HERE / "summaries" / f"{slug(paper)}.txt"
    references = (asked(program, "explain", rows[0]["id"]) or {}).get("references", [])
    lines = [f"# {paper[0].upper()}{paper[1:]}", "", *(f"> {r}\n" for r in references)]
    if summary.exists():
        lines += ["## What it says", "", summary.read_text().strip(), ""]
    lines += ["## The algorithms, and what was found", ""]
    for row in rows:
        lines += of_algorithm(program, row)
    found = list(errata_of(paper))
    lines += ["## Errata", "", *(found or ["None found."]), "",
              "Every numbered item of the paper with its evidence: [the papers, item by item](../audit.md)."
              if found or (summary.exists() and paper not in CLASSICS) else "",
              "", "This page is written by `docs/papers/make_pages.py` from the catalogue and from runs of `kgate-lab`."]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def index(papers):
    lines = ["# The papers", "", "Each page: what the paper says, our text of it, verdicts, cost, errata. Written by "
             "`docs/papers/make_pages.py` from the catalogue.", "", "| paper | algorithms |", "|---|---|"]
    for paper, rows in papers.items():
        lines.append(f"| [{paper}]({slug(paper)}.md) | {', '.join(r['id'] for r in rows)} |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program, output = sys.argv[1], Path(sys.argv[2] if len(sys.argv) == 3 else HERE)
    papers = {}
    for row in asked(program, "list"):
        papers.setdefault(row["paper"], []).append(row)
    for paper, rows in papers.items():
        (output / f"{slug(paper)}.md").write_text(page(program, paper, rows))
    (output / "README.md").write_text(index(papers))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tree promises about itself and a compiler does not see: include direction, file placement, no dead files,
licence lines, words and names that do not belong, commands and links of the documents. Prints one line per fault;
exit code 1 if any.

usage: tidy.py ROOT
"""
import datetime
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

LINES_MAX = 700
CODE = {".hpp", ".h", ".cpp", ".c"}
SCRIPTS = {".py", ".sh", ".pml", ".cmake"}
# Files without a comment syntax, or that are prose.
NO_LICENCE_LINE = {".md", ".json", ".txt", ".svg", ".html", ".css", ".js"}

# The laboratory's rooms, each with those of its rooms that it may include. They stand in an order in which every room
# comes after those it includes, so no includes go round in a circle.
LAB_ROOMS = {
    "checker/model": [],
    "checker/explore": ["checker/model"],
    "checker/graph": ["checker/model", "checker/explore"],
    "checker/audit": ["checker/model", "checker/graph"],
    "checker/claims": ["checker/model", "checker/graph"],
    "checker/trace": ["checker/model", "checker/explore", "checker/graph", "checker/claims"],
    "checker/properties": ["checker/model", "checker/explore", "checker/graph", "checker/audit", "checker/claims", "checker/trace"],
    "rmr": ["checker/explore", "checker/graph"],
    "schedules": ["rmr"],
    "multiprocessor": ["rmr", "schedules"],
    "translation": ["checker/model", "checker/explore"],
    "models": ["checker/model", "checker/properties", "schedules"],
    "experiments": ["checker/model", "checker/explore", "rmr", "schedules", "multiprocessor", "models"],
    "report": ["checker/explore", "checker/properties", "models", "experiments"],
}

# Where code may stand, and what it may include besides the standard library, Linux and its own room. A room is the longest
# folder that matches; "!" leaves a folder out; other libraries are allowed only where the last column says so.
#                        may include headers below                                       other libraries
ROOMS = {
    "include/kgate/detail": (["kgate/detail", "kgate/wait_policy.hpp", "kgate/statistics.hpp"], False),
    "include/kgate/algorithms": (["kgate/detail", "!kgate/detail/machines", "kgate/algorithms"], False),
    "include/kgate": (["kgate"], False),
    "include/kgate/asio": (["kgate"], True),
    "src/catalog": (["kgate", "catalog"], False),
    "src/gate": (["kgate", "gate"], False),
    "src/c": (["kgate", "c"], False),
    "src/cluster": (["kgate", "gate", "cluster"], True),
    **{f"src/lab/{room}": (["kgate/detail", "kgate/wait_policy.hpp", "catalog/row.hpp", *(f"lab/{r}" for r in (room, *others))], True)
       for room, others in LAB_ROOMS.items()},
    "src/tools/common": (["kgate/detail", "tools/common"], False),
    "src/tools/kgate": (["kgate", "gate", "tools/common", "tools/kgate"], True),
    "src/tools/kgate-cluster": (["kgate", "gate", "cluster", "tools/common", "tools/kgate", "tools/kgate-cluster"], True),
    "src/tools/kgate-lab": (["kgate", "lab", "catalog", "tools/common", "tools/kgate-lab"], True),
    "bindings": (["kgate/kgate.h", "kgate/cluster.hpp", "native"], True),
    "bench": (["kgate", "gate", "cluster", "lab", "bench", "catalog"], True),
    "tests": (["kgate", "gate", "cluster", "lab", "tools", "tests", "catalog"], True),
    "packaging": (["kgate"], False),
    "examples": (["kgate"], False),
    "examples/asio": (["kgate"], True),
}
# The files that give the laboratory its algorithms and objects: the only ones below src/lab that may include them.
INSTANCES = re.compile(r"src/lab/(?:models/\w+|experiments/\w+_queue)\.cpp")
INSTANTIATED = ["catalog", "kgate/algorithms", "kgate/objects", "kgate/resilient.hpp"]
# Folders of ours: an include that starts with one of them is not another library.
OWN = ("kgate/", "c/", "native/", "catalog/", "gate/", "cluster/", "lab/", "tools/", "tests/", "bench/")

TOP = {".ci", ".github", ".clang-format", ".clang-tidy", ".editorconfig", ".gitignore", "CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md",
       "LICENSE", "README.md", "SECURITY.md", "bench", "bindings", "cmake", "completions", "debian", "docs", "examples", "include", "kgate", "kgate-lab",
       "man", "mkdocs.yml", "package", "packages.txt", "packaging", "site", "src", "test", "tests"}

STANDARD = set("""algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono
cinttypes climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg
cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format
forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list
locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex
scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string
string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set
utility valarray variant vector version
assert.h ctype.h errno.h float.h inttypes.h limits.h math.h setjmp.h signal.h stdarg.h stdbool.h stddef.h stdint.h
stdio.h stdlib.h string.h time.h wchar.h
dirent.h dlfcn.h emmintrin.h fcntl.h getopt.h glob.h grp.h immintrin.h link.h netdb.h paths.h poll.h pthread.h pwd.h sched.h
spawn.h syscall.h termios.h ucontext.h unistd.h""".split())
STANDARD_FOLDERS = ("sys/", "linux/", "netinet/", "arpa/", "net/", "asm/", "bits/")

# Written in pieces, so that this file does not contain what it forbids.
BANNED = [
    (re.compile(r"/(?:wo" r"rk|ro" r"ot|ho" r"me/\w+|tmp/hu" r"b|tmp/w)/"), "a path of one machine"),
    (re.compile(r"\bC" r"EO\b"), "a word that does not belong here"),
    (re.compile(r"\b(?:sub-?)?age" r"nts?\b|coding ses" r"sion|language mo" r"del", re.I), "a word that does not belong here"),
    (re.compile(r"\bTO" r"DO\b(?!\(\w+\))"), "a note without an owner"),
    (re.compile(r"\b(?:XX" r"X|FIX" r"ME)\b"), "an unfinished place"),
]

# Words against docs/glossary.md that have no other meaning here, and where they may stand all the same.
DIALECT = re.compile(r"\b(?:hover(?:s|ed|ing)?|let_loose|loose permits?|make_use_of_loose|be_ready|keep_away|vain_waits?|share_out"
                     r"|be_seated|upkeep|gate_person|worth_it|wait_past_sleepers|buries|buried the dead|lets? him in|Burns turns"
                     # A waiter is queued. "In line 15" is a line of a text.
                     r"|(?:stands?|stood|standing|wait|waits|waiting|is|are|was|were|be|next|first|last|those|ones?|somebody|nobody|whoever"
                     r"|process|processes|threads?|tickets?|place) in (?:the )?line(?! (?:\d|with\b|of the text))"
                     # A permit, a slot, a position in the queue, an entry of an array; "takes place" and "in its place" may stand.
                     r"|free places?|places? in (?:the |its |a )?queue|keeps? (?:its|their) places?|places? (?:is|are) (?:free|lost|neither)"
                     r"|slots? or places?|no place (?:is|lost)|(?<!in )(?:one|k|l) places?(?! of)|safe place to die"
                     # One is notified, or learns.
                     r"|(?:is|are|was|were|be|been|being|gets?) told(?! apart)|unless told|told to)\b")
# Words that no identifier may have, whether written_so or WrittenSo: each has named several ideas.
NAMED_AGAINST = {"asked", "habit", "linger", "look", "nudge", "patience", "person", "place", "places", "seat", "tend", "told", "visitor"}
NAMED_ALL_THE_SAME = re.compile(r"(?:^|_)in_place(?=_|$)")  # as in std::in_place
# The queue; other lines are of a text or a cache.
NAMED_LINE = re.compile(r"(?:^|_)(?:(?:in(?:_one|_the)?|pass|serve|long|overtaking)_line|waiting_lines|line_(?:entry|item))(?=_|$)|(?:^|_)first_line_is$")
WORD_OF_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
# A process, a thread or a file is "it", and a comment says which of them it speaks of. People are "users who" and the like;
# `nobody` is the name of a value.
PEOPLE = "users?|authors?|readers?|people|root"
SPOKEN_OF = re.compile(r"(?<!`)\b(?:(?:some|no|every|any)body|(?:some|every|any)one(?! of)|he|him|whom|whoever|"
                       rf"(?P<people>(?:{PEOPLE}),? )?who)\b", re.I)
SPOKEN_OF_IN = ("include/", "src/", "tests/", "bench/", "bindings/", "examples/", "cmake/")
COMMENT_OF = {**dict.fromkeys(CODE, NOT_CODE), ".js": re.compile(r"(?<!\S)//[^\n]*"),
              **dict.fromkeys([".py", ".sh", ".cmake", ".txt"], re.compile(r"(?<!\S)#[ #][^\n]*"))}
DIALECT_ALLOWED = ("docs/glossary.md", "docs/decisions/", "CHANGELOG.md", "tests/tree/")

# Headers below include/kgate/detail whose names texts are written in (docs/architecture.md): the only ones there that may
# declare anything outside kgate::detail.
WRITTEN_IN = {f"include/kgate/detail/{name}.hpp" for name in
              ("machine", "process", "fixed_array", "forall", "weak_register", "waiting/waiting", "machines/native")}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


class Tree:
    """The files that belong to the project: those git knows or would add, or all but builds if there is no git."""

    def __init__(self, root):
        self.root = Path(root)
        self.files = {}
        for name in sorted(self._names()):
            data = (self.root / name).read_bytes()
            if b"\0" not in data:
                self.files[name] = data.decode("utf-8", "replace")

    def _names(self):
        if (self.root / ".git").exists():
            known = subprocess.run(["git", "-C", self.root, "ls-files", "-co", "--exclude-standard", "-z"],
                                   capture_output=True, text=True)
            if known.returncode == 0:
                return [n for n in known.stdout.split("\0") if n and (self.root / n).is_file()]
        skip = {"build", ".git", "__pycache__"}
        return [str(p.relative_to(self.root)) for p in self.root.rglob("*")
                if p.is_file() and not skip & set(p.relative_to(self.root).parts)]

    def code(self):
        return ((n, t) for n, t in self.files.items() if PurePosixPath(n).suffix in CODE)

    def headers(self):
        return ((n, t) for n, t in self.code() if n.endswith((".hpp", ".h")))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def room_of(name):
    return max((r for r in ROOMS if name.startswith(r + "/")), key=len, default=None)


def below(header, folders):
    """Whether the header is in one of the folders; one with "!" before it is left out."""
    def within(folder):
        return header == folder or header.startswith(folder + "/")
    return any(within(f) for f in folders) and not any(within(f[1:]) for f in folders if f.startswith("!"))


def as_included(name):
    """How the rest of the tree spells the header `name`."""
    for prefix in ("include/", "src/", "bindings/python/src/"):
        if name.startswith(prefix):
            return name[len(prefix):]
    return name[len("tests/"):] if name.startswith("tests/") else name


def includes(tree):
    known = {as_included(n) for n, _ in tree.headers()} | {n for n, _ in tree.headers()}
    for name, text in tree.code():
        room = room_of(name)
        if room is None:
            continue
        allowed, libraries = ROOMS[room]
        for found in INCLUDE.finditer(text):
            header, where = found[2], f"{name}:{line_of(text, found.start())}"
            if header in STANDARD or header.startswith(STANDARD_FOLDERS):
                continue
            beside = str(PurePosixPath(name).parent / header)
            if header in known or header.startswith(OWN):
                if found[1] == "<" and room.startswith(("include", "src")):
                    yield where, f"our own header <{header}> in angle brackets"
                if INSTANCES.fullmatch(name) and below(header, INSTANTIATED):
                    continue
                in_tests = room == "tests" and header in known
                if not below(header, allowed) and not in_tests:
                    yield where, f"{room} may not include {header}"
            elif found[1] == '"' and beside in tree.files:
                # A room includes its own files by their full path, so that one spelling finds all users.
                if room not in ("tests", "bench"):
                    yield where, f"write the path of {header} from the top of its room"
            elif not libraries:
                yield where, f"{room} depends on the standard library and Linux only, not on {header}"


def placement(tree):
    for name, _ in tree.files.items():
        path = PurePosixPath(name)
        top = path.parts[0]
        if top not in TOP:
            yield name, f"'{top}' has no place at the top"
        if path.suffix in CODE and room_of(name) is None:
            yield name, "code outside the rooms (see docs/architecture.md)"
        if top == "include" and path.suffix not in {".hpp", ".h"}:
            yield name, "only headers belong below include/"
        if path.suffix == ".h" and name != "include/kgate/kgate.h" and not name.startswith(("tests/", "bindings/")):
            yield name, "C++ headers end in .hpp; the one C header is kgate.h"
        if path.suffix in CODE | {".py", ".pml"} and not re.fullmatch(r"_{0,2}[a-z][a-z0-9_]*", path.stem):
            yield name, "file names are snake_case"
        if path.suffix in {".cc", ".cxx", ".hh", ".hxx"}:
            yield name, "sources end in .cpp, headers in .hpp"


def names_source(text, path):
    """Whether this CMakeLists.txt names the source: itself, by a pattern, or with a variable in the name."""
    if path.name in text or re.search(r"GLOB\w*\s[^)]*\*" + re.escape(path.suffix), text):
        return True
    with_variable = re.findall(r"[\w.${}]*\$\{\w+\}[\w.${}]*\.c(?:pp)?\b", text)
    return any(re.fullmatch(re.sub(r"\\\$\\\{\w+\\\}", r"\\w+", re.escape(n)), path.name) for n in with_variable)


def reachable(tree):
    spelled = {}
    for name, text in tree.code():
        for found in INCLUDE.finditer(text):
            spelled.setdefault(found[2], set()).add(name)
            spelled.setdefault(str(PurePosixPath(name).parent / found[2]), set()).add(name)
    for name, text in tree.headers():
        users = (spelled.get(as_included(name), set()) | spelled.get(name, set())) - {name}
        public = PurePosixPath(name).parent == PurePosixPath("include/kgate")
        # A text for kgate-lab, compiled by it: the sheet of exercises names it instead.
        exercise = name.startswith("examples/exercises/") and PurePosixPath(name).name in tree.files.get("docs/exercises.md", "")
        if not users and not public and not exercise:
            yield name, "no file includes this header"
        if "#pragma once" not in text and not name.endswith(".h"):
            yield name, "a header without #pragma once"

    lists = {n: t for n, t in tree.files.items() if n.endswith(("CMakeLists.txt", ".cmake"))}
    for name in tree.files:
        path = PurePosixPath(name)
        if path.suffix in {".cpp", ".c"}:
            above = [lists[str(f / "CMakeLists.txt")] for f in path.parents if str(f / "CMakeLists.txt") in lists]
            if not any(names_source(t, path) for t in above):
                yield name, "no CMakeLists.txt above names this source"
        elif path.suffix in SCRIPTS:
            if not any(path.stem in t for n, t in tree.files.items() if n != name):
                yield name, "no other file mentions this script"

    if "README.md" in tree.files:
        seen, open_pages = set(), ["README.md"]
        while open_pages:
            page = open_pages.pop()
            if page in seen:
                continue
            seen.add(page)
            for target, _ in relative_links(page, tree.files.get(page, "")):
                if target.endswith(".md") and target in tree.files:
                    open_pages.append(target)
                elif any(n.startswith(target + "/") for n in tree.files) and f"{target}/README.md" in tree.files:
                    open_pages.append(f"{target}/README.md")
        for name in tree.files:
            if name.endswith(".md") and name not in seen and not name.startswith(".github/"):
                yield name, "no chain of links from README.md leads to this page"


def licence(tree):
    for name, text in tree.files.items():
        path = PurePosixPath(name)
        if path.suffix in NO_LICENCE_LINE and path.name != "CMakeLists.txt":
            continue
        # debian/copyright speaks for its room, whose files have forms of their own.
        if name in {"LICENSE", ".clang-format", ".gitignore"} or not text or name.startswith("debian/") and name != "debian/rules":
            continue
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in text.splitlines()[:3]):
            yield name, "no SPDX licence line on top"


def words(tree):
    for name, text in tree.files.items():
        if name == "LICENSE":
            continue
        for pattern, why in BANNED:
            for found in pattern.finditer(text):
                yield f"{name}:{line_of(text, found.start())}", f"'{found[0]}': {why}"
        if not name.startswith(DIALECT_ALLOWED):
            for found in DIALECT.finditer(text):
                yield f"{name}:{line_of(text, found.start())}", f"'{found[0]}': docs/glossary.md has the word for it"
        comment = COMMENT_OF.get(PurePosixPath(name).suffix)
        if comment and name.startswith(SPOKEN_OF_IN) and not name.startswith(DIALECT_ALLOWED):
            for one in (c for c in comment.finditer(text) if c[0].startswith(("/", "#"))):
                for found in SPOKEN_OF.finditer(one[0]):
                    if not found["people"]:
                        yield f"{name}:{line_of(text, one.start() + found.start())}", f"'{found[0]}' in a comment: docs/glossary.md, a process is \"it\""


def names(tree):
    for name, text in tree.files.items():
        if PurePosixPath(name).suffix not in CODE:
            continue
        code = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        for found in re.finditer(r"\b[a-zA-Z_]\w*", code):
            snake = "_".join(WORD_OF_NAME.findall(found[0])).lower()
            if NAMED_LINE.search(snake) or NAMED_AGAINST & set(NAMED_ALL_THE_SAME.sub("", snake).split("_")):
                yield f"{name}:{line_of(code, found.start())}", f"the name '{found[0]}': docs/glossary.md has the word for it"


def text_form(tree):
    for name, text in tree.files.items():
        count = text.count("\n")
        if count > LINES_MAX and name != "LICENSE":
            yield name, f"{count} lines; split what is longer than {LINES_MAX}"
        if text and not text.endswith("\n"):
            yield name, "no newline at the end"
        if "\r" in text:
            yield name, "carriage returns"
        for number, line in enumerate(text.splitlines(), 1):
            if line != line.rstrip() and not name.endswith(".md"):
                yield f"{name}:{number}", "blanks at the end of the line"
            if "\t" in line and PurePosixPath(name).suffix in CODE | SCRIPTS:
                yield f"{name}:{number}", "a tab"


def relative_links(page, text):
    """(path from the top, anchor) of the links that stay inside the tree. Code is no place for links."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for found in LINK.finditer(prose):
        if re.match(r"[a-z][a-z0-9+.-]*:", found[1]):
            continue
        path, _, anchor = found[1].partition("#")
        parts = []
        for part in (PurePosixPath(page).parent / path).parts if path else PurePosixPath(page).parts:
            if part == "..":
                parts = parts[:-1]
            elif part != ".":
                parts.append(part)
        yield "/".join(parts), anchor


def anchors(text):
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for title in re.findall(r"^#+\s+(.*?)\s*$", prose, re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        yield re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title).lower())


def rooms(tree):
    """The drawing of the rooms has every one below src."""
    page = "docs/architecture.md"
    for room in sorted({room_of(name) for name, _ in tree.code() if name.startswith("src/")} - {None}):
        if not re.search(rf"^{re.escape(room)}/ ", tree.files.get(page, ""), re.M):
            yield page, f"the drawing of the rooms lacks {room}/"


def documents(tree):
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "docs/architecture.md"):
        if name not in tree.files:
            yield name, "missing"
    readme = tree.files.get("README.md", "")
    block = re.search(r"^```sh\n(.*?)^```", readme, re.M | re.S)
    commands = block[1] if block else ""
    for command, pattern in (("./kgate or ./kgate-lab", r"^\./kgate(-lab)?\s"), ("./test", r"^\./test\s*(#.*)?$")):
        if not re.search(pattern, commands, re.M):
            yield "README.md", f"the first ```sh block lacks {command}"
    for name, text in tree.files.items():
        if not name.endswith(".md"):
            continue
        for target, anchor in relative_links(name, text):
            is_folder = any(n.startswith(target + "/") for n in tree.files)
            if target not in tree.files and not is_folder:
                yield name, f"a link leads to {target}, which does not exist"
            elif anchor and target.endswith(".md") and anchor not in anchors(tree.files[target]):
                yield name, f"a link leads to #{anchor} of {target}, which has no such heading"


def decisions(tree):
    """Decision records are numbered without holes."""
    records = sorted(name for name in tree.files if re.fullmatch(r"docs/decisions/\d{4}-[\w-]+\.md", name))
    for expected, name in enumerate(records, 1):
        if int(PurePosixPath(name).name[:4]) != expected:
            yield name, f"there is no record {expected}, or one twice"
            return


def namespaces(tree):
    """What is not for users is declared in kgate::detail."""
    for name, text in tree.headers():
        if not name.startswith("include/kgate/detail/") or name in WRITTEN_IN:
            continue
        for found in re.finditer(r"^namespace (kgate[\w:]*) \{\n(.*)", text, re.M):
            forward = re.fullmatch(r"(?:enum )?(?:class|struct) \w+(?: : [\w ]+)?;", found[2])
            if not found[1].startswith("kgate::detail") and not forward:
                yield f"{name}:{line_of(text, found.start())}", f"declares names in {found[1]}, not in kgate::detail"


def versions(tree):
    """The version is written once, in the header; what repeats it agrees, and so do the days of its release."""
    numbers = re.findall(r"^#define KGATE_VERSION_[A-Z]+ (\d+)$", tree.files.get("include/kgate/version.hpp", ""), re.M)
    for name, pattern in (("CITATION.cff", r"^version: (\S+)$"), ("debian/changelog", r"^kgate \(([^)]+)\)"),
                          ("CHANGELOG.md", r"^## (\d\S*)"), ("packaging/vcpkg/kgate/vcpkg.json", r'"version": "([^"]+)"')):
        found = re.search(pattern, tree.files.get(name, ""), re.M)
        if found and found[1] != ".".join(numbers):
            yield name, f"version {found[1]}, but include/kgate/version.hpp says {'.'.join(numbers)}"
    day = re.search(r"^## \d\S* - (\S+)$", tree.files.get("CHANGELOG.md", ""), re.M)
    cited = re.search(r"^date-released: (\S+)$", tree.files.get("CITATION.cff", ""), re.M)
    packed = re.search(r"^ -- .*  \w{3}, (\d+ \w{3} \d+) ", tree.files.get("debian/changelog", ""), re.M)
    if day and cited and cited[1] != day[1]:
        yield "CITATION.cff", f"released on {cited[1]}, but CHANGELOG.md says {day[1]}"
    if day and packed and datetime.datetime.strptime(packed[1], "%d %b %Y").date().isoformat() != day[1]:
        yield "debian/changelog", f"released on {packed[1]}, but CHANGELOG.md says {day[1]}"


def evidence(tree):
    """What an algorithm's header names as its evidence exists."""
    for name, text in tree.headers():
        if not name.startswith("include/kgate/algorithms/"):
            continue
        comment = "\n".join(line for line in text.splitlines() if line.startswith("///"))
        for path in re.findall(r"\btests/[\w/]+", comment):
            path = path.rstrip("/")
            if not any(n.startswith((path + "/", path + ".")) or n == path for n in tree.files):
                yield name, f"names {path} as evidence, which does not exist"


RULES = [decisions, versions, evidence, namespaces, includes, rooms, placement, reachable, licence, words, names, text_form, documents]


def faults(root):
    tree = Tree(root)
    return [(rule.__name__, where, what) for rule in RULES for where, what in rule(tree)]


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("usage: tidy.py ROOT", file=sys.stderr)
        return 2
    found = faults(sys.argv[1])
    for rule, where, what in found:
        print(f"{where}: {what} [{rule}]")
    print(f"tidy: {len(found)} fault{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

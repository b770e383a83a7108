# SPDX-License-Identifier: Apache-2.0
"""Reference pages from what the compiler reads: the headers by Doxygen's XML, the Python package by its stubs and documentation."""
import ast
import re
import subprocess
import tempfile
import xml.etree.ElementTree
from pathlib import Path

SETTINGS = """
INPUT = {include} {include}/asio {include}/objects
FILE_PATTERNS = *.hpp *.h
RECURSIVE = NO
EXCLUDE_SYMBOLS = kgate::detail* detail
EXTRACT_ALL = YES
JAVADOC_AUTOBRIEF = YES
PREDEFINED = KGATE_API= KGATE_CHECKED=
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
QUIET = YES
WARNINGS = NO
OUTPUT_DIRECTORY = {output}
"""
# Headers beside those directly in include/kgate that users include, or get with these: what is lent to Asio, and the objects there are.
OTHERS = ("asio/boost.hpp", "asio/boost_gate.hpp", "asio/standalone.hpp", "asio/standalone_gate.hpp", "objects/counter.hpp", "objects/fifo.hpp",
          "objects/map.hpp", "objects/priority_queue.hpp", "objects/sequential.hpp")
SECTIONS = ("public-type", "public-static-func", "public-func", "public-attrib", "public-static-attrib", "func", "typedef", "enum", "var",
            "define", "user-defined")


def words(element):
    """An element's text in one line, without markup but for code."""
    if element is None:
        return ""
    text = element.text or ""
    for child in element:
        inner = words(child)
        text += f"`{inner}`" if child.tag == "computeroutput" else inner
        text += child.tail or ""
    return text


def described(element):
    """A description's paragraphs."""
    for para in element if element is not None else ():
        if para.tag != "para":
            continue
        text = para.text or ""
        for child in para:
            if child.tag in ("verbatim", "preformatted", "programlisting"):
                text += f"\n\n```cpp\n{(child.text or '').rstrip()}\n```\n\n"
            elif child.tag == "simplesect":
                text += f"\n\n*{child.get('kind').capitalize()}:* {words(child).strip()}"
            elif child.tag == "parameterlist":
                for item in child:
                    text += f"\n\n*Throws* `{words(item.find('parameternamelist')).strip()}`: {words(item.find('parameterdescription')).strip()}"
            elif child.tag == "computeroutput":
                text += f"`{words(child)}`"
            else:
                text += words(child)
            text += child.tail or ""
        yield text.strip().replace("<", "&lt;") if "```" not in text else text.strip()


def description(member):
    parts = [*described(member.find("briefdescription")), *described(member.find("detaileddescription"))]
    return "\n\n".join(p for p in parts if p)


def template_of(element):
    parameters = element.find("templateparamlist")
    if parameters is None:
        return ""
    names = []
    for one in parameters:
        name = words(one.find("type")) + (f" {one.findtext('declname')}" if one.findtext("declname") else "")
        default = words(one.find("defval"))
        names.append(name + (f" = {default}" if default else ""))
    return f"template <{', '.join(names)}>\n"


def wrapped(text, width=76):
    """A declaration of several lines if one would be too long: its arguments, as many in a line as fit."""
    lines = text.split("\n")
    last, opened = lines[-1], lines[-1].find("(")
    if len(last) <= width or opened < 0:
        return text
    depth, start, parts = 0, opened + 1, []
    for at in range(opened, len(last)):
        depth += (last[at] in "([{<") - (last[at] in ")]}" or last[at] == ">" and last[at - 1] != "-")
        if depth == 0 or depth == 1 and last[at] == ",":
            parts.append(last[start:at + 1].strip())
            start = at + 1
        if depth == 0:
            break
    lines[-1:] = [last[:opened + 1]]
    for part in parts:
        if lines[-1].startswith("    ") and len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    lines[-1] += last[start:]
    return "\n".join(lines)


def signature(member):
    kind, name = member.get("kind"), member.findtext("name")
    if kind == "enum":
        values = ",\n".join(f"  {v.findtext('name')}{' ' + words(v.find('initializer')) if v.find('initializer') is not None else ''}"
                            for v in member.findall("enumvalue"))
        return f"enum {name} {{\n{values}\n}};"
    if kind == "define":
        parameters = ", ".join(p.findtext("defname") or "" for p in member.findall("param"))
        return f"#define {name}{f'({parameters})' if member.findall('param') else ''} {words(member.find('initializer'))}".rstrip()
    declared = f"{words(member.find('type'))} {name}".strip()
    if kind == "typedef":
        text = re.sub(r"\bkgate::(?=\w)", "", member.findtext("definition"))
        return template_of(member) + text + ";"
    text = template_of(member) + ("static " if member.get("static") == "yes" else "") + ("explicit " if member.get("explicit") == "yes" else "")
    text += declared + (member.findtext("argsstring") or "") + " " + words(member.find("initializer"))
    return wrapped(re.sub(r"\s+(?=;)", "", re.sub(r" +", " ", text).strip() + ";"))


def of_members(compound, level, only=lambda member: True, space=""):
    """The public members, those that overload one name together, under their names in a namespace. A friend or a deleted copy says nothing to users."""
    groups = {}
    for section in compound.findall("sectiondef"):
        if section.get("kind") not in SECTIONS:
            continue
        for member in section.findall("memberdef"):
            name = member.findtext("name")
            if only(member) and not name.startswith(("@", "~", "KGATE_API", "KGATE_CHECKED")) and "=delete" not in (member.findtext("argsstring") or ""):
                groups.setdefault(name, []).append(member)
    for name, members in groups.items():
        yield f"{'#' * level} `{space}{name}`"
        for member in members:
            yield f"```cpp\n{signature(member)}\n```"
            text = description(member)
            values = [f"- `{v.findtext('name')}`: {description(v)}" for v in member.findall("enumvalue") if description(v)]
            yield "\n\n".join(filter(None, [text, "\n".join(values)]))


def header_comment(path):
    """What stands on top of a header: its example as code, its rules (a word, a gap, what holds) and lists as lists."""
    text = path.read_text()
    block = re.search(r"^/// ?(?:.*\n)(?:///.*\n)*", text, re.M) or re.search(r"(?<=^/\*\*\n)(?: \*.*\n)+?(?= \*/)", text, re.M)
    lines, code, item = [], False, False
    for line in block[0].split("\n") if block else ():
        line = re.sub(r"^(///| \*) ?", "", line)
        if line.strip() in ("@code", "@endcode"):
            continue
        rule = not code and (re.match(r"(\w+) {2,}(\S.*)$", line) or re.match(r" *(-) (.*)$", line))
        if rule or item and line.strip() and line.startswith("  "):
            shown = (f"- {rule[2]}" if rule[1] == "-" else f"- **{rule[1]}**: {rule[2]}") if rule else "  " + line.strip()
            lines += ["", shown.replace("<", "&lt;")] if rule and not item else [shown.replace("<", "&lt;")]
            item = True
            continue
        item = False
        indented = line.startswith(("    ", "  ")) or code and not line.strip()
        if indented and not code:
            lines += ["", "```cpp"]
        if code and line.strip() and not indented:
            lines += ["```", ""]
            indented = False
        code = indented
        lines.append(line[2:] if indented else line.replace("<", "&lt;"))
    return "\n".join(lines + (["```"] if code else [])).strip()


class Headers:
    """The headers that users include."""

    def __init__(self, root):
        self.include = root / "include/kgate"
        self.folder = tempfile.TemporaryDirectory()
        settings = Path(self.folder.name, "settings")
        settings.write_text(SETTINGS.format(include=self.include, output=self.folder.name))
        subprocess.run(["doxygen", settings], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.compounds = {}
        for path in Path(self.folder.name, "xml").glob("*.xml"):
            for compound in xml.etree.ElementTree.parse(path).getroot().findall("compounddef"):
                self.compounds[compound.get("id")] = compound

    def in_file(self, name):
        """The classes and concepts that a header declares for users, outer ones first."""
        found = [c for c in self.compounds.values() if c.get("kind") in ("class", "struct", "concept") and c.get("prot") != "private"
                 and c.find("location") is not None and c.find("location").get("file", "").endswith("kgate/" + name)
                 and "detail" not in c.findtext("compoundname")]
        hidden = {c.findtext("compoundname") for c in self.compounds.values() if c.get("prot") in ("private", "protected")}
        return sorted((c for c in found if not any(c.findtext("compoundname").startswith(h + "::") for h in hidden)),
                      key=lambda c: int(c.find("location").get("line")))

    def free(self, name):
        """Functions, types and constants outside classes, in whatever namespace users name."""
        for compound in self.compounds.values():
            space = compound.findtext("compoundname") if compound.get("kind") == "namespace" else ""
            if "detail" in space or not space and (compound.get("kind") != "file" or compound.findtext("compoundname") != name.split("/")[-1]):
                continue
            yield from of_members(compound, 2, lambda m: m.find("location").get("file", "").endswith("kgate/" + name),
                                  "".join(f"{part}::" for part in space.split("::")[1:]))

    def page(self, path):
        file = str(path.relative_to(self.include))
        parts = [f"# kgate/{file}", header_comment(path)]
        for compound in self.in_file(file):
            name, kind = compound.findtext("compoundname"), compound.get("kind")
            declared = words(compound.find("initializer")) if kind == "concept" else f"{template_of(compound)}{kind} {name};"
            parts += [f"## `{name}`", f"```cpp\n{declared}\n```", description(compound)]
            parts += of_members(compound, 3)
        parts += self.free(file)
        return "\n\n".join(p for p in parts if p) + "\n"

    def pages(self):
        for path in [*sorted([*self.include.glob("*.hpp"), self.include / "kgate.h"]), *(self.include / name for name in OTHERS)]:
            yield str(path.relative_to(self.include)), self.page(path)


def native_texts(folder):
    """What the compiled part says of each method and property, by class and name; what is called first is left out."""
    texts = {}
    for path in sorted(folder.glob("*.c")):
        for kind, table in re.findall(r"^static Py\w+Def (\w+?)_(?:methods|properties|members)\[\] = \{(.*?)\};", path.read_text(), re.M | re.S):
            for name, text in re.findall(r'\{"(\w+)", [^"{}]*?"((?:[^"]|"\s*")*)"', table):
                text = re.sub(r'"\s+"', "", text)
                text = re.sub(rf"^{name}\([^)]*\): ", "", text)
                texts[kind, name] = text[:1].upper() + text[1:].rstrip(".") + "."
    return texts


def python_page(root):
    """Classes and functions of the package: signatures by the stubs, words by the documentation of the source."""
    source = root / "bindings/python/src"
    trees = [ast.parse((source / "kgate" / name).read_text()) for name in ("__init__.py", "_native.pyi", "_machines.py")]
    listed = next(ast.literal_eval(n.value) for n in trees[0].body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__")
    texts = native_texts(source / "native")
    parts = ["# The Python package", ast.get_docstring(trees[0]).split("\n\n    import")[0]]
    for name in listed:
        kinds = [n for t in trees for n in t.body if getattr(n, "name", None) == name]
        hidden = {base.id for n in kinds if isinstance(n, ast.ClassDef) for base in n.bases if isinstance(base, ast.Name) and base.id.startswith("_")}
        kinds += [n for t in trees for n in t.body if getattr(n, "name", None) in hidden]
        for node in kinds[:1]:
            parts += [f"## `{name}`", ast.get_docstring(node) or texts.get(("module", name), "")]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                parts += [f"```python\n{signature_of(node)}\n```"]
        members = {}
        for node in kinds:
            for member in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(member, ast.AnnAssign) and not member.target.id.startswith("_"):
                    parts += [f"- `{ast.unparse(member)}`"]
                if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
                        not member.name.startswith("_") or member.name == "__init__" and name != "ClusterPermit"):
                    members.setdefault(member.name, member)
        for member in members.values():
            parts += [f"### `{name}.{member.name}`", f"```python\n{signature_of(member)}\n```",
                      ast.get_docstring(member) or texts.get((name.lower().removeprefix("cluster"), member.name), "").replace('"\n', "")]
    return "\n\n".join(re.sub(r'"\s+"', "", p) for p in parts if p) + "\n"


def signature_of(node):
    head = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    decorators = [ast.unparse(d) for d in node.decorator_list]
    prefix = "".join(f"@{d}\n" for d in decorators if not d.rpartition(".")[2].startswith("_"))
    arguments = re.sub(r"(?<=[\w\]])=", " = ", ast.unparse(node.args)).replace("mode: int = 384", "mode: int = 0o600")
    return wrapped(f"{prefix}{head} {node.name}({arguments})" + (f" -> {ast.unparse(node.returns)}" if node.returns else ""))

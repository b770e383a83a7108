# SPDX-License-Identifier: Apache-2.0
"""Manual pages as pages of the book. They use few macros, and an unknown one is an error."""
import re


def plain(text):
    text = text.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "").replace("\\e", "\\\\")
    text = text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_").replace("|", "\\|")
    pieces = re.split(r"\\f([BIRP])", text)
    marks = {"B": "**", "I": "*"}
    shown = pieces[0]
    for font, piece in zip(pieces[1::2], pieces[2::2]):
        mark = marks.get(font, "") if piece.strip() else ""
        shown += mark + piece + mark
    return shown


def arguments(text):
    return [a or b for a, b in re.findall(r'"((?:[^"]|"")*)"|(\S+)', text)]


def alternating(macro, text):
    """The words of .BR and its like, in turns of two fonts."""
    marks = {"B": "**", "I": "*", "R": ""}
    return "".join(f"{marks[macro[1 + i % 2]]}{plain(w).strip() or plain(w)}{marks[macro[1 + i % 2]]}" for i, w in enumerate(arguments(text)))


def page(text, link=lambda name, section: None):
    """Markdown of a manual page."""
    out, code, tag = [], False, False

    def say(line):
        nonlocal tag
        if tag:
            out.append(f"\n{line}\n")
            out.append(": ")
            tag = False
        elif out and out[-1] == ": ":
            out[-1] += line
        else:
            out.append(line)

    for line in text.split("\n"):
        if line.startswith('.\\"'):
            continue
        macro, _, rest = line.partition(" ")
        if code and macro not in (".EE", ".fi"):
            out.append(re.sub(r"\\f[BIRP]", "", line.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace("\\&", "")))
        elif macro == ".TH":
            name, section = arguments(rest)[:2]
            out.append(f"# {name.lower().replace(chr(92), '')}({section})")
        elif macro == ".SH":
            out.append(f"\n## {plain(rest.strip(chr(34)).capitalize())}\n")
        elif macro == ".SS":
            out.append(f"\n### {plain(rest.strip(chr(34)))}\n")
        elif macro in (".PP", ".P", ".LP", ".sp", ".RS", ".RE", ".br", ".in"):
            out.append("")
        elif macro in (".TP", ".IP"):
            tag = True
            if macro == ".IP" and rest:
                say(plain(arguments(rest)[0]))
        elif macro in (".EX", ".nf"):
            out.append("\n```sh")
            code = True
        elif macro in (".EE", ".fi"):
            out.append("```\n")
            code = False
        elif macro in (".B", ".I"):
            mark = "**" if macro == ".B" else "*"
            say(f"{mark}{plain(rest.strip(chr(34)))}{mark}")
        elif macro in (".BR", ".BI", ".IR", ".RB", ".IB", ".RI"):
            target = re.match(r"(\S+) \((\d)\)", rest.replace("\\-", "-"))
            where = link(target[1], target[2]) if target else None
            say(f"[{target[1]}({target[2]})]({where}){rest.partition(')')[2]}" if where else alternating(macro, rest))
        elif macro.startswith(".") and macro[1:2].isalpha():
            raise ValueError(f"macro {macro} is not known here")
        elif line:
            say(plain(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip() + "\n"

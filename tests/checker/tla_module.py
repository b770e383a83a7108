# SPDX-License-Identifier: Apache-2.0
"""Reads and runs the part of TLA+ that kgate-lab export writes, strictly: what is not in that part is an error.

Lists of /\\ and \\/ are by columns, as in TLA+: an item ends where a token stands at or left of its bullet's column. An action
must say of every variable what it is afterwards, exactly once.
"""
import re

TOKEN = re.compile(r'\\\*[^\n]*|/\\|\\/|\\[A-Za-z]+|<<|>>|\|->|->|==|<=|\.\.|\[\]_|\[\]|"[^"\n]*"|[A-Za-z_]\w*|\d+|[\[\](){},:\'=#!+\-~]')


class Wrong(Exception):
    pass


def tokens_of(text):
    found = []
    for number, line in enumerate(text.splitlines()):
        at = 0
        while at < len(line):
            if line[at] == " ":
                at += 1
                continue
            match = TOKEN.match(line, at)
            if not match:
                raise Wrong(f"line {number + 1}: {line[at:]!r}")
            if not match[0].startswith("\\*"):
                found.append((match[0], number, at))
            at = match.end()
    return found


class Parser:
    """Expressions become nested tuples: (kind, parts...)."""

    def __init__(self, tokens):
        self.tokens, self.at, self.columns = tokens, 0, [-1]

    def peek(self):
        if self.at == len(self.tokens):
            return None
        word, line, column = self.tokens[self.at]
        first = self.at == 0 or self.tokens[self.at - 1][1] < line
        return None if first and column <= self.columns[-1] else word

    def take(self, wanted=None):
        word = self.peek()
        if word is None or (wanted is not None and word != wanted):
            raise Wrong(f"{wanted or 'something'} is needed, not {word}, at {self.tokens[self.at - 1:self.at + 2]}")
        self.at += 1
        return word

    def has(self, word):
        if self.peek() == word:
            self.at += 1
            return True
        return False

    def expression(self):
        if self.peek() in ("/\\", "\\/"):
            return self.bullets()
        first = self.conjunct()
        while self.peek() == "/\\":
            self.take()
            first = ("and", [first, self.conjunct()])
        return first

    def bullets(self):
        bullet, _, column = self.tokens[self.at]
        items = []
        while self.at < len(self.tokens) and self.tokens[self.at][0] == bullet and self.tokens[self.at][2] == column:
            self.at += 1
            self.columns.append(column)
            items.append(self.expression())
            if self.peek() is not None:
                raise Wrong(f"{self.peek()} after an item of a list")
            self.columns.pop()
        return ("and" if bullet == "/\\" else "or", items)

    def conjunct(self):
        if self.peek() in ("\\E", "\\A"):
            kind, name = self.take(), self.take()
            self.take("\\in")
            domain = self.sum()
            self.take(":")
            return (kind, name, domain, self.expression())
        if self.has("UNCHANGED"):
            return ("unchanged", self.sequence())
        if self.has("~"):
            return ("not", self.conjunct())
        left = self.sum()
        if self.peek() in ("=", "#", "<=", "\\in"):
            return (self.take(), left, self.sum())
        return left

    def sum(self):
        left = self.unit()
        while self.peek() in ("+", "-", ".."):
            left = (self.take(), left, self.unit())
        return left

    def sequence(self):
        self.take("<<")
        names = [self.take()]
        while self.has(","):
            names.append(self.take())
        self.take(">>")
        return names

    def unit(self):
        word = self.take()
        if word == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if word == "-":
            return ("value", -int(self.take()))
        if word.isdigit():
            return ("value", int(word))
        if word in ("TRUE", "FALSE"):
            return ("value", word == "TRUE")
        if word.startswith('"'):
            return ("value", word[1:-1])
        if word == "{":
            return self.set_in_braces()
        if word == "[":
            return self.function()
        if not re.fullmatch(r"[A-Za-z_]\w*", word):
            raise Wrong(f"an expression cannot begin with {word}")
        return self.name(word)

    def name(self, word):
        if self.has("'"):
            return ("primed", word)
        if self.has("["):
            index = self.sum()
            self.take("]")
            return ("apply", word, index)
        if self.has("("):
            argument = self.expression()
            self.take(")")
            return ("call", word, argument)
        return ("name", word)

    def set_in_braces(self):
        items = [] if self.peek() == "}" else [self.sum()]
        if items and self.has("\\in"):
            domain = self.sum()
            self.take(":")
            kept = ("filter", items[0][1], domain, self.expression())
            self.take("}")
            return kept
        while self.has(","):
            items.append(self.sum())
        self.take("}")
        return ("set", items)

    def function(self):
        name = self.take()
        if self.has("EXCEPT"):
            self.take("!")
            self.take("[")
            index = self.sum()
            self.take("]")
            self.take("=")
            value = self.sum()
            self.take("]")
            return ("except", name, index, value)
        self.take("\\in")
        domain = self.sum()
        self.take("|->")
        value = self.cases() if self.has("CASE") else self.sum()
        self.take("]")
        return ("function", name, domain, value)

    def cases(self):
        all_of = []
        while True:
            condition = self.conjunct()
            self.take("->")
            all_of.append((condition, self.sum()))
            if not self.has("[]"):
                return ("case", all_of)


class Module:
    def __init__(self, text):
        head, body = re.fullmatch(r"---- MODULE (\w+) ----\n(.*)\n====\n", text, re.S).groups()
        self.name, self.variables, self.definitions = head, [], {}
        chunk, pieces = [], []
        for token in tokens_of(body):
            if token[2] == 0 and chunk:
                pieces.append(chunk)
                chunk = []
            chunk.append(token)
        for piece in pieces + [chunk]:
            self.read(piece)

    def read(self, piece):
        words = [word for word, _, _ in piece]
        if words[0] == "EXTENDS":
            assert words[1:] == ["Integers", ",", "FiniteSets"], words
        elif words[0] == "VARIABLES":
            self.variables = words[1::2]
        elif words[0] in ("Spec", "Fair", "vars"):
            pass  # temporal: nothing here judges it
        else:
            parameter = words[2] if words[1] == "(" else None
            start = words.index("==") + 1
            parser = Parser([(w, n, c) for w, n, c in piece[start:]])
            parsed = parser.expression()
            if parser.at != len(parser.tokens) or words[0] in self.definitions:
                raise Wrong(f"the definition of {words[0]}")
            self.definitions[words[0]] = (parameter, parsed)

    def value(self, e, state, names):
        kind = e[0]
        if kind == "value":
            return e[1]
        if kind == "name":
            if e[1] in names:
                return names[e[1]]
            if e[1] in state:
                return state[e[1]]
            return self.value(self.definitions[e[1]][1], state, {})
        if kind == "apply":
            return dict(state[e[1]])[self.value(e[2], state, names)]
        if kind == "call":
            if e[1] == "Cardinality":
                return len(self.value(e[2], state, names))
            parameter, body = self.definitions[e[1]]
            return self.value(body, state, {parameter: self.value(e[2], state, names)})
        if kind == "set":
            return {self.value(one, state, names) for one in e[1]}
        if kind == "filter":
            return {i for i in self.value(e[2], state, names) if self.value(e[3], state, {**names, e[1]: i})}
        if kind == "and":
            return all(self.value(one, state, names) for one in e[1])
        if kind == "or":
            return any(self.value(one, state, names) for one in e[1])
        if kind == "not":
            return not self.value(e[1], state, names)
        if kind == "function":
            return tuple((i, self.value(e[3], state, {**names, e[1]: i})) for i in sorted(self.value(e[2], state, names)))
        if kind == "case":
            return next(self.value(v, state, names) for c, v in e[1] if self.value(c, state, names))
        if kind == "except":
            changed = dict(state[e[1]])
            index = self.value(e[2], state, names)
            if index not in changed:
                raise Wrong(f"{e[1]}[{index}]")
            changed[index] = self.value(e[3], state, names)
            return tuple(sorted(changed.items()))
        left, right = self.value(e[1], state, names), self.value(e[2], state, names)
        return {"=": lambda: left == right, "#": lambda: left != right, "<=": lambda: left <= right, "\\in": lambda: left in right,
                "+": lambda: left + right, "-": lambda: left - right, "..": lambda: set(range(left, right + 1))}[kind]()

    def steps(self, e, state, names, after):
        """Every way in which the action can be true, as the values after it."""
        kind = e[0]
        if kind == "and":
            if not e[1]:
                yield after
                return
            for more in self.steps(e[1][0], state, names, after):
                yield from self.steps(("and", e[1][1:]), state, names, more)
        elif kind == "or":
            for one in e[1]:
                yield from self.steps(one, state, names, after)
        elif kind == "\\E":
            for i in sorted(self.value(e[2], state, names)):
                yield from self.steps(e[3], state, {**names, e[1]: i}, after)
        elif kind == "call" and e[1] in self.definitions:
            parameter, body = self.definitions[e[1]]
            yield from self.steps(body, state, {parameter: self.value(e[2], state, names)}, after)
        elif kind == "=" and e[1][0] == "primed":
            yield self.settled(after, e[1][1], self.value(e[2], state, names))
        elif kind == "unchanged":
            for name in e[1]:
                after = self.settled(after, name, state[name])
            yield after
        elif self.value(e, state, names):
            yield after

    @staticmethod
    def settled(after, name, value):
        if name in after:
            raise Wrong(f"{name}' is said twice")
        return {**after, name: value}

    def explore(self):
        """The numbers of states and of steps, and whether Exclusion is true in all."""
        conditions = self.definitions["Init"][1][1]
        start = {c[1][1]: self.value(c[2], {}, {}) for c in conditions}
        if set(start) != set(self.variables):
            raise Wrong(f"Init: {set(start)} for {self.variables}")
        key = lambda s: tuple(s[v] for v in self.variables)
        seen, front, steps, kept = {key(start)}, [start], 0, True
        while front:
            state = front.pop()
            kept = kept and self.value(self.definitions["Exclusion"][1], state, {})
            for after in self.steps(self.definitions["Next"][1], state, {}, {}):
                if set(after) != set(self.variables):
                    raise Wrong(f"a step leaves open {set(self.variables) - set(after)}")
                steps += 1
                if key(after) not in seen:
                    seen.add(key(after))
                    front.append(after)
        return len(seen), steps, kept

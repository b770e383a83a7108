# SPDX-License-Identifier: Apache-2.0
"""The states and steps of some algorithms, counted from the papers without anything of ours.

Each algorithm is a function from where a process stands (a tuple: the paper's line, then the private variables that are still
needed there) and the shared memory (a dict) to where it stands after its next access, written from the paper's pseudocode.
A process in its remainder stands before its first access; one that is inside, before the first access of its exit.
"""
from itertools import chain

REMAINDER = ("remainder",)
DONE = ("done",)
BLOCKED = None


class Memory(dict):
    """Shared variables; `but` gives a copy in which one has another value."""

    def but(self, name, value):
        changed = Memory(self)
        changed[name] = value
        return changed

    def frozen(self):
        return tuple(sorted(self.items(), key=repr))


def count(algorithm, N, k, passages=0):
    """The numbers of reachable states and of steps between them, with `passages` of each process (0: without limit)."""
    text = algorithm(N, k)
    names = sorted(text.initial, key=repr)

    def pack(where, memory):
        return where, tuple(memory[name] for name in names)

    start = pack(tuple((0, REMAINDER) for _ in range(N)), text.initial)
    seen = {start}
    frontier = [start]
    steps = 0
    while frontier:
        ahead = []
        for where, values in frontier:
            memory = Memory(zip(names, values))
            for p in range(N):
                passage, local = where[p]
                if local == DONE:
                    continue
                after = text.step(p, text.begin(p) if local == REMAINDER else local, memory)
                if after is BLOCKED:
                    continue
                steps += 1
                local, changed = after
                if local == REMAINDER and passages > 0:
                    passage += 1
                    if passage == passages:
                        local = DONE
                state = pack(where[:p] + ((passage, local),) + where[p + 1:], changed)
                if state not in seen:
                    seen.add(state)
                    ahead.append(state)
        frontier = ahead
    return len(seen), steps


def others(p, N, after=-1):
    return [i for i in range(after + 1, N) if i != p]


class Blocks:
    """Anderson and Moir, figure 4: N-k blocks one inside the other, the outermost for N-1."""

    def __init__(self, N, k):
        self.N = N
        self.levels = N - k
        self.slots = [N - 1 - level for level in range(self.levels)]

    def begin(self, _p):
        return ("2", 0)

    def inward(self, level):
        return ("2", level + 1) if level + 1 < self.levels else (self.leaving, level)

    def outward(self, level):
        return (self.leaving, level - 1) if level > 0 else REMAINDER


class Figure3(Blocks):
    """Anderson and Moir 1997, figure 3: X counts free slots down, Q names the one that waits."""

    leaving = "7"

    def __init__(self, N, k):
        super().__init__(N, k)
        self.initial = Memory(chain(((("X", i), s) for i, s in enumerate(self.slots)), ((("Q", i), 0) for i in range(self.levels))))

    def step(self, p, at, m):
        line, level = at
        X, Q = ("X", level), ("Q", level)
        if line == "2":
            return (("3", level) if m[X] == 0 else self.inward(level)), m.but(X, m[X] - 1)
        if line == "3":
            return ("4", level), m.but(Q, p)
        if line == "4":
            return (("5", level) if m[X] < 0 else self.inward(level)), m
        if line == "5":
            return BLOCKED if m[Q] == p else (self.inward(level), m)
        if line == "7":
            return ("8", level), m.but(X, m[X] + 1)
        return self.outward(level), m.but(Q, p)


class Figure8(Blocks):
    """Anderson and Moir 1997, figure 8: each waits on a word of its own, P."""

    leaving = "10"

    def __init__(self, N, k):
        super().__init__(N, k)
        self.initial = Memory()
        for i, slots in enumerate(self.slots):
            self.initial["X", i] = slots
            self.initial["Q", i] = 0
            for p in range(N):
                self.initial["P", i, p] = p != 0

    def step(self, p, at, m):
        line, level = at[0], at[1]
        X, Q, P = ("X", level), ("Q", level), ("P", level, p)
        if line == "2":
            return (("3", level) if m[X] == 0 else self.inward(level)), m.but(X, m[X] - 1)
        if line == "3":
            return ("4", level, m[Q]), m
        if line == "4":
            word = ("P", level, at[2])
            return (self.inward(level) if m[word] else ("5", level)), m.but(word, True)
        if line == "5":
            return ("6", level), m.but(Q, p)
        if line == "6":
            return ("7", level), m.but(P, False)
        if line == "7":
            return (("8", level) if m[X] < 0 else self.inward(level)), m
        if line == "8":
            return (self.inward(level), m) if m[P] else BLOCKED
        if line == "10":
            return ("11", level), m.but(X, m[X] + 1)
        if line == "11":
            return ("12", level, m[Q]), m
        if line == "12":
            word = ("P", level, at[2])
            return (self.outward(level) if m[word] else ("13", level)), m.but(word, True)
        if line == "13":
            return ("14", level), m.but(Q, p)
        return self.outward(level), m.but(P, False)


INFINITY = float("inf")


class Danek:
    """Danek 2010, figure 2. Without Capture it is the algorithm for k-FCFS, with it the one for FIFE."""

    fife = False

    def __init__(self, N, k):
        self.N, self.k = N, k
        self.initial = Memory()
        for p in range(N):
            self.initial["Ticket", p] = 0
            for i in others(p, N):
                self.initial["Want", p, i] = INFINITY
                if self.fife:
                    self.initial["Capture", p, i] = 0

    def begin(self, _p):
        return ("14t",)

    def each(self, p, line, after, *private, then):
        """The next round of `for i <> p`, or what comes behind the loop."""
        left = others(p, self.N, after)
        return (line, left[0], *private) if left else then

    def polls(self, p, T, ahead, captured=False):
        """The head of the loop of lines 17 to 22."""
        if len(ahead) < self.k or captured:
            return self.enter(p, T)
        return ("21", min(ahead), T, ahead)

    def enter(self, p, T):
        return self.each(p, "23", -1, T, then=None) if self.fife else self.inside(p)

    def inside(self, p):
        return self.each(p, "25", -1, then=None)

    def step(self, p, at, m):
        line = at[0]
        if line == "14t":
            last = m["Ticket", p]
            return self.each(p, "14", -1, last, then=None), m
        if line == "14":
            _, i, last = at
            return self.each(p, "14", i, last, then=self.each(p, "15r", -1, last, then=None)), m.but(("Want", p, i), last)
        if line == "15r":
            _, i, T = at
            T = max(T, m["Ticket", i])
            return self.each(p, "15r", i, T, then=("15w", T + 1)), m
        if line == "15w":
            T = at[1]
            return self.each(p, "16", -1, T, then=None), m.but(("Ticket", p), T)
        if line == "16":
            _, i, T = at
            everybody = frozenset(others(p, self.N))
            return self.each(p, "16", i, T, then=self.polls(p, T, everybody)), m.but(("Want", p, i), T)
        if line == "21":
            _, i, T, ahead = at
            if (T, p) < (m["Want", i, p], i):
                ahead = ahead - {i}
            rest = [q for q in ahead if q > i]
            if rest:
                return ("21", rest[0], T, ahead), m
            if self.fife:
                return self.each(p, "22", -1, T, ahead, False, then=None), m
            return self.polls(p, T, ahead), m
        if line == "22":
            _, i, T, ahead, captured = at
            captured = captured or T < m["Capture", i, p]
            return self.each(p, "22", i, T, ahead, captured, then=self.polls(p, T, ahead, captured)), m
        if line == "23":
            _, i, T = at
            return self.each(p, "23", i, T, then=self.inside(p)), m.but(("Capture", p, i), T)
        _, i = at
        return self.each(p, "25", i, then=REMAINDER), m.but(("Want", p, i), INFINITY)


class DanekFife(Danek):
    fife = True


class Peterson:
    """Peterson's filter with N-k levels: at level j one waits while another has come as far and itself came last."""

    def __init__(self, N, k):
        self.N = N
        self.levels = N - k
        self.initial = Memory()
        for p in range(N):
            self.initial["Q", p] = 0
        for j in range(1, self.levels + 1):
            self.initial["TURN", j] = 0

    def begin(self, _p):
        return ("1", 1)

    def step(self, p, at, m):
        line = at[0]
        if line == "5":
            return REMAINDER, m.but(("Q", p), 0)
        j = at[1]
        if line == "1":
            return ("2", j), m.but(("Q", p), j)
        if line == "2":
            return ("3", j, others(p, self.N)[0]), m.but(("TURN", j), p)
        if line == "3":
            q = at[2]
            if m["Q", q] >= j:
                return ("4", j), m
            left = others(p, self.N, q)
            return (("3", j, left[0]) if left else self.above(j)), m
        return (("3", j, others(p, self.N)[0]) if m["TURN", j] == p else self.above(j)), m

    def above(self, j):
        return ("1", j + 1) if j < self.levels else ("5",)


class Mcs:
    """Mellor-Crummey and Scott 1991: a queue of the waiting, each on a word of its own."""

    def __init__(self, N, _k):
        self.initial = Memory({"tail": None})
        for p in range(N):
            self.initial["next", p] = None
            self.initial["locked", p] = False

    def begin(self, _p):
        return ("1",)

    def step(self, p, at, m):
        line = at[0]
        if line == "1":
            return ("2",), m.but(("next", p), None)
        if line == "2":
            return (("6",) if m["tail"] is None else ("3", m["tail"])), m.but("tail", p)
        if line == "3":
            return ("4", at[1]), m.but(("locked", p), True)
        if line == "4":
            return ("5",), m.but(("next", at[1]), p)
        if line == "5":
            return BLOCKED if m["locked", p] else (("6",), m)
        if line == "6":
            successor = m["next", p]
            return (("7",) if successor is None else ("9", successor)), m
        if line == "7":
            return (REMAINDER, m.but("tail", None)) if m["tail"] == p else (("8",), m)
        if line == "8":
            return BLOCKED if m["next", p] is None else (("9", m["next", p]), m)
        return REMAINDER, m.but(("locked", at[1]), False)


class Semaphore:
    """A counter of free permits: wait until it is positive, take one, give it back if there was none."""

    def __init__(self, _N, k):
        self.initial = Memory({"S": k})

    def begin(self, _p):
        return ("1",)

    def step(self, _p, at, m):
        line = at[0]
        if line == "1":
            return (("2",), m) if m["S"] > 0 else BLOCKED
        if line == "2":
            return (("4",) if m["S"] > 0 else ("3",)), m.but("S", m["S"] - 1)
        if line == "3":
            return ("1",), m.but("S", m["S"] + 1)
        return REMAINDER, m.but("S", m["S"] + 1)


ALGORITHMS = {
    "am97-chain-cc": Figure3,
    "am97-chain-dsm": Figure8,
    "danek10-kfcfs": Danek,
    "danek10-fife": DanekFife,
    "peterson-k": Peterson,
    "mcs": Mcs,
    "fa-semaphore": Semaphore,
}

# SPDX-License-Identifier: Apache-2.0
"""At most k at a time: processes, threads and commands; in order, each with a slot number, and nothing is lost when one of
them is killed.

    import kgate

    with kgate.Gate("gpu", 4).enter(timeout=60) as slot:   # one of four, among all processes of this user
        train(device=f"cuda:{slot}")

A Gate is shared by processes and survives kill -9 of any of them; a Semaphore is for the threads of one process. Both serve
those who wait in the order they came.
"""
from __future__ import annotations

import datetime
import functools
import inspect
import math
import operator
import os
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, ParamSpec, Self, TypeVar, overload

from . import _native
from ._asyncio import Entering, Pending, TaskQueues
from ._native import Permit, guard_against_truncation

if TYPE_CHECKING:
    from ._machines import ClusterGate, ClusterPermit

__all__ = ["Gate", "Permit", "Semaphore", "Status", "Participant", "limit", "Error", "Closed", "TooHeavy", "BadName", "BadSlots",
           "NotFound", "NoPermission", "WrongSlots", "NotAGate", "Damaged", "BadFilesystem", "InUse", "TooMany", "Removed",
           "Cancelled", "Forked", "Lost", "Unreachable", "ClusterGate", "ClusterPermit", "guard_against_truncation"]
__version__ = _native.version

P = ParamSpec("P")
R = TypeVar("R")
Method = TypeVar("Method", bound=Callable[..., Any])


def _by_name(method: Method) -> Method:
    """Says how to give an argument that was given without its name: a number alone could be meant as either."""
    many = "permits=N for N at once" if method.__name__ == "acquire_async" else "weight=N for N slots at once"

    @functools.wraps(method)
    def called(self: Any, *nameless: object, **arguments: Any) -> Any:
        if nameless and method.__name__ == "limit" and callable(nameless[0]):
            raise TypeError("write @gate.limit(), with parentheses")
        if nameless:
            raise TypeError(f"{method.__name__}() takes its arguments by name: timeout=SECONDS to wait no longer, {many}")
        return method(self, **arguments)

    return called  # type: ignore[return-value]


class Error(Exception):
    """What kgate refused; `code` is that of kgate.h, the text says what to do."""

    code: int = _native.SYSTEM

    @staticmethod
    def _of(code: int, text: str) -> Exception:
        kind = _KINDS.get(code)
        if kind is None:
            return ValueError(text) if code == _native.INVALID else Error(text)
        return kind(text)


class Closed(Error):
    """The semaphore is closed."""

    code = _native.CLOSED


class TooHeavy(Error):
    """More permits asked for than there are."""

    code = _native.TOO_HEAVY


class BadName(Error, ValueError):
    """Not a name for a gate."""

    code = _native.BAD_NAME


class BadSlots(Error, ValueError):
    """Not a number of slots, or a weight above it."""

    code = _native.BAD_SLOTS


class NotFound(Error):
    """No such gate, and no size given to create it with."""

    code = _native.NOT_FOUND


class NoPermission(Error, PermissionError):
    """The file or directory may not be used by this user."""

    code = _native.NO_PERMISSION


class WrongSlots(Error, ValueError):
    """The gate was created with another number of slots, and has not been resized since."""

    code = _native.WRONG_SLOTS


class NotAGate(Error):
    """The file is something else, or of another version."""

    code = _native.NOT_A_GATE


class Damaged(Error):
    """The gate's file contradicts itself or has been cut off."""

    code = _native.DAMAGED


class BadFilesystem(Error):
    """A file system whose mappings or locks are not shared by its users."""

    code = _native.BAD_FILESYSTEM


class InUse(Error):
    """Not while somebody is inside or waits."""

    code = _native.IN_USE


class TooMany(Error):
    """More participants than a gate can have."""

    code = _native.TOO_MANY


class Removed(Error):
    """The gate was removed while it was used."""

    code = _native.REMOVED


class Cancelled(Error):
    """Somebody took the waiter out of the queue (kgate cancel), or the gate was too small for its weight for a while."""

    code = _native.CANCELLED


class Forked(Error):
    """It belongs to the parent process."""

    code = _native.FORKED


class Lost(Error):
    """The session with the ensemble expired while it waited: between machines, what it had belongs to others now."""


class Unreachable(Error, ConnectionError):
    """No server of the ensemble answered in time."""


_KINDS: dict[int, type[Error]] = {
    kind.code: kind for kind in (Closed, TooHeavy, BadName, BadSlots, NotFound, NoPermission, WrongSlots, NotAGate, Damaged,
                                 BadFilesystem, InUse, TooMany, Removed, Cancelled, Forked)}
_native._set_error_type(Error)


@dataclass(frozen=True)
class Participant:
    """A process inside a gate or waiting for it; `user` is a name at gates between machines. `command` is what that process wrote:
    nothing to show unescaped."""

    process: int
    user: int | str
    weight: int
    slot: int | None
    position: int | None
    since: datetime.datetime
    host: str
    command: str

    @staticmethod
    def _of(process: int, user: int, weight: int, slot: int, position: int, since: int, host: str, command: str) -> Participant:
        when = datetime.datetime.fromtimestamp(since / 1e9, datetime.timezone.utc)
        return Participant(process, user, weight, slot if slot >= 0 else None, position or None, when, host, command)


@dataclass(frozen=True)
class Status:
    """Who is inside and who waits; `free` is how many more may be inside now, `over` by how many those inside exceed a gate that was
    made smaller."""

    slots: int
    free: int
    over: int
    healed: int
    holders: tuple[Participant, ...]
    waiters: tuple[Participant, ...]


class _Opened(_native.Gate):
    """What opens a gate of this machine."""

    def __init__(self, name: str, slots: int = 0, *, on: str | None = None, directory: str | os.PathLike[str] | None = None,
                 mode: int = 0o600, group: int | None = None, overtake: int = 0, command: str | None = None) -> None:
        if on is not None:
            raise TypeError("a class of your own over kgate.Gate is for gates of this machine")
        if not isinstance(name, str) or not isinstance(command, (str, type(None))):
            raise TypeError("name and command must be str")
        if "\0" in name or not name.isascii():
            raise BadName(f"{name!r} is not a name for a gate: 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit")
        if command is not None and "\0" in command:
            raise ValueError("command has a null character in it")
        slots = _slots(slots)
        if mode & ~0o777 or mode & 0o600 != 0o600:
            raise ValueError(f"mode {oct(mode)} is none for a gate: its owner must read and write, and beyond 0o777 there is nothing")
        if group is not None and not 0 <= group < 2**31 or not 0 <= overtake < 2**31:
            raise ValueError("group and overtake must not be negative or above 2**31 - 1")
        if directory is None:
            directory = os.environ.get("KGATE_DIR")
        where = None if directory is None else os.fsdecode(directory)
        if where == "":
            raise ValueError("the directory of a gate has no name; leave it out, and KGATE_DIR unset, for your own")
        super().__init__(name, slots, directory=None if where is None else os.path.abspath(where), mode=mode,
                         group=-1 if group is None else group, overtake=overtake, command=command)


class Gate(_Opened):
    """The gate `name` of this user, created with `slots` if there is none; with slots = 0 it must exist. With `on`, or KGATE_ON in the
    environment and no directory given, a gate between machines on that ZooKeeper ensemble, whose permits have `lost` as well.

    Safe to use from many threads, after fork, and to send to other processes. Where it is, is settled when it is made: a later
    change of directory or environment does not make it another gate.
    """

    @overload
    def __new__(cls, name: str, slots: int = 0, *, on: str, command: str | None = None) -> ClusterGate: ...  # type: ignore[misc]

    @overload
    def __new__(cls, name: str = "", slots: int = 0, *, on: str | None = None, directory: str | os.PathLike[str] | None = None,
                mode: int = 0o600, group: int | None = None, overtake: int = 0, command: str | None = None) -> Self: ...

    def __new__(cls, name: str = "", slots: int = 0, *, on: str | None = None, directory: str | os.PathLike[str] | None = None,
                **others: Any) -> Gate:
        if cls is Gate and (on is not None or directory is None and "KGATE_ON" in os.environ):
            from ._machines import ClusterGate
            return super().__new__(ClusterGate)
        return super().__new__(cls)

    @_by_name
    def enter_async(self, *, weight: int = 1, timeout: float | None = None) -> Entering[Permit]:
        """For asyncio: `async with gate.enter_async() as slot`, or `permit = await gate.enter_async()`. TimeoutError if not in time;
        a task that is cancelled leaves the queue. The tasks of a loop have a queue of their own, in the order they came, and its first
        is in the queue of the gate."""
        return Entering(self._queues, _at_least_one(weight, "weight"), _seconds(timeout), lambda permit: permit.release())

    @functools.cached_property
    def _queues(self) -> TaskQueues[Permit]:
        return TaskQueues(self._begin_async, lambda permit, _: permit.release(), self._too_late)

    def _begin_async(self, weight: int) -> tuple[Permit, None] | tuple[None, Pending[Permit]]:
        got = self._begin(weight)
        return (got, None) if isinstance(got, Permit) else (None, got)

    def _too_late(self, weight: int, seconds: float) -> TimeoutError:
        """In the words of the compiled part."""
        where = "" if self.directory is None else f" -d {self.directory}"
        return _gate_too_late(self.name, weight, seconds, f"-n {self.name}{where}")

    def status(self) -> Status:
        """Who is inside and who waits, after healing dead members."""
        slots, free, over, healed, holders, waiters = self._status()
        return Status(slots, free, over, healed, tuple(Participant._of(*p) for p in holders), tuple(Participant._of(*p) for p in waiters))

    @_by_name
    def limit(self, *, weight: int = 1, timeout: float | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """A decorator: each call of the function is one passage through the gate."""

        def decorate(function: Callable[P, R]) -> Callable[P, R]:
            _refuse_what_returns_early(function)

            @functools.wraps(function)
            def inside(*arguments: P.args, **keywords: P.kwargs) -> R:
                with self.enter(weight=weight, timeout=timeout):
                    return function(*arguments, **keywords)

            return inside

        return decorate

    if not TYPE_CHECKING:  # for the words alone: a gate has no block of its own, a permit has
        def __enter__(self) -> None:
            raise TypeError("a gate is entered by its permit: with gate.enter(): ...")

        async def __aenter__(self) -> None:
            raise TypeError("a gate is entered by its permit: async with gate.enter_async(): ...")

        def __exit__(self, *_: object) -> None: ...

        async def __aexit__(self, *_: object) -> None: ...

    def __repr__(self) -> str:
        try:
            return f"kgate.Gate({self.name!r})"
        except (AttributeError, ValueError):
            return "<kgate.Gate, never opened>"

    def __reduce__(self) -> tuple[Any, ...]:
        if getattr(self, "name", None) is None:
            raise ValueError("the gate was never opened")
        kept = {name: value for name, value in self.__dict__.items() if name != "_queues"}
        return _reopened, (type(self), self.name, self.directory, self._command), kept or None


class Semaphore(_native.Semaphore):
    """At most so many threads and tasks at a time, in the order they came; `threading.BoundedSemaphore` that can be resized and
    closed. With `with` it is for threads, with `async with` for tasks of asyncio."""

    @_by_name
    def acquire_async(self, *, permits: int = 1, timeout: float | None = None) -> Entering[bool]:
        """For asyncio: `async with semaphore.acquire_async(permits=2)` hands back at the end; after `await semaphore.acquire_async()` it is
        for release() to do. TimeoutError if not in time. The tasks of a loop have a queue of their own, and its first is in that of the threads."""
        return Entering(self._queues, _at_least_one(permits, "permits"), _seconds(timeout), lambda _: self.release(permits))

    @functools.cached_property
    def _queues(self) -> TaskQueues[bool]:
        return TaskQueues(self._begin_async, lambda _, permits: self.release(permits), self._too_late)

    def _begin_async(self, permits: int) -> tuple[bool, None] | tuple[None, Pending[bool]]:
        got = self._begin(permits)
        return (got, None) if isinstance(got, bool) else (None, got)

    def _too_late(self, permits: int, seconds: float) -> TimeoutError:
        return TimeoutError(f"semaphore: {permits} permit{'s' * (permits != 1)} not free{_within(seconds)} ({self.available} of {self.permits} "
                            f"free, {self.waiters} waiting); wait longer, or see who holds them")

    async def __aenter__(self) -> bool:
        return await self.acquire_async()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def __getattr__(name: str) -> Any:
    if name in ("ClusterGate", "ClusterPermit"):  # loaded by their first use
        from . import _machines
        return getattr(_machines, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _within(seconds: float) -> str:
    if seconds <= 0:
        return " now"
    return f" within {seconds:g} s" if seconds >= 1 else f" within {seconds * 1000:g} ms"


def _gate_too_late(name: str, weight: int, seconds: float, status: str) -> TimeoutError:
    """The message for one that did not get inside; `status` are the options with which `kgate status` shows the gate."""
    slots = "no slot" if weight == 1 else f"no {weight} slots at once"
    return TimeoutError(f"gate '{name}': {slots}{_within(seconds)}; wait longer, or see who is inside: kgate status {status}")


def _slots(number: int) -> int:
    number = operator.index(number)
    if not 0 <= number < 2**31:
        raise BadSlots(f"a gate has 1 to 4095 slots, not {number if abs(number) < 2**64 else 'so many'}")
    return number


def _seconds(timeout: float | None) -> float | None:
    """A time limit; none if it is longer than anybody waits."""
    if timeout is None:
        return None
    if isinstance(timeout, (str, bytes)):
        raise TypeError(f"timeout must be a number of seconds or None, not {type(timeout).__name__}")
    try:
        seconds = float(timeout)
    except OverflowError:  # an integer that no float can hold
        seconds = math.inf if timeout > 0 else 0.0
    if math.isnan(seconds):
        raise ValueError("timeout is not a number")
    return None if seconds >= 9e9 else seconds


def _at_least_one(number: int, what: str) -> int:
    number = operator.index(number)
    if number < 1:
        raise ValueError(f"{what} must be at least 1")
    return number


def _reopened(kind: type[Gate], name: str, directory: str | None, command: str | None) -> Gate:
    made = kind.__new__(kind, name)
    _Opened.__init__(made, name, directory=directory, command=command)
    return made


def _refuse_what_returns_early(function: Callable[..., Any]) -> None:
    """Such a function has returned before its body has run: the gate would be left before anything happens inside."""
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__qualname__} runs after it has returned; enter the gate in its body")


def limit(name: str, slots: int = 0, *, weight: int = 1, timeout: float | None = None,
          directory: str | os.PathLike[str] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: at most `slots` calls of the function at a time, among all processes of this user. The gate is opened at the
    first call, and again after it was removed."""
    if callable(name):
        raise TypeError('write @kgate.limit("name", slots)')

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        _refuse_what_returns_early(function)
        made: list[Gate] = []

        def enter() -> Permit:
            if not made:
                made.append(Gate(name, slots, directory=directory))
            return made[0].enter(weight=weight, timeout=timeout)

        @functools.wraps(function)
        def inside(*arguments: P.args, **keywords: P.kwargs) -> R:
            try:
                permit = enter()
            except Removed:
                made.clear()
                permit = enter()
            with permit:
                return function(*arguments, **keywords)

        return inside

    return decorate

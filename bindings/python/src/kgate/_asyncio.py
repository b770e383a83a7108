# SPDX-License-Identifier: Apache-2.0
"""Waiting on asyncio without a thread for each waiter.

The tasks of an event loop that wait at one gate or semaphore are in a queue here, in the order they came. The first of them
is in the queue of the gate, by a descriptor that the loop watches; the others are behind it, and cost their task and nothing
else. So ten thousand tasks are one member of the gate, and one descriptor.
"""
from __future__ import annotations

import asyncio
import collections
import os
import weakref
from types import TracebackType
from typing import Callable, Generator, Generic, Protocol, TypeVar

Got = TypeVar("Got")
Got_co = TypeVar("Got_co", covariant=True)


class Pending(Protocol[Got_co]):
    """A position in a queue: _native.Wait, or what behaves like it."""

    def fileno(self) -> int: ...
    def finish(self) -> Got_co: ...
    def cancel(self) -> None: ...


class TaskQueue(Generic[Got]):
    """The tasks of one loop that wait at one gate or semaphore."""

    def __init__(self, loop: asyncio.AbstractEventLoop, begin: Callable[[int], tuple[Got, None] | tuple[None, Pending[Got]]],
                 give_back: Callable[[Got, int], object], too_late: Callable[[int, float], TimeoutError]) -> None:
        self._loop, self._begin, self._give_back, self._too_late = loop, begin, give_back, too_late
        self._waiting: collections.OrderedDict[asyncio.Future[Got], int] = collections.OrderedDict()
        self._pending: Pending[Got] | None = None  # that of the first

    def __len__(self) -> int:
        return len(self._waiting)

    async def enter(self, weight: int, timeout: float | None) -> Got:
        if not self._waiting:
            got, pending = self._begin(weight)
            if pending is None:
                return got  # type: ignore[return-value]
            if timeout is not None and timeout <= 0:
                pending.cancel()
                raise self._too_late(weight, timeout)
            self._watch(pending)
        elif timeout is not None and timeout <= 0:
            raise self._too_late(weight, timeout)
        turn: asyncio.Future[Got] = self._loop.create_future()
        self._waiting[turn] = weight
        try:
            async with asyncio.timeout(timeout):
                return await turn
        except BaseException as error:
            self._leave(turn, weight)
            if isinstance(error, TimeoutError) and timeout is not None and not error.args:  # asyncio's own has no text
                raise self._too_late(weight, timeout) from None
            raise

    def _watch(self, pending: Pending[Got]) -> None:
        self._pending = pending
        self._loop.add_reader(pending.fileno(), self._ended)

    def _unwatch(self) -> Pending[Got]:
        pending = self._pending
        assert pending is not None
        self._loop.remove_reader(pending.fileno())
        self._pending = None
        return pending

    def _ended(self) -> None:
        """The first has got what it waits for, or an error; or somebody has died for whom it waits."""
        pending = self._unwatch()
        turn = next(iter(self._waiting))
        if turn.done():  # its task has been cancelled, and has not run since
            pending.cancel()
        else:
            try:
                turn.set_result(pending.finish())
            except BlockingIOError:
                self._watch(pending)
                return
            except BaseException as error:
                turn.set_exception(error)
        del self._waiting[turn]
        self._serve()

    def _serve(self) -> None:
        """Puts the next one into the queue of the gate, after all that get in at once."""
        while self._waiting and self._pending is None:
            turn, weight = next(iter(self._waiting.items()))
            if not turn.done():
                try:
                    got, pending = self._begin(weight)
                except BaseException as error:
                    turn.set_exception(error)
                else:
                    if pending is not None:
                        self._watch(pending)
                        return
                    turn.set_result(got)  # type: ignore[arg-type]
            del self._waiting[turn]

    def _leave(self, turn: asyncio.Future[Got], weight: int) -> None:
        """The task has been cancelled, or its time is over: its position, or what it got at that very moment, goes back."""
        if turn not in self._waiting:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._give_back(turn.result(), weight)
            return
        first = next(iter(self._waiting)) is turn
        del self._waiting[turn]
        if first:
            self._unwatch().cancel()
            self._serve()


class TaskQueues(Generic[Got]):
    """The queue of each loop. A forked child has none of its parent's."""

    def __init__(self, begin: Callable[[int], tuple[Got, None] | tuple[None, Pending[Got]]], give_back: Callable[[Got, int], object],
                 too_late: Callable[[int, float], TimeoutError]) -> None:
        self._begin, self._give_back, self._too_late = begin, give_back, too_late
        self._process = os.getpid()
        self._queues: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, TaskQueue[Got]] = weakref.WeakKeyDictionary()

    def here(self) -> TaskQueue[Got]:
        loop = asyncio.get_running_loop()
        if self._process != os.getpid():
            self._process, self._queues = os.getpid(), weakref.WeakKeyDictionary()
        queue = self._queues.get(loop)
        if queue is None:
            queue = self._queues[loop] = TaskQueue(loop, self._begin, self._give_back, self._too_late)
        return queue


class Entering(Generic[Got]):
    """What enter_async() and acquire_async() return: to be awaited, or entered with `async with`, once."""

    def __init__(self, queues: TaskQueues[Got], weight: int, timeout: float | None, leave: Callable[[Got], object]) -> None:
        self._queues, self._weight, self._timeout, self._leave = queues, weight, timeout, leave

    def __await__(self) -> Generator[object, None, Got]:
        return self._queues.here().enter(self._weight, self._timeout).__await__()

    async def __aenter__(self) -> Got:
        self._got = await self
        return self._got

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave(self._got)

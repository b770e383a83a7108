# SPDX-License-Identifier: Apache-2.0
"""Gates between machines: kgate.Gate("licence", 8, on="zk://a,b,c"). The compiled part, kgate._cluster, is there where kgate was built
with ZooKeeper's library (Debian: kgate-cluster)."""
from __future__ import annotations

import datetime
import math
import operator
import os
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Literal, SupportsIndex

import kgate

from ._asyncio import Entering, Pending

if TYPE_CHECKING:
    from . import _cluster
    from ._native import _Number
else:
    _Number = object


def _compiled() -> Any:
    try:
        from . import _cluster
    except ImportError as error:
        raise kgate.Error("gates between machines need the compiled part kgate._cluster, which is not here: install kgate-cluster (Debian), "
                          f"or build kgate where libzookeeper-mt-dev is installed ({error})") from None
    return _cluster


class ClusterPermit(_Number):
    """Being inside a gate between machines; as kgate.Permit, and `lost` when the session may have expired and others may be inside."""

    token: int
    released: bool

    def __init__(self, held: _cluster.Permit, gate: ClusterGate) -> None:
        self._held, self._gate, self._process = held, gate, os.getpid()  # the gate has the session
        self._slots, self.token, self.released = held.slots, held.token, False

    @property
    def slot(self) -> int:
        """Its slot, 0..k-1; with a weight the first of them."""
        return self.slots[0]

    @property
    def slots(self) -> tuple[int, ...]:
        """All slots of a permit with a weight."""
        if self.released:
            raise ValueError("the permit was released")
        return self._slots

    @property
    def lost(self) -> bool:
        """Whether the session has expired, or may have: others may be inside."""
        return self._held.lost

    def fileno(self) -> int:
        """A descriptor that becomes readable when the permit is lost, for select and event loops."""
        return self._held.fileno()

    def release(self) -> bool:
        """Leaves; False if the permit had been lost or released before."""
        if self.released or self._process != os.getpid():
            return False
        self.released = True
        return self._held.release()

    def __int__(self) -> int:
        return self.slot

    def __index__(self) -> int:
        return self.slot

    def __float__(self) -> float:
        return float(self.slot)

    def __bool__(self) -> Literal[True]:
        return True

    def __neg__(self) -> int:
        return -self.slot

    def __pos__(self) -> int:
        return self.slot

    __abs__ = __pos__

    def __divmod__(self, other: int) -> tuple[int, int]:
        return divmod(self.slot, other)

    def __rdivmod__(self, other: int) -> tuple[int, int]:
        return divmod(other, self.slot)

    def __str__(self) -> str:
        return str(self.slot)

    def __format__(self, form: str) -> str:
        return format(self.slot, form)

    def __eq__(self, other: object) -> bool:
        return self._slots[0] == other if isinstance(other, (int, float)) else self is other

    def __hash__(self) -> int:
        return hash(self._slots[0])

    def __enter__(self) -> ClusterPermit:
        if self.released:
            raise ValueError("the permit was released")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def _on_numbers(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(permit: ClusterPermit, other: object) -> Any:
        return operation(permit.slot, other) if isinstance(other, (int, float)) else NotImplemented

    return apply


def _reflected(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: operation(other, one)


for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "lshift", "rshift", "and", "or", "xor"):
    setattr(ClusterPermit, f"__{_name}__", _on_numbers(getattr(operator, f"__{_name}__")))
    setattr(ClusterPermit, f"__r{_name}__", _on_numbers(_reflected(getattr(operator, f"__{_name}__"))))
for _name in ("lt", "le", "gt", "ge"):
    setattr(ClusterPermit, f"__{_name}__", _on_numbers(getattr(operator, f"__{_name}__")))


class _Waiting:
    """A wait in a thread of its own, with a descriptor that tells of its end: for the first of the tasks that wait on asyncio."""

    def __init__(self, wait: Callable[[_cluster.Stop], Any]) -> None:
        self._stop: _cluster.Stop = _compiled().Stop()
        self._end, self._tells = os.pipe()
        self._got: Any = None
        self._error: BaseException | None = None
        self._wait = wait
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._got = self._wait(self._stop)
        except BaseException as error:
            self._error = error
        os.close(self._tells)  # readable from now on

    def fileno(self) -> int:
        return self._end

    def finish(self) -> Any:
        self._thread.join()
        os.close(self._end)
        if self._error is not None:
            raise self._error
        return self._got

    def cancel(self) -> None:
        self._stop.request()
        try:
            got = self.finish()
        except BaseException:
            return
        if got is not None:
            got.release()


class ClusterGate(kgate.Gate):
    """The gate `name` on the ensemble `on`. A forked child opens it anew, with a session of its own."""

    _where: tuple[str, str, str | None] | None = None  # address, name and command, once it was opened

    def __init__(self, name: str, slots: int = 0, *, on: str | None = None, command: str | None = None, **others: Any) -> None:
        wrong = sorted(key for key, value in others.items() if value is not None)
        if wrong:
            raise TypeError(f"gates between machines have no {', '.join(wrong)}")
        if "\0" in name or command is not None and "\0" in command:
            raise ValueError("a null character in a name or command")
        slots = kgate._slots(slots)
        address = os.environ["KGATE_ON"] if on is None else on
        if not address:
            more = "; unset KGATE_ON for a gate of this machine" if on is None else ""
            raise ValueError("the address of a gate between machines is empty" + more)
        self._where = (address, name, command)
        self._left: list[object] = []  # sessions of a parent process, which must not be ended here
        self._open(slots)

    def _open(self, slots: int) -> None:
        address, name, command = self._opened
        self._session, self._process = _compiled().Gate(address, name, slots, command), os.getpid()

    @property
    def _opened(self) -> tuple[str, str, str | None]:
        if self._where is None:
            raise ValueError("the gate was never opened")
        return self._where

    @property
    def _gate(self) -> _cluster.Gate:
        self._opened  # else it was never opened
        if self._session is None or self._process != os.getpid():
            self._left.append(self._session)
            self._open(0)
        return self._session  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        return self._opened[1]

    @property
    def directory(self) -> str | None:
        return None

    @property
    def on(self) -> str:
        """The ensemble that the gate is on."""
        return self._opened[0]

    @property
    def slots(self) -> int:
        return self._gate.slots()

    def _enter(self, weight: SupportsIndex, seconds: float | None) -> ClusterPermit | None:
        """A permit, or None if not in time. In the main thread another one waits, so that a signal can end it."""
        number = _weight(weight)
        given = kgate._seconds(seconds)
        limit = math.inf if given is None else given
        if limit <= 0 or threading.current_thread() is not threading.main_thread():
            return self._permit(self._gate.enter(number, limit, _compiled().Stop()))
        gate, waiting = self._gate, threading.Event()

        def wait(stop: _cluster.Stop) -> Any:
            try:
                return gate.enter(number, limit, stop)
            finally:
                waiting.set()

        one = _Waiting(wait)
        try:
            waiting.wait()
        except BaseException:
            one.cancel()
            raise
        return self._permit(one.finish())

    def _permit(self, got: _cluster.Permit | None) -> ClusterPermit | None:
        return None if got is None else ClusterPermit(got, self)

    @kgate._by_name
    def enter(self, *, weight: SupportsIndex = 1, timeout: float | None = None) -> ClusterPermit:  # type: ignore[override]
        permit = self._enter(weight, timeout)
        if permit is None:
            raise self._too_late(weight.__index__(), timeout or 0)
        return permit

    def _too_late(self, weight: int, seconds: float) -> TimeoutError:
        return kgate._gate_too_late(self.name, weight, seconds, f"-n {self.name} --on {self.on}")

    @kgate._by_name
    def try_enter(self, *, weight: SupportsIndex = 1, timeout: float | None = 0) -> ClusterPermit | None:  # type: ignore[override]
        return self._enter(weight, 0 if timeout is None else timeout)

    if TYPE_CHECKING:
        def enter_async(self, *, weight: int = 1, timeout: float | None = None) -> Entering[ClusterPermit]: ...  # type: ignore[override]

    def _begin_async(self, weight: int) -> tuple[Any, None] | tuple[None, Pending[Any]]:
        gate, weight = self._gate, _weight(weight)
        got = self._permit(gate.enter(weight, 0, _compiled().Stop()))
        return (got, None) if got is not None else (None, _Waiting(lambda stop: self._permit(gate.enter(weight, math.inf, stop))))

    def resize(self, slots: int, /) -> None:
        self._gate.resize(kgate._slots(slots))

    def remove(self, *, force: bool = False) -> None:
        if not self._gate.remove(force):
            now = self.status()
            raise kgate.InUse(f"gate '{self.name}': in use ({len(now.holders)} inside, {len(now.waiters)} waiting); wait until they have left, or "
                              f"remove it by force; see who they are: kgate status -n {self.name} --on {self.on}")

    def close(self) -> None:
        if self._where is not None and self._process == os.getpid():
            self._session = None

    def status(self) -> kgate.Status:
        slots, free, over, holders, waiters = self._gate.status()
        return kgate.Status(slots, free, over, 0, tuple(map(_participant, holders)), tuple(map(_participant, waiters)))

    def __reduce__(self) -> tuple[Any, ...]:
        address, name, command = self._opened
        return _reopened, (address, name, command)


def _weight(weight: SupportsIndex) -> int:
    number = weight.__index__()
    if number < 1:
        raise ValueError("weight must be at least 1")
    if number >= 2**31:
        raise kgate.BadSlots("the weight is above that of any gate, which has at most 4095 slots")
    return number


def _reopened(address: str, name: str, command: str | None) -> ClusterGate:
    return ClusterGate(name, on=address, command=command)


def _participant(one: tuple[Any, ...]) -> kgate.Participant:
    process, user, weight, slot, position, since, host, command = one
    when = datetime.datetime.fromtimestamp(since / 1e9, datetime.timezone.utc)
    return kgate.Participant(process, user, weight, slot if slot >= 0 else None, position or None, when, host, command)

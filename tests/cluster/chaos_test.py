#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients killed and paused, servers killed, paused, cut off and all restarted, while 16 clients pass a gate of four
slots: chaos_test.py CLIENT ENSEMBLE quick|deep [SEED]. Without ZooKeeper servers there is nothing to test. In the deep
tier each server is in a network namespace of its own, where that is permitted."""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CLIENT, ENSEMBLE, TIER = sys.argv[1:4]
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(10**6)
SESSION = 4.0
CLIENTS, K = 16, 4
EVENTS = {"quick": {"kill": 12, "pause": 2, "kill server": 1, "pause server": 1},
          "deep": {"kill": 100, "pause": 20, "kill server": 10, "partition": 5, "restart all": 2}}[TIER]
BETWEEN = {"quick": 0.6, "deep": 1.0}[TIER]


class Network:
    """A network namespace for the clients, which forwards, and one for each server."""

    def __init__(self):
        self.prefix = f"kg{os.getpid() % 100000}-"
        self.made = []
        self.env = dict(os.environ)
        self.within = []
        try:
            for j in range(4):
                self.ip("netns", "add", f"{self.prefix}{j}")
                self.made.append(f"{self.prefix}{j}")
                self.ip("-n", f"{self.prefix}{j}", "link", "set", "lo", "up")
            self.ip("netns", "exec", f"{self.prefix}0", "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
            for j in (1, 2, 3):
                self.ip("-n", f"{self.prefix}0", "link", "add", f"to{j}", "type", "veth", "peer", "name", "eth0", "netns", f"{self.prefix}{j}")
                self.ip("-n", f"{self.prefix}0", "addr", "add", f"10.77.{j}.254/24", "dev", f"to{j}")
                self.ip("-n", f"{self.prefix}0", "link", "set", f"to{j}", "up")
                self.ip("-n", f"{self.prefix}{j}", "addr", "add", f"10.77.{j}.1/24", "dev", "eth0")
                self.ip("-n", f"{self.prefix}{j}", "link", "set", "eth0", "up")
                self.ip("-n", f"{self.prefix}{j}", "route", "add", "default", "via", f"10.77.{j}.254")
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"no network namespaces here ({error}): servers are paused where they would be cut off")
            self.remove()
            EVENTS["pause server"] = EVENTS.pop("partition")
            return
        self.env["KGATE_ENSEMBLE_NETNS"] = self.prefix
        self.within = ["ip", "netns", "exec", f"{self.prefix}0"]

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def cut(self, server, off):
        self.ip("-n", f"{self.prefix}0", "link", "set", f"to{server}", "down" if off else "up")

    def remove(self):
        for name in self.made:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
        self.made = []


class Loopback:
    """Everything on the loopback interface."""
    env, within = None, []

    def remove(self):
        pass


class Servers:
    def __init__(self, network):
        self.network = network
        self.dir = tempfile.mkdtemp(prefix="kgate-chaos-")
        self.script = subprocess.Popen([*network.within, ENSEMBLE, "3", self.dir], stdout=subprocess.PIPE, text=True, env=network.env)
        self.address = self.script.stdout.readline().strip()

    def pid(self, server):
        with open(os.path.join(self.dir, str(server), "pid"), encoding="utf-8") as file:
            return int(file.read())

    def kill(self, server):
        os.kill(self.pid(server), signal.SIGKILL)

    def start(self, server):
        subprocess.run([*self.network.within, ENSEMBLE, "--server", self.dir, str(server)], check=True, env=self.network.env)

    def stop(self):
        self.script.terminate()
        self.script.wait()
        self.network.remove()


class Crowd:
    """The clients, and what was done to them."""

    def __init__(self, address, within):
        self.within = within
        self.dir = tempfile.mkdtemp(prefix="kgate-crowd-")
        self.address = f"{address}?session={int(SESSION)}s"
        self.fences = os.path.join(self.dir, "fences")
        with open(self.fences, "wb") as file:
            file.write(bytes(4096))
        self.running, self.pauses, self.stopped, self.count = {}, [], set(), 0
        for _ in range(CLIENTS):
            self.add()

    def add(self):
        log = open(os.path.join(self.dir, f"{self.count}.log"), "w", encoding="utf-8")
        self.running[self.count] = subprocess.Popen([*self.within, CLIENT, self.address, "chaos", str(K), self.fences], stdout=log,
                                                    stderr=subprocess.DEVNULL)
        log.close()
        self.count += 1

    def kill(self, who):
        process = self.running.pop(who)
        process.kill()
        process.wait()
        self.add()

    def pause(self, who):
        self.pauses.append([who, time.clock_gettime_ns(time.CLOCK_MONOTONIC), None])
        self.stopped.add(who)
        self.running[who].send_signal(signal.SIGSTOP)

    def resume(self, who):
        self.stopped.discard(who)
        for pause in self.pauses:
            if pause[0] == who and pause[2] is None:
                pause[2] = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.running[who].send_signal(signal.SIGCONT)

    def awake(self):
        return sorted(set(self.running) - self.stopped)

    def end(self):
        for process in self.running.values():
            process.kill()
            process.wait()

    def stop(self):
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(90)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise

    def grants(self):
        """(token, sequence, slot, entered, left, lost, refused, client) in the order of the tokens."""
        all_of_them = []
        for who in range(self.count):
            with open(os.path.join(self.dir, f"{who}.log"), encoding="utf-8") as file:
                for line in file:
                    if line.endswith("\n"):
                        slot, token, sequence, entered, left, lost, refused = map(int, line.split())
                        all_of_them.append((token, sequence, slot, entered, left, lost, refused, who))
        return sorted(all_of_them)


def was_paused(crowd, grant):
    """Whether its client was paused while it had the grant, or just before it said so: what it says of the end is late."""
    return any(who == grant[7] and began <= grant[4] and (ended is None or ended >= grant[3] - 10**9) for who, began, ended in crowd.pauses)


def disturb(servers, crowd, dice):
    """Everything in EVENTS, in a random order; what is paused or down comes back meanwhile."""
    events = [name for name, times in EVENTS.items() for _ in range(times)]
    dice.shuffle(events)
    due = []
    server_due = 0.0

    def settle(everything=False):
        for entry in sorted(due):
            if everything or entry[0] <= time.monotonic():
                if everything:
                    time.sleep(max(0.0, entry[0] - time.monotonic()))
                due.remove(entry)
                entry[2]()

    for number, event in enumerate(events):
        settle()
        now = time.monotonic()
        if event == "kill":
            crowd.kill(dice.choice(crowd.awake()))
        elif event == "pause":
            who = dice.choice(crowd.awake())
            crowd.pause(who)
            due.append((now + SESSION + 1, number, lambda who=who: crowd.resume(who)))
        else:
            while time.monotonic() < server_due:  # one server at a time, or there is no quorum
                settle()
                time.sleep(0.05)
            now = time.monotonic()
            which = [1, 2, 3] if event == "restart all" else [dice.choice([1, 2, 3])]
            server_due = now + 6
            for server in which:
                if event == "partition":
                    servers.network.cut(server, True)
                    due.append((now + 3, number + server / 10, lambda server=server: servers.network.cut(server, False)))
                elif event == "pause server":
                    pid = servers.pid(server)
                    os.kill(pid, signal.SIGSTOP)
                    due.append((now + 3, number + server / 10, lambda pid=pid: os.kill(pid, signal.SIGCONT)))
                else:
                    servers.kill(server)
                    due.append((now + 1, number + server / 10, lambda server=server: servers.start(server)))
        time.sleep(BETWEEN * dice.uniform(0.3, 1.2))
    settle(everything=True)


def faults(crowd, grants, served_from):
    """What is wrong with the run."""
    # Sequence numbers do not come near their end here, so they can be compared as they are.
    for before, after in zip(grants, grants[1:]):
        if after[0] <= before[0]:
            yield f"a token twice: {before} {after}"
        if after[1] <= before[1]:
            yield f"passed in the queue: {before} {after}"
    for slot in range(K):
        here = [g for g in grants if g[2] == slot]
        for before, after in zip(here, here[1:]):
            if before[4] > after[3] and not was_paused(crowd, before):
                yield f"slot {slot} held twice: {before} {after}"
    for grant in grants:
        if grant[6] and not grant[5] and not was_paused(crowd, grant):
            yield f"a write of a client that was not paused came too late: {grant}"
        if not 0 <= grant[2] < K:
            yield f"no such slot: {grant}"
    for who in crowd.running:
        if not any(g[7] == who and g[3] > served_from for g in grants):
            yield f"client {who} was not served after the last disturbance"


def left_behind(servers, crowd):
    """A new client gets all slots once the time-out has passed: then no node was left behind."""
    log = os.path.join(crowd.dir, "last.log")
    with open(log, "w", encoding="utf-8") as file:
        last = [subprocess.Popen([*crowd.within, CLIENT, crowd.address, "chaos", str(K), crowd.fences], stdout=file) for _ in range(2 * K)]
        time.sleep(3)
        for process in last:
            process.terminate()
        for process in last:
            process.wait(90)
    with open(log, encoding="utf-8") as file:
        return sorted({int(line.split()[0]) for line in file}) != list(range(K))


def main():
    if not (os.path.exists("/usr/share/java/zookeeper.jar") and shutil.which("java")):
        print("skipped: no ZooKeeper server is installed (section [ensemble] of packages.txt)")
        return 77
    print(f"seed {SEED}", flush=True)
    dice = random.Random(SEED)
    servers = Servers(Network() if "partition" in EVENTS else Loopback())
    crowd = Crowd(servers.address, servers.network.within)
    try:
        time.sleep(3)
        disturb(servers, crowd, dice)
        time.sleep(SESSION + 4)
        served_from = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        time.sleep(6)
        crowd.stop()
        grants = crowd.grants()
        found = list(faults(crowd, grants, served_from))
        time.sleep(SESSION + 1)
        if left_behind(servers, crowd):
            found.append("a node was left behind: not all slots can be had")
        lost = sum(g[5] for g in grants)
        print(f"{len(grants)} grants, {lost} of them lost, {sum(g[6] > 0 for g in grants)} fenced off; {EVENTS}")
        for one in found[:20]:
            print(one)
        if len(grants) < 100:
            found.append("hardly anybody got in")
        if not found:
            shutil.rmtree(crowd.dir)
        return 1 if found else 0
    finally:
        crowd.end()
        servers.stop()


if __name__ == "__main__":
    sys.exit(main())

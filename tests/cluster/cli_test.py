#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate --on as users meet it, with a real server: cli_test.py KGATE ENSEMBLE WRITE_NODE [unittest arguments]."""
import datetime
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from cli_nodes import NodesOfGates
from cli_sameness import SameAsOnOneMachine

KGATE, ENSEMBLE, WRITE_NODE = sys.argv[1:4]
HAS_SERVER = os.path.exists("/usr/share/java/zookeeper.jar") and shutil.which("java")


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Ensemble:
    """Throw-away servers, stopped with the test."""

    def __init__(self, servers):
        self.dir = tempfile.mkdtemp(prefix="kgate-ensemble-")
        self.script = subprocess.Popen([ENSEMBLE, str(servers), self.dir], stdout=subprocess.PIPE, text=True)
        self.address = self.script.stdout.readline().strip()

    def pid(self, server):
        with open(os.path.join(self.dir, str(server), "pid"), encoding="utf-8") as file:
            return int(file.read())

    def start(self, server):
        subprocess.run([ENSEMBLE, "--server", self.dir, str(server)], check=True)

    def stop(self):
        self.script.terminate()
        self.script.wait()
        self.script.stdout.close()


@unittest.skipUnless(HAS_SERVER, "no ZooKeeper server is installed (section [ensemble] of packages.txt)")
class WithServers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ensemble = Ensemble(1)

    @classmethod
    def tearDownClass(cls):
        cls.ensemble.stop()

    def setUp(self):
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("KGATE_")}
        self.env["KGATE_ON"] = self.ensemble.address + "?session=2s"
        self.name = self.id().rsplit(".", 1)[1]
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.terminate()
            process.wait(10)
            process.stdout.close()
            process.stderr.close()

    def kgate(self, command, *words, name=True, **more):
        line = [KGATE, command] + (["-n", self.name] if name else []) + list(words)
        return subprocess.run(line, env=more.pop("env", self.env), capture_output=True, text=True, timeout=60, **more)

    def start(self, command, *words, **more):
        process = subprocess.Popen([KGATE, command, *([] if "-n" in words else ["-n", self.name]), *words], env=more.pop("env", self.env),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.started.append(process)
        return process

    def gate(self, env=None):
        return json.loads(self.kgate("status", "--json", env=env or self.env).stdout)["gates"][0]

    def until(self, what, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if what():
                    return
            except (IndexError, ValueError):
                pass
            time.sleep(0.05)
        self.fail("it did not come to pass")

    def lease(self, *words):
        process = self.start("lease", *words)
        process.stdout.readline()
        return process


class OnAnEnsemble(NodesOfGates, SameAsOnOneMachine, WithServers):
    write_node = WRITE_NODE

    def test_run(self):
        result = self.kgate("run", "-k", "2", "--", "sh", "-c",
                            "echo $KGATE_NAME $KGATE_SLOT $KGATE_SLOTS {slot}; [ $KGATE_TOKEN -gt 0 ]; exit 7")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (7, f"{self.name} 0 2 0\n", ""))
        tokens = [int(self.kgate("run", "--", "sh", "-c", "echo $KGATE_TOKEN").stdout) for _ in range(3)]
        self.assertEqual(tokens, sorted(set(tokens)))
        self.assertEqual(self.kgate("run", "-w", "2", "--", "sh", "-c", "echo $KGATE_SLOT").stdout, "0,1\n")
        self.assertEqual(self.kgate("run", "--", "/no/such/command").returncode, 127)
        self.assertEqual(self.kgate("run", "--", "sh", "-c", "kill -9 $$").returncode, -9)
        self.assertEqual(self.gate()["free"], 2)

    def test_a_gate_that_was_made_smaller(self):
        first, second = (self.start("run", "-k", "2", "--", "sleep", "60") for _ in range(2))
        self.until(lambda: self.gate()["free"] == 0)
        self.assertEqual(self.kgate("resize", "-k", "1").returncode, 0)
        self.assertEqual((self.gate()["free"], self.gate()["over"]), (0, 1))
        for command in "status", "doctor":
            self.assertIn("2 of 1 slots taken (1 over), 0 waiting", self.kgate(command).stdout)
        for holder in first, second:
            holder.terminate()
        self.until(lambda: (self.gate()["free"], self.gate()["over"]) == (1, 0))

    def test_pause_resume_and_drain(self):
        holder = self.start("run", "-k", "2", "--", "sleep", "60")
        self.until(lambda: self.gate()["holders"])
        self.assertEqual(self.kgate("pause").stdout, f"{self.name}: paused\n")
        self.assertTrue(self.gate()["paused"])
        self.assertIn("0 waiting, paused", self.kgate("status").stdout)
        waiter = self.start("run", "-w", "2", "--", "true")
        self.until(lambda: self.gate()["waiters"])
        self.assertEqual(self.kgate("run", "--timeout", "0.3", "--", "true").returncode, 124)
        drained = self.kgate("drain", "--timeout", "0.3")
        self.assertEqual(drained.returncode, 124)
        self.assertIn("stays paused", drained.stderr)
        holder.terminate()
        self.assertEqual(self.kgate("drain").returncode, 0)
        self.assertEqual([len(self.gate()[who]) for who in ("holders", "waiters")], [0, 1])
        self.assertEqual(self.kgate("resize", "-k", "3").returncode, 0)
        self.assertTrue(self.gate()["paused"])
        self.assertIsNone(waiter.poll())
        self.assertEqual(json.loads(self.kgate("resume", "--json").stdout)["done"], "resumed")
        self.assertEqual(waiter.wait(10), 0)
        self.assertFalse(self.gate()["paused"])

    def test_who_names_no_size_takes_that_of_the_one_who_creates_the_gate(self):
        for round in range(25):
            name = f"created-together-{round}"
            both = [subprocess.Popen([KGATE, "run", "-n", name, *words, "--", "true"], env=self.env, stdin=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, text=True)
                    for words in (["-k", "3"], [], [])]
            for one, words in zip(both, ("with -k", "without", "without")):
                _, errors = one.communicate(timeout=60)
                self.assertEqual(one.returncode, 0, f"{words}: {errors}")  # whichever comes first
            self.assertEqual(json.loads(self.kgate("status", "-n", name, "--json", name=False).stdout)["gates"][0]["slots"], 3)

    def test_the_command_inherits_no_connection(self):
        command = ["sh", "-c", "ls /proc/self/fd | wc -l"]
        here = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.kgate("run", "--", *command).stdout, here)

    def test_waiting_and_giving_up(self):
        holder = self.start("run", "-k", "1", "--", "sleep", "60")
        self.until(lambda: self.gate()["holders"])
        self.assertEqual(self.kgate("run", "--try", "--", "true").returncode, 122)
        result = self.kgate("run", "--timeout", "0.3", "--", "true")
        self.assertEqual(result.returncode, 124)
        self.assertIn("became free in time", result.stderr)
        self.assertEqual(self.kgate("run", "--timeout", "0.1", "-E", "9", "--", "true").returncode, 9)
        self.assertEqual(self.gate()["waiters"], [])
        interrupted = self.start("run", "--", "true")
        self.until(lambda: self.gate()["waiters"])
        interrupted.send_signal(signal.SIGINT)
        self.assertEqual(interrupted.wait(10), -signal.SIGINT)
        self.assertEqual(self.gate()["waiters"], [])
        cancelled = self.start("run", "--", "true")
        self.until(lambda: self.gate()["waiters"])
        self.assertEqual(self.kgate("cancel", "--pid", str(cancelled.pid)).returncode, 0)
        self.assertEqual(cancelled.wait(10), 121)
        holder.terminate()
        self.assertEqual(holder.wait(10), -signal.SIGTERM)
        self.until(lambda: self.gate()["free"] == 1)

    def test_status_and_the_rest(self):
        self.assertEqual(self.kgate("create", "-k", "2").returncode, 0)
        self.start("run", "--show-arguments", "--", "sleep", "61")
        self.until(lambda: self.gate()["holders"])
        seen = self.gate()["holders"][0]
        self.assertEqual((seen["pid"], seen["command"], seen["host"]), (self.started[0].pid, "sleep 61", os.uname().nodename))
        self.assertIn("sleep 61", self.kgate("status").stdout)
        self.assertIn(self.name, self.kgate("list", name=False).stdout)
        self.assertIn("sleep 61", self.kgate("top", "--once").stdout)
        self.assertEqual(self.kgate("wait", "--timeout", "0.1").returncode, 124)
        self.assertEqual(self.kgate("resize", "-k", "3").returncode, 0)
        self.assertEqual(self.gate()["slots"], 3)
        refused = self.kgate("remove")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--force", refused.stderr)
        self.assertEqual(self.kgate("doctor").returncode, 0)
        waiter = self.start("run", "-w", "3", "--", "true")
        self.until(lambda: self.gate()["waiters"])
        self.assertEqual(self.kgate("remove", "--force").returncode, 0)
        self.assertEqual(waiter.wait(10), 121)
        self.assertEqual(self.kgate("status").returncode, 1)

    def test_ages(self):
        began = time.time()
        self.start("run", "-k", "1", "--", "sleep", "60")
        self.until(lambda: self.gate()["holders"])
        self.start("run", "--", "true")
        self.until(lambda: self.gate()["waiters"])
        for who in self.gate()["holders"] + self.gate()["waiters"]:
            since = datetime.datetime.fromisoformat(who["since"].replace("Z", "+00:00")).timestamp()
            self.assertTrue(began - 1 <= since <= time.time() + 1, who)
        time.sleep(max(0.0, began + 3.1 - time.time()))
        ages = re.findall(r" (\d+)s  ", self.kgate("status").stdout)
        self.assertTrue(ages and any(2 <= int(age) <= time.time() - began + 1 for age in ages), self.kgate("status").stdout)

    def test_top(self):
        self.start("run", "-k", "1", "--show-arguments", "--", "sleep", "62")
        self.until(lambda: self.gate()["holders"])
        screen, keyboard = b"", 0
        process, keyboard = pty.fork()
        if process == 0:
            os.execve(KGATE, [KGATE, "top", "-n", self.name], dict(self.env, TERM="xterm"))
        try:
            end = time.monotonic() + 20
            gone = False
            while time.monotonic() < end:
                if select.select([keyboard], [], [], 0.2)[0]:
                    screen += os.read(keyboard, 65536)
                if b"sleep 62" in screen and not gone:
                    self.started[0].terminate()  # it looks again by itself
                    gone, screen = True, b""
                if gone and self.name.encode() in screen and b"sleep 62" not in screen[-screen[::-1].find(self.name.encode()[::-1]):]:
                    break
            self.assertTrue(gone)
            for key, order in ((b"t", b"by time"), (b"c", b"by command"), (b"s", b"by slot")):
                os.write(keyboard, key)
                screen = b""
                while order not in screen and time.monotonic() < end:
                    if select.select([keyboard], [], [], 0.2)[0]:
                        screen += os.read(keyboard, 65536)
                self.assertIn(order, screen)
            os.write(keyboard, b"q")
            while time.monotonic() < end:
                try:
                    if not os.read(keyboard, 65536):
                        break
                except OSError:
                    break
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)
            process = 0
        finally:
            if process:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
            os.close(keyboard)

    def relay(self, change, own="127.0.0.1"):
        """A server in front of the real one; `change` gets each packet of the client's and of the server's, and returns what to send."""
        host, port = self.ensemble.address.removeprefix("zk://").split(":")
        listening = socket.create_server((own, 0), family=socket.AF_INET6 if ":" in own else socket.AF_INET)
        opened = [listening]

        def copy(source, sink, from_client):
            try:
                while True:
                    head = source.recv(4, socket.MSG_WAITALL)
                    if len(head) < 4:
                        break
                    sink.sendall(head + change(source.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL), from_client))
            except OSError:
                pass
            for link in (source, sink):
                try:
                    link.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

        def serve():
            while True:
                try:
                    link, _ = listening.accept()
                except OSError:
                    return
                server = socket.create_connection((host, int(port)))
                opened.extend((link, server))
                for ends in ((link, server, True), (server, link, False)):
                    threading.Thread(target=copy, args=ends, daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()

        def close():
            listening.shutdown(socket.SHUT_RDWR)
            for one in opened:
                one.close()

        self.addCleanup(close)
        return f"zk://{f'[{own}]' if ':' in own else own}:{listening.getsockname()[1]}"

    def test_doctor(self):
        self.assertEqual(self.kgate("create", "-k", "1").returncode, 0)
        result = self.kgate("doctor", "--on", self.ensemble.address + "?session=500ms")
        self.assertEqual(result.returncode, 0)
        self.assertIn("sessions last 1000 ms without contact, not the 500 ms that were asked for", result.stdout)  # two ticks
        result = self.kgate("doctor", "--on", self.ensemble.address + "?session=2s")
        self.assertIn("sessions last 2000 ms without contact\n", result.stdout)
        self.assertIn("everybody who reaches the ensemble may use and remove it", result.stdout)
        self.assertRegex(result.stdout, r"clock: the servers' clock is -?\d{1,3} ms ahead of this machine's\n")
        asked = set()  # of the node that shows the servers' clock

        def an_hour_ahead(packet, from_client):
            if from_client and packet[4:8] == struct.pack(">i", 4) and b"/.clock-" in packet:
                asked.add(packet[:4])
            elif not from_client and packet[:4] in asked and packet[12:16] == bytes(4):
                at = 20 + max(struct.unpack(">i", packet[16:20])[0], 0) + 16  # the data, two transactions, and then the time
                return packet[:at] + struct.pack(">q", struct.unpack(">q", packet[at:at + 8])[0] + 3600 * 1000) + packet[at + 8:]
            return packet

        result = self.kgate("doctor", "--on", self.relay(an_hour_ahead))
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stdout, r"clock: the servers' clock is (3600\d\d\d|3599\d\d\d) ms ahead of this machine's; ages that `kgate status` shows are wrong by that")

    def test_errors(self):
        self.assertEqual(self.kgate("run", "-k", "2", "--", "true").returncode, 0)
        env = dict(self.env, KGATE_CONNECT_TIMEOUT="0.3")

        def there():
            """All gates of the ensemble, and who is inside this one or waits."""
            all_of_them = [self.kgate("status", "--json", "--on", self.ensemble.address + path, name=False).stdout for path in ("", "/other")]
            names = [[one["name"] for one in json.loads(text)["gates"]] if text else [] for text in all_of_them]
            return names, self.gate()["holders"], self.gate()["waiters"]

        before = there()

        def fails(code, text, *words, **more):
            result = self.kgate(*words, **more)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(text, result.stderr)
            self.assertEqual(result.stdout, "")
            self.assertEqual(there(), before)  # nothing is left behind

        fails(125, "has 2 slots, not 3", "run", "-k", "3", "--", "true")
        fails(120, "weight of 3", "run", "-w", "3", "--", "true")
        fails(120, "would be created with", "run", "-n", "new", "-w", "3", "--", "true", name=False)
        fails(120, "more than the --slots 2", "run", "-n", "new", "-k", "2", "-w", "3", "--", "true", name=False)
        fails(120, "would be created with", "hold", "-n", "new", "-w", "2", "--path", name=False)
        fails(125, "no server of 127.0.0.1:1", "run", "--on", "zk://127.0.0.1:1", "--", "true", env=env)
        fails(1, "no server of", "status", "--on", "zk://127.0.0.1:1", env=env)
        fails(125, "can be found", "run", "--on", "zk://no-such-host.invalid", "--", "true", env=env)
        fails(120, "--on wants", "run", "--on", "etcd://a", "--", "true")
        fails(120, "is no HOST", "run", "--on", "zk://a,,b", "--", "true")
        fails(120, "the servers' own", "run", "--on", self.ensemble.address + "/zookeeper/quota", "--", "true")
        fails(120, "contradict", "run", "--on", "zk://a", "--dir", "/tmp", "--", "true")
        fails(120, "is for gates of this machine", "run", "--exec", "--", "true")
        fails(125, "has 2 slots, not 3", "jobserver", "-k", "3", "--", "make")
        fails(125, "has 2 slots, not 3", "hold", "-k", "3", "--path")
        fails(125, "is not open", "hold", "--fd", "77")
        fails(120, "contradict", "stats", "--on", "zk://a", "--dir", "/tmp")
        fails(1, "there is no gate", "stats", "--on", self.ensemble.address + "/other")
        fails(1, "there is no gate", "pause", "--on", self.ensemble.address + "/other")
        fails(125, "there is no gate", "run", "--existing", "--on", self.ensemble.address + "/other", "--", "true")
        fails(1, "there is no gate", "resize", "--on", self.ensemble.address + "/other", "-k", "2")
        fails(120, "--on-loss wants", "run", "--on-loss", "cry", "--", "true")
        fails(125, "user:password", "run", "--", "true", env=dict(self.env, KGATE_ZK_AUTH="x"))
        self.assertEqual(self.kgate("run", "--dir", tempfile.mkdtemp(prefix="kgate-local-"), "--", "true").returncode, 0)

    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this machine has no addresses of IPv6")
    def test_an_address_of_version_6(self):
        on = self.relay(lambda packet, from_client: packet, own="::1")
        result = self.kgate("run", "--on", on + "," + self.ensemble.address.removeprefix("zk://"), "--", "echo", "inside")
        self.assertEqual((result.returncode, result.stdout), (0, "inside\n"), result.stderr)
        self.assertIn("::1:" + on.rsplit(":", 1)[1] + ": answered after", self.kgate("doctor", "--on", on).stdout)

    def test_a_server_that_is_none(self):
        """One that speaks something else, one that says nothing, and one that wants what this client has not."""
        answers = {"speaks": b"HTTP/1.1 400 Bad Request\r\n\r\n", "is silent": b"", "is of another version": struct.pack(">iiiqi", 36, 7, 2000, 0, 16) + bytes(17)}
        for what, answer in answers.items():
            with self.subTest(what), socket.create_server(("127.0.0.1", 0)) as server:
                def serve(server=server, answer=answer):
                    kept = []
                    while True:
                        try:
                            link, _ = server.accept()
                        except OSError:
                            return
                        kept.append(link)
                        if answer:
                            link.sendall(answer)
                            link.close()

                threading.Thread(target=serve, daemon=True).start()
                on = f"zk://127.0.0.1:{server.getsockname()[1]}"
                result = self.kgate("run", "--on", on, "--", "true", env=dict(self.env, KGATE_CONNECT_TIMEOUT="0.5"))
                self.assertEqual(result.returncode, 125, result.stderr)
                self.assertRegex(result.stderr, re.escape(on[5:]) + " (answered within 0.5 s; is the address right|does not answer)")
                server.shutdown(socket.SHUT_RDWR)

    def test_a_connection_that_is_lost_before_the_first_answer(self):
        """A server that drops a new session's first request, as one does that is busy: the session goes on at the next."""
        links = []  # of those that were made; the first two end with what the client sends after its greeting, its first request

        def drop(packet, from_client):
            if from_client and packet[:4] == bytes(4) and len(packet) >= 44:  # a greeting
                links.append(0)
            elif from_client and len(links) <= 2:
                raise OSError
            return packet

        result = self.kgate("run", "--on", self.relay(drop), "-k", "1", "--", "echo", "inside")
        self.assertEqual((result.returncode, result.stdout), (0, "inside\n"), result.stderr)
        self.assertGreaterEqual(len(links), 3)

    def test_no_quorum(self):
        three = Ensemble(3)
        try:
            env = dict(self.env, KGATE_ON=three.address + "?session=2s", KGATE_CONNECT_TIMEOUT="1")
            self.assertEqual(self.kgate("run", "-k", "1", "--", "true", env=dict(env, KGATE_CONNECT_TIMEOUT="20")).returncode, 0)
            for server in (1, 2):
                os.kill(three.pid(server), signal.SIGKILL)
            self.until(lambda: self.kgate("run", "--", "true", env=env).returncode == 125)
            result = self.kgate("run", "--", "true", env=env)
            self.assertEqual(result.returncode, 125)
            self.assertIn("quorum", result.stderr)
            self.assertEqual(self.kgate("doctor", env=env).returncode, 1)
            three.start(1)
            three.start(2)
            env["KGATE_CONNECT_TIMEOUT"] = "20"
            self.until(lambda: self.kgate("run", "--try", "--", "true", env=env).returncode == 0)
            self.until(lambda: json.loads(self.kgate("status", "--json", env=env).stdout)["gates"][0]["free"] == 1)
        finally:
            three.stop()

    def script(self, text, name=None):
        """A shell script that calls kgate by its name and opens descriptor 9 on the gate's file."""
        begin = f'kgate() {{ "{KGATE}" "$@"; }}\nexec 9<"$(kgate hold -n {name or self.name} -k 1 --path)"\n'
        process = subprocess.Popen(["bash", "-c", begin + text], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def test_hold_and_release(self):
        self.env["KGATE_DIR"] = tempfile.mkdtemp(prefix="kgate-host-")
        hold = f"kgate hold -n {self.name} --fd 9"
        script = self.script(f"{hold}; {hold}; echo $?; kgate release --fd 9; echo $?; kgate release --fd 9; echo $?; {hold}; kgate release --on zk://a --fd 9; echo $?")
        out, errors = script.communicate(timeout=60)
        self.assertEqual(out.split(), ["0", "125", "0", "1", "0", "0"], errors)
        self.assertIn("keeps a slot already", errors)
        self.assertEqual(self.gate()["free"], 1)  # it was given back when release returned
        refused = self.script(f'exec 9<&-; exec 9>>"$(kgate hold -n {self.name} --path)"; {hold}; echo $?')
        out, errors = refused.communicate(timeout=60)
        self.assertEqual(out.split(), ["125"], errors)
        self.assertIn("descriptor 9 is open for writing only; open it for reading: exec 9<", errors)
        # As long as any process has the descriptor; a command substitution does not wait for the keeper.
        script = self.script(f"slot=$({hold}); echo $slot; sleep 60 & exec 9<&-; read -r line; wait")
        self.assertEqual(script.stdout.readline(), "0\n")
        self.assertEqual(self.gate()["holders"][0]["command"], "kgate hold")
        self.assertEqual(self.kgate("run", "--try", "--", "true").returncode, 122)
        waiting = self.script(f"{hold}; exec sleep 60")
        self.until(lambda: self.gate()["waiters"])
        interrupted = self.script(f"exec {KGATE} hold -n {self.name} --fd 9")
        self.until(lambda: len(self.gate()["waiters"]) == 2)
        interrupted.kill()  # its keeper leaves the queue
        self.until(lambda: len(self.gate()["waiters"]) == 1)
        self.assertEqual(self.script(f"{hold} --try").wait(20), 122)
        subprocess.run(["pkill", "-P", str(script.pid)], check=True)  # the sleep is the last one that has the descriptor
        self.assertEqual(waiting.stdout.readline(), "0\n")
        keeper = self.gate()["holders"][0]["pid"]
        os.kill(keeper, signal.SIGTERM)  # nothing but the descriptor ends it
        time.sleep(0.2)
        self.assertTrue(runs(keeper))
        waiting.kill()
        began = time.monotonic()
        self.assertEqual(self.kgate("run", "--timeout", "20", "--", "true").returncode, 0)
        self.assertLess(time.monotonic() - began, 1.5)  # not the session's time-out
        self.until(lambda: not runs(keeper))

    def test_a_killed_keeper(self):
        self.env["KGATE_DIR"] = tempfile.mkdtemp(prefix="kgate-host-")
        go_on = os.path.join(self.env["KGATE_DIR"], "go-on")
        script = self.script(f"kgate hold -n {self.name} --fd 9; while [ ! -e {go_on} ]; do sleep 0.05; done; kgate release --fd 9; echo $?")
        self.assertEqual(script.stdout.readline(), "0\n")
        os.kill(self.gate()["holders"][0]["pid"], signal.SIGKILL)
        with open(go_on, "w", encoding="utf-8"):
            pass
        out, errors = script.communicate(timeout=60)
        self.assertEqual(out, "119\n", errors)
        self.assertIn("was lost before", errors)

    def test_stats(self):
        self.env["KGATE_DIR"] = tempfile.mkdtemp(prefix="kgate-host-")
        self.assertEqual(self.kgate("stats").returncode, 1)
        for _ in range(3):
            self.assertEqual(self.kgate("run", "-k", "1", "--", "true").returncode, 0)
        holder = self.start("run", "--", "sleep", "60")
        self.until(lambda: self.gate()["holders"])
        self.assertEqual(self.kgate("run", "--try", "--", "true").returncode, 122)
        stats = json.loads(self.kgate("stats", "--json").stdout)["gates"][0]
        self.assertEqual((stats["name"], stats["passages"], stats["refusals"], stats["waited"]["count"]), (self.name, 3, 1, 3))
        self.assertIn("3 passages, 1 refused", self.kgate("stats").stdout)
        metrics = self.kgate("stats", "--prometheus").stdout
        self.assertIn(f'kgate_inside{{gate="{self.name}"}} 1\n', metrics)
        self.assertIn(f'kgate_passages_total{{gate="{self.name}"}} 3\n', metrics)
        holder.terminate()
        self.assertEqual(holder.wait(10), -signal.SIGTERM)
        self.assertEqual(self.kgate("remove").returncode, 0)
        self.assertEqual(self.kgate("create", "-k", "1").returncode, 0)  # another one, which none has passed
        self.assertEqual(json.loads(self.kgate("stats", "--json").stdout)["gates"][0]["passages"], 0)

    def test_jobserver(self):
        folder = tempfile.mkdtemp(prefix="kgate-make-")
        with open(folder + "/Makefile", "w", encoding="utf-8") as file:
            file.write("all: a b c d\na b c d:\n\t@echo + >>log; sleep 0.3; echo - >>log\n")
        result = self.kgate("jobserver", "-k", "2", "--", "make", "-C", folder, "-s")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        with open(folder + "/log", encoding="utf-8") as file:
            signs = file.read().split()
        inside = [signs[:i].count("+") - signs[:i].count("-") for i in range(len(signs) + 1)]
        self.assertEqual((len(signs), max(inside)), (8, 2))
        self.assertEqual(self.gate()["free"], 2)
        # A job that waits elsewhere gets the slot of a token that is idle.
        busy = self.start("jobserver", "--", "sh", "-c", "echo up; sleep 60")
        self.assertEqual(busy.stdout.readline(), "up\n")
        self.until(lambda: self.gate()["free"] == 0)
        self.assertEqual(self.kgate("run", "--timeout", "20", "--", "true").returncode, 0)
        busy.terminate()
        self.assertEqual(busy.wait(10), -signal.SIGTERM)
        self.until(lambda: self.gate()["free"] == 2)

    def test_leases(self):
        self.env["KGATE_DIR"] = tempfile.mkdtemp(prefix="kgate-host-")
        result = self.kgate("run", "--lease", "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn("kgate lease", result.stderr)
        lease = self.lease("-k", "2")
        result = self.kgate("run", "--lease", "--", "sh", "-c", "echo $KGATE_NAME $KGATE_SLOT $KGATE_SLOTS {slot}; [ $KGATE_TOKEN -gt 0 ]; exit 7")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (7, f"{self.name} 0 2 0\n", ""))
        second = self.kgate("lease")
        self.assertEqual(second.returncode, 1)
        self.assertIn("has a lease of gate", second.stderr)
        self.assertEqual(self.kgate("run", "--lease", "-w", "2", "--", "true").returncode, 120)
        self.assertEqual(self.kgate("run", "--lease", "-k", "3", "--", "true").returncode, 125)
        # With a lease and without one they share the slots.
        jobs = [self.start("run", *how, "--", "sh", "-c", "echo $KGATE_SLOT; exec sleep 60") for how in (("--lease",), ())]
        self.assertEqual(sorted(job.stdout.readline() for job in jobs), ["0\n", "1\n"])
        self.assertEqual(self.kgate("run", "--lease", "--try", "--", "true").returncode, 122)
        self.assertEqual(self.kgate("run", "--lease", "--timeout", "0.3", "--", "true").returncode, 124)
        waiting = self.start("run", "--lease", "--", "true")
        jobs[1].terminate()
        self.assertEqual(waiting.wait(20), 0)
        # A lease that is asked to end waits for its jobs, and serves no others.
        lease.terminate()
        self.until(lambda: self.kgate("run", "--lease", "--try", "--", "true").returncode in (121, 122, 125))
        self.assertIsNone(lease.poll())
        jobs[0].terminate()
        self.assertEqual(lease.wait(20), 0)
        self.assertEqual(self.gate()["free"], 2)

    def test_a_lost_lease_ends_the_jobs(self):
        self.env["KGATE_DIR"] = tempfile.mkdtemp(prefix="kgate-host-")
        lease = self.lease("-k", "1")
        job = self.start("run", "--lease", "--", "sh", "-c", "echo up; exec sleep 60")
        self.assertEqual(job.stdout.readline(), "up\n")
        lease.kill()
        lease.wait()
        self.assertEqual(job.wait(20), 119)
        self.assertIn("the slot is lost", job.stderr.read())
        lease = self.lease("-k", "1")
        self.assertEqual(self.kgate("run", "--lease", "--", "true").returncode, 0)
        killed = self.start("run", "--lease", "--", "sh", "-c", "echo $$; exec sleep 60")
        command = int(killed.stdout.readline())
        killed.kill()
        killed.wait()
        self.until(lambda: not runs(command))
        self.assertEqual(self.kgate("run", "--lease", "--timeout", "20", "--", "true").returncode, 0)
        self.assertEqual(self.kgate("remove", "--force").returncode, 0)
        self.assertEqual(lease.wait(20), 1)
        self.assertIn("was removed", lease.stderr.read())

    def test_a_killed_kgate_takes_its_command_along(self):
        killed = self.start("run", "-k", "1", "--", "sh", "-c", "echo $$; exec sleep 60")
        command = int(killed.stdout.readline())
        killed.kill()
        killed.wait()
        self.until(lambda: not runs(command))
        began = time.monotonic()
        self.assertEqual(self.kgate("run", "--timeout", "20", "--", "true").returncode, 0)
        self.assertLess(time.monotonic() - began, 2 + 2)  # the session's time-out, half a second, and this machine's delays

    def test_a_lost_session_ends_the_command(self):
        holder = self.start("run", "-k", "1", "--grace", "0.5", "--", "sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done")
        at_once = self.start("run", "-k", "1", "-n", "killing", "--on-loss", "kill", "--grace", "60", "--", "sh", "-c",
                             "trap '' TERM; echo up; while :; do sleep 0.1; done")
        goes_on = self.start("run", "-k", "2", "-n", "ignoring", "--on-loss", "ignore", "--", "sh", "-c", "echo up; sleep 6; exit 3")
        self.env["KGATE_DIR"] = tempfile.mkdtemp(prefix="kgate-host-")
        script = self.script(f"kgate hold -n {self.name}-script --fd 9 >&2; echo up; while :; do sleep 0.1; done", name=self.name + "-script")
        for process in (holder, at_once, goes_on, script):
            self.assertEqual(process.stdout.readline(), "up\n")
        server = self.ensemble.pid(1)
        os.kill(server, signal.SIGSTOP)
        try:
            self.assertEqual(holder.wait(15), 119)
            self.assertEqual(at_once.wait(15), 119)  # it did not wait for the grace that its command was given
        finally:
            os.kill(server, signal.SIGCONT)
        self.assertEqual(script.wait(15), -signal.SIGTERM)  # not only kgate: the script that holds the descriptor
        errors = holder.stderr.read()
        self.assertIn("uncertain", errors)
        self.assertIn("the slot is lost", errors)
        self.assertEqual(goes_on.wait(15), 3)
        self.until(lambda: self.gate()["free"] == 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)

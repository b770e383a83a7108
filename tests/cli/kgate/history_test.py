#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kgate tool as users meet it: what `kgate stats` tells of the last days."""
import json
import os
import random
import re
import struct
import time

from tool import Case, main

RECORD = struct.Struct("QII40IQQ40IQQ")
FIRST = 64
HOURS = 168


class History(Case):
    def stats(self, name="g"):
        return json.loads(self.run_kgate("stats", "-n", name, "--json").stdout)["gates"][0]

    def test_passages_and_times(self):
        began = time.monotonic()
        for _ in range(3):
            self.run_kgate("run", "-n", "g", "-k", "2", "--", "sleep", "0.1")
        holders = [self.hold("g", "2"), self.hold("g", "2")]
        self.run_kgate("run", "-n", "g", "--try", "--", "true")
        waiter = self.start("run", "-n", "g", "--exec", "--", "true")
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        for holder in holders:
            holder.terminate()
            holder.wait()
        self.assertEqual(waiter.wait(10), 0)
        seen = self.stats()
        self.assertEqual((seen["name"], seen["days"], seen["passages"], seen["refusals"]), ("g", 7, 6, 1))
        self.assertEqual((seen["waited"]["count"], seen["held"]["count"]), (6, 5))  # how long --exec takes is not known
        self.assertTrue(0.05 < seen["held"]["p50"] < time.monotonic() - began, seen)
        self.assertLessEqual(seen["held"]["p50"], seen["held"]["p99"])
        self.assertLess(seen["waited"]["p50"], 0.05)
        text = self.run_kgate("stats").stdout
        self.assertRegex(text, r"g: 6 passages, 1 refused in the last 7 days\n +p50 +p90 +p99 +max +mean\n  waited +\d+\S+ .*\n  ran +\d+")

    def test_passages_of_exec_count_at_once_and_once(self):
        # Fourteen of one participant's number share a write to the history; what it has not got yet is counted all the same.
        for count in range(1, 31):
            self.run_kgate("run", "-n", "g", "--exec", "--", "true")
            seen = self.stats()
            self.assertEqual((seen["passages"], seen["waited"]["count"], seen["held"]["count"]), (count, count, 0))
        self.assertTrue(os.path.exists(os.path.join(self.dir, ".g.history")))
        self.assertIn('kgate_passages_total{gate="g"} 30\n', self.run_kgate("stats", "--prometheus").stdout)
        self.run_kgate("run", "-n", "g", "--", "true")
        self.assertEqual(self.stats()["passages"], 31)

    def test_waits_of_exec_are_recorded(self):
        holder = self.hold("g")
        waiter = self.start("run", "-n", "g", "--exec", "--", "true")
        self.until(lambda: len(self.gate("g")["waiters"]) == 1)
        time.sleep(1)
        before = time.monotonic()
        holder.terminate()
        self.assertEqual(waiter.wait(10), 0)
        self.assertTrue(1 <= self.stats()["waited"]["max"] <= 1.1 + time.monotonic() - before + 5, self.stats())

    def test_unrecorded_waits_that_kgate_does_not_write_harm_nobody(self):
        self.run_kgate("run", "-n", "g", "--exec", "--", "true")
        path = os.path.join(self.dir, "g.gate")
        with open(path, "rb") as file:
            whole = file.read()
        # The first member's line: its last 28 bytes begin with how many there are.
        places = [at for at in range(4096, len(whole) - 64, 64) if whole[at + 36:at + 38] == b"\1\0" and whole[at + 32:at + 36] == b"\1\0\0\0"]
        self.assertTrue(places)
        for value in (0xFFFF, 0xFFFE, 14, 13):
            with open(path, "r+b") as file:
                for place in places:
                    file.seek(place + 36)
                    file.write(struct.pack("<14H", value, *[0xFFFF] * 13))
            self.assertIn(self.stats()["passages"], (0, 13))
            for _ in range(3):
                self.assertEqual(self.run_kgate("run", "-n", "g", "--exec", "--", "true").returncode, 0)
            self.run_kgate("remove", "-n", "g")
            self.run_kgate("run", "-n", "g", "--exec", "--", "true")

    def test_prometheus(self):
        self.run_kgate("run", "-n", "g", "-k", "2", "--", "true")
        self.hold("g", "2")
        lines = self.run_kgate("stats", "--prometheus").stdout.splitlines()
        values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        for name, value in (("slots", 2), ("inside", 1), ("waiting", 0), ("paused", 0), ("healed_total", 0), ("passages_total", 1)):
            self.assertEqual(values[f'kgate_{name}{{gate="g"}}'], str(value))
        self.assertEqual(values['kgate_held_seconds_bucket{gate="g",le="+Inf"}'], "1")
        self.assertEqual(values['kgate_held_seconds_count{gate="g"}'], "1")
        for line in lines:
            self.assertRegex(line, r'^(# (HELP|TYPE) kgate_\w+ .+|kgate_\w+\{gate="g"(,le="[^"]+")?\} [0-9.e+-]+)$')
        named = {re.match(r"kgate_\w+?(?=_bucket|_sum|_count|\{)", k)[0] for k in values}
        self.assertLessEqual({line.split()[2] for line in lines if line.startswith("# TYPE")}, named)

    def test_space_is_bounded_and_old_hours_are_forgotten_but_counted(self):
        self.run_kgate("run", "-n", "g", "--", "true")
        path = os.path.join(self.dir, ".g.history")
        with open(path, "r+b") as file:
            for index in range(HOURS):
                file.seek(FIRST + index * RECORD.size)
                data = file.read(RECORD.size)
                fields = list(RECORD.unpack(data)) if len(data) == RECORD.size else [0] * 86
                if fields[0] == 0:
                    continue
                fields[0] -= HOURS  # the same hour, a week ago
                file.seek(FIRST + index * RECORD.size)
                file.write(RECORD.pack(*fields))
        self.assertEqual(self.stats()["passages"], 0)
        self.run_kgate("run", "-n", "g", "--", "true")
        self.assertEqual(self.stats()["passages"], 1)
        self.assertIn('kgate_passages_total{gate="g"} 2\n', self.run_kgate("stats", "--prometheus").stdout)
        self.assertLessEqual(os.path.getsize(path), FIRST + (HOURS + 1) * RECORD.size)

    def test_records_that_kgate_does_not_write_are_none(self):
        for _ in range(2):
            self.run_kgate("run", "-n", "g", "--", "true")
        path = os.path.join(self.dir, ".g.history")
        with open(path, "rb") as file:
            before = file.read()
        hour = next(i for i in range(HOURS) if before[FIRST + i * RECORD.size:][:8].strip(b"\0"))
        good = list(RECORD.unpack_from(before, FIRST + hour * RECORD.size))
        self.assertEqual(self.stats()["passages"], 2)

        def seen(index, fields):
            with open(path, "wb") as file:
                file.write(before)
                file.seek(FIRST + index * RECORD.size)
                file.write(fields if isinstance(fields, bytes) else RECORD.pack(*fields))
            for form in ("--json", "--prometheus"):
                done = self.run_kgate("stats", form)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = self.run_kgate("stats").stdout
            self.assertRegex(text, r"\A[ -~\n]*\Z")
            return self.stats()

        def changed(**places):
            return [places.get(f"f{i}", value) for i, value in enumerate(good)]
        for fields in (b"\xff" * RECORD.size, b"\x80" * RECORD.size, b"\x1b[31" * (RECORD.size // 5 + 1),
                       changed(f1=2**32 - 1), changed(f43=2**64 - 1), changed(f44=2**64 - 1), changed(f0=good[0] + HOURS),
                       changed(f0=good[0] + 1), changed(f3=2**32 - 1)):
            found = seen(hour, fields)
            self.assertEqual((found["passages"], found["waited"]["count"], found["held"]["max"]), (0, 0, 0), fields)
            self.assertEqual(self.run_kgate("run", "-n", "g", "--", "true").returncode, 0)
            self.assertEqual(self.stats()["passages"], 1)  # and is written anew
        self.assertEqual(seen(HOURS, b"\xff" * RECORD.size)["passages"], 2)
        noise = random.Random(7)
        for _ in range(50):
            seen(noise.randrange(HOURS + 1), bytes(noise.randrange(256) for _ in range(RECORD.size * 2)))

    def test_an_empty_file_of_a_killed_creator_is_used(self):
        self.run_kgate("create", "-n", "g")
        with open(os.path.join(self.dir, ".g.history"), "wb"):
            pass
        self.run_kgate("run", "-n", "g", "--", "true")
        self.assertEqual(self.stats()["passages"], 1)

    def test_what_is_not_a_history_is_left_alone(self):
        self.run_kgate("create", "-n", "g")
        path = os.path.join(self.dir, ".g.history")
        with open(path, "wb") as file:
            file.write(b"something else")
        self.assertEqual(self.run_kgate("run", "-n", "g", "--", "true").returncode, 0)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"something else")
        os.unlink(path)
        os.mkfifo(path)
        self.assertEqual(self.run_kgate("run", "-n", "g", "--", "true").returncode, 0)
        self.assertEqual(self.stats()["passages"], 0)

    def test_it_goes_with_the_gate(self):
        self.run_kgate("run", "-n", "g", "--", "true")
        self.run_kgate("remove", "-n", "g")
        self.assertEqual(os.listdir(self.dir), [])

    def test_the_doctor_removes_what_a_program_leaves(self):
        self.run_kgate("run", "-n", "g", "--", "true")
        self.run_kgate("run", "-n", "h", "--", "true")
        for name in os.listdir(self.dir):
            if name.startswith(("g.", ".g.")) and not name.endswith(".history"):
                os.unlink(os.path.join(self.dir, name))
        with open(os.path.join(self.dir, ".bash.history"), "w", encoding="ascii") as file:
            file.write("not a history of kgate")
        self.run_kgate("doctor")
        self.assertNotIn(".g.history", os.listdir(self.dir))
        self.assertIn(".h.history", os.listdir(self.dir))
        self.assertIn(".bash.history", os.listdir(self.dir))


if __name__ == "__main__":
    main()

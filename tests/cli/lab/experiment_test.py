#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kgate-lab experiment: every curve with its points, simulated and native, and what is refused."""
import lab
from lab import HOLDS, LabTest

CURVES = {"fig10": ["mcs", "herlihy-100", "herlihy-200", "k-1", "k-2", "k-4", "k-8", "k-16"],
          "fig11": ["mcs", "herlihy-200", "herlihy-400", "k-1", "k-2", "k-4", "k-8", "k-16"]}
OBSERVATIONS = ["mcs-collapses", "herlihy-degrades", "assignment-wins", "larger-k", "full-worse", "one-beats-mcs", "copying"]


class Experiment(LabTest):
    def test_simulated(self):
        for name, curves in CURVES.items():
            arguments = ("experiment", name, "--simulated", "--processors", 4, "--processes", "4,8", "--operations", 200,
                         "--quantum", "5ms")
            result = self.lab_json(HOLDS, *arguments)
            self.assertEqual((result["experiment"], result["kind"], result["processors"]), (name, "simulated", 4))
            self.assertEqual([c["id"] for c in result["curves"]], curves)
            for curve in result["curves"]:
                self.assertEqual([(p["processes"], p["done"]) for p in curve["points"]], [(4, 200), (8, 200)])
            self.assertEqual(result["machine"]["quantum_ns"], 5_000_000)
            self.assertEqual([o["id"] for o in result["observations"]], OBSERVATIONS)
            self.assertTrue(all(o["holds"] in ("yes", "no", "unknown") for o in result["observations"]))
            self.assertEqual(self.lab_json(HOLDS, *arguments), result, "the seed determines it")
            self.assertNotEqual(self.lab_json(HOLDS, *arguments, "--seed", 9)["curves"], result["curves"])

    def test_native(self):
        result = self.lab_json(HOLDS, "experiment", "fig10", "--processes", "2,4", "--operations", 400, "--repetitions", 2,
                               "--time-max", "200ms")
        self.assertEqual(result["kind"], "native")
        self.assertEqual([c["id"] for c in result["curves"]][:8], CURVES["fig10"])
        for curve in result["curves"]:
            self.assertEqual([p["processes"] for p in curve["points"]], [2, 2, 4, 4], curve["id"])
        self.assertIn("kernel", result["machine"])

    def test_for_people(self):
        text = self.lab(HOLDS, "experiment", "fig10", "--simulated", "--processors", 2, "--operations", 100)
        for part in ("fig10", "2 processors", "herlihy-200", "The paper's observations", "k = 1 beats MCS"):
            self.assertIn(part, text)

    def test_refused(self):
        self.refused("experiment", "fig12", says=("'fig12'", "fig10", "fig11"))
        self.refused("experiment", says=("NAME",))
        self.refused("experiment", "fig10", "--native", "--simulated", says=("exclude",))
        self.refused("experiment", "fig10", "--quantum", "5ms", says=("--simulated",))
        self.refused("experiment", "fig10", "--scale", says=("--simulated",))
        self.refused("experiment", "fig10", "--simulated", "--time-max", "1s", says=("--native",))
        for bad in ("0", "x", "3,,4", "4,", "-1", "99999999999"):
            self.refused("experiment", "fig10", "--simulated", "--processes", bad, says=("--processes",))
        for option in ("--operations", "--processors", "--repetitions", "--seed"):
            self.refused("experiment", "fig10", "--simulated", option, "-7", says=(option,))
        self.refused("experiment", "fig10", "--simulated", "--quantum", "0s", says=("--quantum",))


if __name__ == "__main__":
    lab.main()

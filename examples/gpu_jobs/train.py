#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One training job: waits for a free device, uses it alone, and gives it back, also when it is killed.

usage: train.py NAME DEVICES
"""
import fcntl
import os
import sys
import time

import kgate


def train(name: str, device: int) -> None:
    """Stands in for the training: takes the device for itself as a driver would, and fails if another has it."""
    with open(f"device-{device}", "a", encoding="utf-8") as busy:
        fcntl.flock(busy, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print(f"{name} trains on device {device}", flush=True)
        time.sleep(0.1)


def main() -> None:
    name, devices = sys.argv[1], int(sys.argv[2])
    with kgate.Gate("gpu", devices).enter(timeout=600) as slot:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(slot)
        train(name, slot.slot)


if __name__ == "__main__":
    main()

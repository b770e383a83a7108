// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The functions whose machine code is compared. Each is defined once through the native machine and once by hand.

#include <cstdint>

struct block;
struct named;

extern "C" {
void figure3_acquire(block& at, std::uint16_t p);
void figure3_release(block& at, std::uint16_t p);
int names_acquire(named& at, std::uint16_t p);
void names_release(named& at, std::uint16_t p, int name);
}

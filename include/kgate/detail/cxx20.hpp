// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The first line of each public header: below C++20 a compiler says this, before anything it does not understand.

#if __cplusplus < 202002L
#error "kgate needs C++20: compile with -std=c++20, or link kgate::kgate or kgate::gate with CMake, which asks for it"
#endif

// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/own_text/loaded_library.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace kgate::tool {

namespace {

/// By the name that the linker knows, and the one that is written in texts.
constexpr auto impure = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"rand", "rand"},
     {"random", "random"},
     {"drand48", "drand48"},
     {"lrand48", "lrand48"},
     {"getrandom", "getrandom"},
     {"_ZNSt13random_device9_M_getvalEv", "std::random_device"},
     {"time", "time"},
     {"clock", "clock"},
     {"clock_gettime", "clock_gettime"},
     {"gettimeofday", "gettimeofday"},
     {"_ZNSt6chrono3_V212steady_clock3nowEv", "std::chrono::steady_clock::now"},
     {"_ZNSt6chrono3_V212system_clock3nowEv", "std::chrono::system_clock::now"},
     {"malloc", "malloc"},
     {"calloc", "calloc"},
     {"realloc", "realloc"},
     {"aligned_alloc", "aligned_alloc"},
     {"posix_memalign", "posix_memalign"},
     {"mmap", "mmap"},
     {"open", "open"},
     {"fopen", "fopen"},
     {"read", "read"},
     {"fork", "fork"},
     {"_Fork", "_Fork"},
     {"vfork", "vfork"},
     {"clone", "clone"},
     {"posix_spawn", "posix_spawn"},
     {"posix_spawnp", "posix_spawnp"},
     {"popen", "popen"},
     {"system", "system"}});

/// The names of what the library takes from elsewhere: each has a relocation.
std::vector<std::string_view> imports(const ElfW(Dyn) * dynamic) {
  const char* names = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  std::array<std::pair<const ElfW(Rela)*, std::size_t>, 2> tables{};
  bool with_addends = true;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto* at = reinterpret_cast<const char*>(dynamic->d_un.d_ptr);
    switch (dynamic->d_tag) {
      case DT_STRTAB:
        names = at;
        break;
      case DT_SYMTAB:
        symbols = reinterpret_cast<const ElfW(Sym)*>(at);
        break;
      case DT_RELA:
        tables[0].first = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_RELASZ:
        tables[0].second = dynamic->d_un.d_val;
        break;
      case DT_JMPREL:
        tables[1].first = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_PLTRELSZ:
        tables[1].second = dynamic->d_un.d_val;
        break;
      case DT_PLTREL:
        with_addends = dynamic->d_un.d_val == DT_RELA;
        break;
      default:
        break;
    }
  }
  std::vector<std::string_view> found;
  if (names == nullptr || symbols == nullptr || !with_addends) return found;
  for (const auto& [first, bytes] : tables)
    for (std::size_t i = 0; first != nullptr && i < bytes / sizeof *first; ++i) {
      const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(first[i].r_info)];
      if (symbol.st_shndx == SHN_UNDEF) found.emplace_back(names + symbol.st_name);
    }
  return found;
}

}  // namespace

loaded_library library_of(const void* inside) {
  struct search {
    std::uintptr_t inside;
    loaded_library found;
  } all{reinterpret_cast<std::uintptr_t>(inside), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* into) {
        auto& wanted = *static_cast<search*>(into);
        loaded_library one;
        bool here = false;
        const ElfW(Dyn)* dynamic = nullptr;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& part = library->dlpi_phdr[i];
          const std::uintptr_t begin = library->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_TLS && part.p_memsz > 0) one.thread_locals = true;
          if (part.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
          if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
          here = here || (begin <= wanted.inside && wanted.inside < begin + part.p_memsz);
          one.statics.emplace_back(reinterpret_cast<const char*>(begin), part.p_memsz);
        }
        if (!here) return 0;
        if (dynamic != nullptr) {
          const std::vector<std::string_view> names = imports(dynamic);
          for (const auto& [linked, written] : impure)
            if (std::find(names.begin(), names.end(), linked) != names.end()) one.impure_calls.emplace_back(written);
        }
        wanted.found = std::move(one);
        return 1;
      },
      &all);
  return all.found;
}

}  // namespace kgate::tool

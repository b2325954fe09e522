// One source, two programs: a libFuzzer target, and a test that replays the corpus.
//
// A target is a file `tests/fuzz/NAME_fuzz.cpp` with `BONESCAN_FUZZ_TARGET(NAME) { ... input ...
// }`; its corpus is every file `tests/golden/tools/NAME.*`.  Nothing else has to be told (a new
// layer to link goes into tests/fuzz/CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bonescan::fuzz {

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};

/// All targets of this program.
inline std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

inline bool add_target(std::string_view name, void (*run)(std::string_view)) {
  targets().push_back({name, run});
  return true;
}

/// Ends the program, which both a fuzzer and a test notice.
[[noreturn]] inline void broken() {
  __builtin_trap();
}

/// An answer is good, or an error that says something.
template <class Answer>
void expect_answer(const Answer& answer) {
  if (!answer && answer.error().detail.empty()) {
    broken();
  }
}

}  // namespace bonescan::fuzz

#ifdef BONESCAN_LIBFUZZER
#define BONESCAN_FUZZ_TARGET(name)                                                    \
  static void fuzz_##name(std::string_view input);                                    \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    fuzz_##name({reinterpret_cast<const char*>(data), size});                         \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_##name(std::string_view input)
#else
#define BONESCAN_FUZZ_TARGET(name)                                                  \
  static void fuzz_##name(std::string_view input);                                  \
  static const bool kAdded_##name = bonescan::fuzz::add_target(#name, fuzz_##name); \
  static void fuzz_##name(std::string_view input)
#endif

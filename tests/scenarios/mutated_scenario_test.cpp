// Whatever becomes of a file's bytes, it is read or refused with a ConfigError: no other exception,
// no crash, no long wait.
#include "scenarios/schema/load_scenario.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace bonescan {
namespace {

constexpr std::chrono::seconds kPatience(5);

constexpr const char* kFile = BONESCAN_SOURCE_DIR "/scenarios/quickstart.yaml";

std::string quickstart() {
  std::ifstream stream(kFile);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Deterministic whole numbers below a bound.
class Dice final {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  /// SplitMix64 (Steele, Lea and Flood 2014).
  std::size_t below(std::size_t bound) {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return static_cast<std::size_t>((x ^ (x >> 31)) % bound);
  }

 private:
  std::uint64_t state_;
};

/// One to eight small damages: a byte replaced, cut, doubled, or a piece moved.
std::string mutate(std::string text, Dice& dice) {
  constexpr std::string_view kNastyBytes = "[]{}:,-?#&*!|>'\"%@`\n\t \\0\r\x04\x7f\xff.~";
  const std::size_t rounds = 1 + dice.below(8);
  for (std::size_t i = 0; i < rounds && text.size() > 16; ++i) {
    const std::size_t at = dice.below(text.size());
    const std::size_t length = 1 + dice.below(std::min<std::size_t>(64, text.size() - at));
    switch (dice.below(5)) {
      case 0:
        text[at] = kNastyBytes[dice.below(kNastyBytes.size())];
        break;
      case 1:
        text[at] = static_cast<char>(dice.below(256));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(dice.below(text.size()), length));
        break;
      default:
        text.insert(at, 1, kNastyBytes[dice.below(kNastyBytes.size())]);
    }
  }
  return text;
}

TEST(MutatedScenario, IsReadOrRefusedNeverMore) {
  const std::string original = quickstart();
  ASSERT_NO_THROW(parse_scenario(original, kFile));
  std::size_t refused = 0;
  constexpr std::uint64_t kMutations = 2000;
  for (std::uint64_t seed = 0; seed < kMutations; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    Dice dice(seed);
    const std::string text = mutate(original, dice);
    const auto start = std::chrono::steady_clock::now();
    try {
      const Scenario scenario = parse_scenario(text, kFile);
      EXPECT_FALSE(scenario.name.empty());
      EXPECT_GT(scenario.duration, Duration::zero());
    } catch (const ConfigError& error) {
      ++refused;
      const std::string what = error.what();
      EXPECT_THAT(what, testing::HasSubstr(": expected "));
      EXPECT_THAT(what, testing::HasSubstr("; found "));
      EXPECT_THAT(what, testing::HasSubstr("; hint: "));
      EXPECT_THAT(what, testing::Not(testing::HasSubstr("\n")));
    } catch (...) {
      FAIL() << "not a ConfigError for:\n" << text;
    }
    ASSERT_LT(std::chrono::steady_clock::now() - start, kPatience);
  }
  // Both ways out were taken, so the damages are neither harmless nor total.
  EXPECT_GT(refused, kMutations / 4);
  EXPECT_LT(refused, kMutations * 99 / 100);
}

}  // namespace
}  // namespace bonescan

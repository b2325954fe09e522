// Every fuzz target takes its own corpus, everybody else's, and each file with a hole or a wrong
// byte.
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/tool_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::fuzz {
namespace {

class CorpusReplay : public testing::TestWithParam<Target> {};

TEST_P(CorpusReplay, EndsWithAnAnswerForEveryFile) {
  const Target target = GetParam();
  EXPECT_THAT(fakes::tool_files(std::string(target.name) + "."), testing::Not(testing::IsEmpty()))
      << "a target without a corpus starts from nothing";
  for (const std::string& name : fakes::tool_files("")) {
    target.run(fakes::tool_file(name));
  }
}

TEST_P(CorpusReplay, EndsWithAnAnswerForDamagedFiles) {
  const Target target = GetParam();
  for (const std::string& name : fakes::tool_files(std::string(target.name) + ".")) {
    const std::string text = fakes::tool_file(name);
    const std::size_t step = std::max<std::size_t>(text.size() / 200, 1);
    for (std::size_t at = 0; at < text.size(); at += step) {
      target.run(text.substr(0, at));
      target.run(text.substr(at));
      std::string damaged = text;
      for (const char byte : {'\0', '(', ')', '{', ',', '/', '"', '\xFF'}) {
        damaged[at] = byte;
        target.run(damaged);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Target,
                         CorpusReplay,
                         testing::ValuesIn(targets()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace bonescan::fuzz

// A strict reader of the Prometheus text exposition format 0.0.4: what it does not like is a test
// failure.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace bonescan::fakes {

struct Exposition {
  std::map<std::string, std::string> types;  ///< family and type
  std::map<std::string, double> samples;     ///< name with its labels as printed

  /// Fails and is NaN if there is no such sample.
  double value(const std::string& sample) const {
    const auto found = samples.find(sample);
    if (found == samples.end()) {
      ADD_FAILURE() << "no sample " << sample;
      return std::numeric_limits<double>::quiet_NaN();
    }
    return found->second;
  }
};

/// The family that a sample belongs to: histograms have three suffixes.
inline std::string family_of(const std::string& name, const Exposition& exposition) {
  for (const char* suffix : {"_bucket", "_sum", "_count"}) {
    const std::string end(suffix);
    if (name.ends_with(end)) {
      const std::string family = name.substr(0, name.size() - end.size());
      const auto found = exposition.types.find(family);
      if (found != exposition.types.end() && found->second == "histogram") {
        return family;
      }
    }
  }
  return name;
}

/// Buckets are cumulative, end in +Inf, and agree with the count.
inline void check_histograms(const Exposition& exposition, const std::string& text) {
  for (const auto& [family, type] : exposition.types) {
    if (type != "histogram") {
      continue;
    }
    const std::regex bucket(family + R"re(_bucket\{le="([^"]*)"\} (\S+))re");
    double last_end = -std::numeric_limits<double>::infinity();
    double last = 0;
    for (std::sregex_iterator i(text.begin(), text.end(), bucket), end; i != end; ++i) {
      const std::string le = (*i)[1];
      const double upper =
          le == "+Inf" ? std::numeric_limits<double>::infinity() : std::strtod(le.c_str(), nullptr);
      const double count = std::strtod((*i)[2].str().c_str(), nullptr);
      EXPECT_GT(upper, last_end) << family;
      EXPECT_GE(count, last) << family;
      last_end = upper;
      last = count;
    }
    EXPECT_TRUE(std::isinf(last_end)) << family << " has no +Inf bucket";
    EXPECT_EQ(last, exposition.value(family + "_count"));
    EXPECT_EQ(exposition.samples.count(family + "_sum"), 1u);
  }
}

inline Exposition parse_exposition(const std::string& text) {
  static const std::regex kHelp(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (\S.*))");
  static const std::regex kType(
      R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped))");
  static const std::regex kSample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\["\\n])*",?)*\})? (\S+))re");
  Exposition exposition;
  EXPECT_TRUE(text.ends_with('\n'));
  std::istringstream stream(text);
  std::string helped;
  std::string current;
  for (std::string line; std::getline(stream, line);) {
    SCOPED_TRACE(line);
    std::smatch match;
    if (std::regex_match(line, match, kHelp)) {
      helped = match[1];
    } else if (std::regex_match(line, match, kType)) {
      current = match[1];
      EXPECT_EQ(helped, current) << "HELP goes before TYPE";
      EXPECT_TRUE(exposition.types.emplace(current, match[2]).second) << "a family twice";
    } else if (std::regex_match(line, match, kSample)) {
      EXPECT_EQ(family_of(match[1], exposition), current) << "outside its family";
      const std::string value = match[5];
      char* end = nullptr;
      const double number = std::strtod(value.c_str(), &end);
      EXPECT_EQ(*end, '\0') << "no number";
      EXPECT_TRUE(exposition.samples.emplace(match[1].str() + match[2].str(), number).second)
          << "a sample twice";
    } else {
      ADD_FAILURE() << "neither comment nor sample";
    }
  }
  check_histograms(exposition, text);
  return exposition;
}

}  // namespace bonescan::fakes

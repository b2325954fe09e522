#include "skeleton/stft.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace bonescan {
namespace {

std::vector<std::complex<double>> transformed(const Stft& stft, const std::vector<double>& row) {
  std::vector<std::complex<double>> spectra(stft.frames(row.size()) * stft.bins());
  stft.transform(std::span<const double>(row), row.size(), spectra);
  return spectra;
}

TEST(Stft, ShowsACosineAsHalfItsAmplitudeInItsBin) {
  std::vector<double> row(120);
  for (std::size_t t = 0; t < row.size(); ++t) {
    row[t] = 7.0 + 3.0 * std::cos(2.0 * std::numbers::pi * 5.0 * static_cast<double>(t) / 60.0);
  }
  const Stft stft({.segment = 60, .hop = 15, .window = StftWindow::kBoxcar});
  ASSERT_EQ(stft.frames(row.size()), 5U);
  ASSERT_EQ(stft.bins(), 31U);
  const auto spectra = transformed(stft, row);
  for (std::size_t bin = 0; bin < stft.bins(); ++bin) {
    EXPECT_NEAR(std::abs(spectra[bin]), bin == 5 ? 1.5 : 0.0, 1e-12) << bin;
  }
}

TEST(Stft, HasNoFramesWhenTheRowIsTooShort) {
  EXPECT_EQ(Stft({.segment = 60}).frames(59), 0U);
  EXPECT_EQ(Stft({.segment = 60}).frames(60), 1U);
}

TEST(Stft, GivesABatchWhatItGivesOneRow) {
  std::vector<double> rows(3 * 300);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = std::sin(static_cast<double>(i * i % 1013));
  }
  const Stft stft({});
  const std::size_t a_row = stft.frames(300) * stft.bins();
  std::vector<std::complex<double>> batch(3 * a_row);
  stft.transform(std::span<const double>(rows), 300, batch);
  for (std::size_t r = 0; r < 3; ++r) {
    const std::vector<double> row(rows.begin() + static_cast<std::ptrdiff_t>(r * 300),
                                  rows.begin() + static_cast<std::ptrdiff_t>(r * 300 + 300));
    const auto alone = transformed(stft, row);
    EXPECT_TRUE(std::equal(
        alone.begin(), alone.end(), batch.begin() + static_cast<std::ptrdiff_t>(r * a_row)));
  }
}

TEST(Stft, EqualsScipyOnEveryGoldenCase) {
  std::ifstream file(BONESCAN_SOURCE_DIR "/tests/golden/skeleton/stft_golden.json");
  const auto golden = nlohmann::json::parse(file);
  std::map<std::string, std::vector<double>> series;
  std::size_t compared = 0;
  for (const auto& c : golden.at("cases")) {
    const std::string name = c.at("series").get<std::string>();
    if (!c.at("x").is_null()) {
      series[name] = c.at("x").get<std::vector<double>>();
    }
    const auto& cfg = c.at("cfg");
    SCOPED_TRACE(name + " " + cfg.dump());
    const std::size_t segment = cfg.at("nperseg").get<std::size_t>();
    const Stft stft({
        .segment = segment,
        .hop = segment - cfg.at("noverlap").get<std::size_t>(),
        .window = cfg.at("window") == "hann" ? StftWindow::kHann : StftWindow::kBoxcar,
        .boundary = cfg.at("boundary").is_null() ? StftBoundary::kNone : StftBoundary::kZeros,
        .detrend = cfg.at("detrend").is_string() ? StftDetrend::kConstant : StftDetrend::kNone,
        .scaling = cfg.at("scaling") == "spectrum" ? StftScaling::kSpectrum : StftScaling::kPsd,
    });
    const auto& row = series.at(name);
    const auto frames = c.at("nframes").get<std::size_t>();
    ASSERT_EQ(stft.frames(row.size()), frames);
    ASSERT_EQ(stft.bins(), c.at("nfreq").get<std::size_t>());
    const auto spectra = transformed(stft, row);
    const auto& re = c.at("re");
    const auto& im = c.at("im");
    for (std::size_t bin = 0; bin < stft.bins(); ++bin) {
      for (std::size_t frame = 0; frame < frames; ++frame) {
        const bool nested = re.at(0).is_array();
        const std::size_t at = bin * frames + frame;
        const double real = nested ? re[bin][frame].get<double>() : re[at].get<double>();
        const double imag = nested ? im[bin][frame].get<double>() : im[at].get<double>();
        // The golden file has twelve digits.
        const double rounding = 1e-11 * std::max(std::abs(real), std::abs(imag));
        const std::complex<double> found = spectra[frame * stft.bins() + bin];
        ASSERT_NEAR(found.real(), real, 1e-10 + rounding) << bin << " " << frame;
        ASSERT_NEAR(found.imag(), imag, 1e-10 + rounding) << bin << " " << frame;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 9000U);
}

}  // namespace
}  // namespace bonescan

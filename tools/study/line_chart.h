// A line chart as SVG text, with nothing but the standard library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< by ascending x
};

enum class ChartScale : std::uint8_t {
  kLinear,
  kEven,  ///< every x at the same distance from the next
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ChartLine> lines;
  ChartScale scale = ChartScale::kEven;
  bool diagonal = false;  ///< y = x beside the lines
};

/// Values of y are drawn from 0 to 1.
std::string to_svg(const LineChart& chart);

}  // namespace bonescan

// A line chart as SVG text, with nothing but the standard library.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< by ascending x
};

enum class ChartScale : std::uint8_t {
  kLinear,       ///< from the least value to the greatest
  kEven,         ///< every value at the same distance from the next
  kShare,        ///< from 0 to 1
  kLogarithmic,  ///< whole decades; values of zero and below are drawn at the lower end
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ChartLine> lines;
  ChartScale x_scale = ChartScale::kEven;
  ChartScale y_scale = ChartScale::kShare;
  bool diagonal = false;  ///< y = x beside the lines
};

/// Points that are not finite are left out.
std::string to_svg(const LineChart& chart);

}  // namespace bonescan

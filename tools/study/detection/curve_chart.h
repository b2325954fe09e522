// Curves over two axes, each linear or logarithmic, as SVG text with the standard library alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {

enum class AxisScale : std::uint8_t {
  kLinear,
  kLogarithmic,  ///< values of zero and below are drawn at the lower end
};

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< by ascending x
};

struct CurveChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  AxisScale x_scale = AxisScale::kLogarithmic;
  AxisScale y_scale = AxisScale::kLinear;
  std::vector<Curve> curves;
};

/// Points that are not finite are left out.
std::string to_svg(const CurveChart& chart);

}  // namespace bonescan

#include "tools/study/detection/curve_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace bonescan {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 380;
constexpr double kLeft = 60;
constexpr double kRight = 190;  // names of the curves
constexpr double kTop = 36;
constexpr double kBottom = 46;
constexpr double kNameHeight = 17;
constexpr std::array<std::string_view, 10> kColours = {"#24292e",
                                                       "#1f6fb2",
                                                       "#c8501e",
                                                       "#2e8b57",
                                                       "#7b4fa3",
                                                       "#a8821a",
                                                       "#b03060",
                                                       "#5f6b73",
                                                       "#15808d",
                                                       "#6b8e23"};

class Axis {
 public:
  Axis(AxisScale scale, double from, double to) : scale_(scale), from_(from), to_(to) {}

  void include(double value) {
    if (std::isfinite(value) && (scale_ == AxisScale::kLinear || value > 0.0)) {
      low_ = std::min(low_, value);
      high_ = std::max(high_, value);
    }
  }

  void close() {
    if (low_ > high_) {
      low_ = high_ = 1.0;
    }
    if (scale_ == AxisScale::kLinear) {
      low_ = std::min(low_, 0.0);
      high_ = std::max(high_, low_ + 1e-9);
    } else {
      low_ = std::pow(10.0, std::floor(std::log10(low_)));
      high_ = std::max(10.0 * low_, std::pow(10.0, std::ceil(std::log10(high_))));
    }
  }

  double at(double value) const {
    const double share =
        scale_ == AxisScale::kLinear
            ? (value - low_) / (high_ - low_)
            : (value <= low_ ? 0.0 : std::log(value / low_) / std::log(high_ / low_));
    return from_ + std::clamp(share, 0.0, 1.0) * (to_ - from_);
  }

  std::vector<double> ticks() const {
    std::vector<double> all;
    if (scale_ == AxisScale::kLinear) {
      for (int i = 0; i <= 4; ++i) {
        all.push_back(low_ + 0.25 * i * (high_ - low_));
      }
      return all;
    }
    const int decades = static_cast<int>(std::lround(std::log10(high_ / low_)));
    for (int i = 0; i <= decades; ++i) {
      all.push_back(low_ * std::pow(10.0, i));
    }
    return all;
  }

 private:
  AxisScale scale_;
  double from_;
  double to_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

std::string frame(const CurveChart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  for (const double tick : y.ticks()) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#d8dcdf\"/>\n"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        kLeft,
        kWidth - kRight,
        y.at(tick),
        kLeft - 6,
        y.at(tick) + 4,
        tick);
  }
  for (const double tick : x.ticks()) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.4g}</text>\n",
                       x.at(tick),
                       kHeight - kBottom + 16,
                       tick);
  }
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n"
      "<text x=\"{:.1f}\" y=\"18\" font-weight=\"bold\">{}</text>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
      0.5 * (kLeft + kWidth - kRight),
      kHeight - 8,
      chart.x_label,
      kLeft,
      chart.title,
      kWidth - kRight + 10,
      kTop - 8,
      chart.y_label);
  return svg;
}

}  // namespace

std::string to_svg(const CurveChart& chart) {
  Axis x(chart.x_scale, kLeft, kWidth - kRight);
  Axis y(chart.y_scale, kHeight - kBottom, kTop);
  for (const Curve& curve : chart.curves) {
    for (const auto& [px, py] : curve.points) {
      x.include(px);
      y.include(py);
    }
  }
  x.close();
  y.close();
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#24292e\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      kWidth,
      kHeight);
  svg += frame(chart, x, y);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const std::string_view colour = kColours[i % kColours.size()];
    std::string path;
    for (const auto& [px, py] : chart.curves[i].points) {
      if (!std::isfinite(px) || !std::isfinite(py)) {
        continue;
      }
      path += fmt::format("{:.1f},{:.1f} ", x.at(px), y.at(py));
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n",
                         x.at(px),
                         y.at(py),
                         colour);
    }
    svg += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
        path,
        colour,
        kWidth - kRight + 10,
        kTop + 12 + kNameHeight * static_cast<double>(i),
        colour,
        chart.curves[i].name);
  }
  return svg + "</svg>\n";
}

}  // namespace bonescan

#include "tools/study/output/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>

namespace bonescan {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 360;
constexpr double kLeft = 52;
constexpr double kRight = 190;  // names of the lines
constexpr double kTop = 34;
constexpr double kBottom = 44;
constexpr double kNameHeight = 18;
constexpr double kTickWidth = 36;  // a label needs so much
constexpr std::array<std::string_view, 10> kColours = {"#1f6fb2",
                                                       "#c8501e",
                                                       "#2e8b57",
                                                       "#7b4fa3",
                                                       "#a8821a",
                                                       "#b03060",
                                                       "#5f6b73",
                                                       "#15808d",
                                                       "#24292e",
                                                       "#6b8e23"};

bool finite(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

/// One axis: where a value lies between two places of the picture.
class Axis {
 public:
  Axis(ChartScale scale, double from, double to) : scale_(scale), from_(from), to_(to) {}

  void include(double value) {
    if (scale_ != ChartScale::kLogarithmic || value > 0.0) {
      values_.insert(value);
    }
  }

  /// REQUIRES: every value was included.
  void close() {
    if (scale_ == ChartScale::kShare) {
      low_ = 0.0;
      high_ = 1.0;
    } else if (!values_.empty()) {
      low_ = *values_.begin();
      high_ = *values_.rbegin();
    }
    if (scale_ == ChartScale::kLogarithmic) {
      low_ = std::pow(10.0, std::floor(std::log10(low_)));
      high_ = std::max(10.0 * low_, std::pow(10.0, std::ceil(std::log10(high_))));
    }
  }

  double low() const { return low_; }
  double high() const { return high_; }
  bool empty() const { return values_.empty(); }

  double at(double value) const {
    return from_ + std::clamp(share(value), 0.0, 1.0) * (to_ - from_);
  }

  std::vector<double> ticks() const {
    std::vector<double> all(values_.begin(), values_.end());
    if (scale_ == ChartScale::kShare) {
      all = {0.0, 0.25, 0.5, 0.75, 1.0};
    } else if (scale_ == ChartScale::kLogarithmic) {
      all.clear();
      const int decades = static_cast<int>(std::lround(std::log10(high_ / low_)));
      for (int i = 0; i <= decades; ++i) {
        all.push_back(low_ * std::pow(10.0, i));
      }
    }
    return all;
  }

 private:
  double share(double value) const {
    if (scale_ == ChartScale::kLogarithmic) {
      return value <= low_ ? 0.0 : std::log(value / low_) / std::log(high_ / low_);
    }
    if (scale_ == ChartScale::kEven) {
      const auto place = std::distance(values_.begin(), values_.lower_bound(value));
      return values_.size() < 2
                 ? 0.0
                 : static_cast<double>(place) / static_cast<double>(values_.size() - 1);
    }
    return high_ > low_ ? (value - low_) / (high_ - low_) : 0.0;
  }

  ChartScale scale_;
  double from_;
  double to_;
  double low_ = 1.0;
  double high_ = 1.0;
  std::set<double> values_;
};

std::string axes(const LineChart& chart, const Axis& x, const Axis& y) {
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
  double written_to = 0.0;
  for (const double tick : x.ticks()) {
    if (x.at(tick) < written_to) {
      continue;  // It would be written over its neighbour.
    }
    written_to = x.at(tick) + kTickWidth;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.4g}</text>\n",
                       x.at(tick),
                       kHeight - kBottom + 16,
                       tick);
  }
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     0.5 * (kLeft + kWidth - kRight),
                     kHeight - 8,
                     chart.x_label);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"20\" font-weight=\"bold\">{}</text>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
      kLeft,
      chart.title,
      kWidth - kRight + 10,
      kTop - 8,
      chart.y_label);
  return svg;
}

}  // namespace

std::string to_svg(const LineChart& chart) {
  Axis x(chart.x_scale, kLeft, kWidth - kRight);
  Axis y(chart.y_scale, kHeight - kBottom, kTop);
  for (const ChartLine& line : chart.lines) {
    for (const auto& point : line.points) {
      if (finite(point)) {
        x.include(point.first);
        y.include(point.second);
      }
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
  svg += axes(chart, x, y);
  if (chart.diagonal && !x.empty()) {
    svg += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
        "stroke=\"#8a9299\" stroke-dasharray=\"4 3\"/>\n",
        x.at(x.low()),
        y.at(x.low()),
        x.at(x.high()),
        y.at(x.high()));
  }
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const std::string_view colour = kColours[i % kColours.size()];
    std::string path;
    for (const auto& point : chart.lines[i].points) {
      if (!finite(point)) {
        continue;
      }
      const double px = x.at(point.first);
      const double py = y.at(point.second);
      path += fmt::format("{:.1f},{:.1f} ", px, py);
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", px, py, colour);
    }
    svg +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n",
                    path,
                    colour);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
                       kWidth - kRight + 10,
                       kTop + 12 + kNameHeight * static_cast<double>(i),
                       colour,
                       chart.lines[i].name);
  }
  return svg + "</svg>\n";
}

}  // namespace bonescan

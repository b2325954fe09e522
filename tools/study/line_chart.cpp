#include "tools/study/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

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
constexpr std::array<std::string_view, 8> kColours = {
    "#1f6fb2", "#c8501e", "#2e8b57", "#7b4fa3", "#a8821a", "#b03060", "#5f6b73", "#15808d"};

class Frame {
 public:
  explicit Frame(const LineChart& chart) : scale_(chart.scale) {
    std::set<double> all;
    for (const ChartLine& line : chart.lines) {
      for (const auto& [x, y] : line.points) {
        all.insert(x);
      }
    }
    values_.assign(all.begin(), all.end());
  }

  const std::vector<double>& values() const { return values_; }

  double x(double value) const {
    if (values_.size() < 2) {
      return kLeft;
    }
    const double share =
        scale_ == ChartScale::kEven
            ? static_cast<double>(std::lower_bound(values_.begin(), values_.end(), value) -
                                  values_.begin()) /
                  static_cast<double>(values_.size() - 1)
            : (value - values_.front()) / (values_.back() - values_.front());
    return kLeft + share * (kWidth - kLeft - kRight);
  }

  static double y(double value) {
    return kTop + (1.0 - std::clamp(value, 0.0, 1.0)) * (kHeight - kTop - kBottom);
  }

 private:
  ChartScale scale_;
  std::vector<double> values_;
};

std::string axes(const LineChart& chart, const Frame& frame) {
  std::string svg;
  for (const double y : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#d8dcdf\"/>\n"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft,
        kWidth - kRight,
        Frame::y(y),
        kLeft - 6,
        Frame::y(y) + 4,
        y);
  }
  double written_to = 0.0;
  for (const double x : frame.values()) {
    if (frame.x(x) < written_to) {
      continue;  // It would be written over its neighbour.
    }
    written_to = frame.x(x) + kTickWidth;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.4g}</text>\n",
                       frame.x(x),
                       kHeight - kBottom + 16,
                       x);
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
  const Frame frame(chart);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#24292e\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      kWidth,
      kHeight);
  svg += axes(chart, frame);
  if (chart.diagonal && !frame.values().empty()) {
    svg += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
        "stroke=\"#8a9299\" stroke-dasharray=\"4 3\"/>\n",
        frame.x(frame.values().front()),
        Frame::y(frame.values().front()),
        frame.x(frame.values().back()),
        Frame::y(frame.values().back()));
  }
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const std::string_view colour = kColours[i % kColours.size()];
    std::string path;
    for (const auto& [x, y] : chart.lines[i].points) {
      path += fmt::format("{:.1f},{:.1f} ", frame.x(x), Frame::y(y));
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n",
                         frame.x(x),
                         Frame::y(y),
                         colour);
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

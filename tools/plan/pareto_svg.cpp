#include "tools/plan/pareto_svg.h"

#include "scenarios/schema/quantity.h"
#include "tools/report/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace bonescan {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 460;
constexpr double kLeft = 70;
constexpr double kRight = 150;  ///< names of the curves
constexpr double kTop = 56;
constexpr double kBottom = 56;
constexpr double kNameHeight = 16;
constexpr std::array<std::string_view, 7> kColours = {
    "#1f6fb2", "#c8501e", "#2e8b57", "#7b4fa3", "#a8821a", "#b03060", "#15808d"};

/// Whole decades that hold all values.
struct Decades {
  int low = 0;
  int high = 1;

  explicit Decades(const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    low = static_cast<int>(std::floor(std::log10(*least)));
    high = std::max(low + 1, static_cast<int>(std::ceil(std::log10(*most))));
  }

  double share(double value) const {
    return (std::log10(value) - low) / static_cast<double>(high - low);
  }
};

constexpr double kLeastHours = 1e-6;

double hours(const PlanCandidate& candidate) {
  return std::max(candidate.gpu_hours_per_day, kLeastHours);
}

class Picture {
 public:
  explicit Picture(const PointResult& point)
      : point_(point),
        x_(values([](const PlanCandidate& one) { return one.probes_per_rnic_s; })),
        y_(values(hours)) {}

  std::string draw(const std::string& title) const {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
        "<text x=\"{2}\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{3}</text>\n"
        "<text x=\"{2}\" y=\"40\" fill=\"#555\">Down is better, left is cheaper. Filled points "
        "meet "
        "every objective and limit, hollow ones do not.</text>\n",
        kWidth,
        kHeight,
        kLeft,
        escape_html(title));
    svg += axes();
    svg += curves();
    svg += optimum();
    return svg + "</svg>\n";
  }

 private:
  template <class F>
  std::vector<double> values(const F& of) const {
    std::vector<double> all;
    for (const PlanCandidate& candidate : point_.candidates) {
      all.push_back(of(candidate));
    }
    return all;
  }

  double x(double value) const { return kLeft + x_.share(value) * (kWidth - kLeft - kRight); }

  double y(double value) const {
    return kHeight - kBottom - y_.share(value) * (kHeight - kTop - kBottom);
  }

  std::string axes() const {
    std::string svg;
    for (int decade = x_.low; decade <= x_.high; ++decade) {
      const double at = x(std::pow(10.0, decade));
      svg += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/>\n"
          "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:g}</text>\n",
          at,
          kTop,
          kHeight - kBottom,
          kHeight - kBottom + 18,
          std::pow(10.0, decade));
    }
    for (int decade = y_.low; decade <= y_.high; ++decade) {
      const double at = y(std::pow(10.0, decade));
      svg += fmt::format(
          "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>\n"
          "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
          kLeft,
          at,
          kWidth - kRight,
          kLeft - 8,
          at + 4,
          std::pow(10.0, decade));
    }
    return svg + fmt::format(
                     "<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\">probes a second of an "
                     "RNIC</text>\n<text transform=\"translate(18 {2}) rotate(-90)\" "
                     "text-anchor=\"middle\">GPU hours lost a day</text>\n",
                     0.5 * (kLeft + kWidth - kRight),
                     kHeight - 14,
                     0.5 * (kTop + kHeight - kBottom));
  }

  /// Of one scheme, by ascending price.
  std::map<ProbeScheme, std::vector<const PlanCandidate*>> by_scheme() const {
    std::map<ProbeScheme, std::vector<const PlanCandidate*>> all;
    for (const PlanCandidate& candidate : point_.candidates) {
      all[candidate.scheme].push_back(&candidate);
    }
    for (auto& [scheme, curve] : all) {
      std::stable_sort(curve.begin(), curve.end(), [](const auto* a, const auto* b) {
        return a->probes_per_rnic_s != b->probes_per_rnic_s
                   ? a->probes_per_rnic_s < b->probes_per_rnic_s
                   : a->gpu_hours_per_day < b->gpu_hours_per_day;
      });
    }
    return all;
  }

  static std::string tip(const PlanCandidate& candidate) {
    std::string text = fmt::format("{}: {} probes every {}, sweep {:.3g} s, {:.3g} GPU hours a day",
                                   to_string(candidate.scheme),
                                   candidate.probes_per_visit,
                                   format_duration(candidate.visit),
                                   candidate.sweep_s,
                                   candidate.gpu_hours_per_day);
    for (const std::string& miss : candidate.misses) {
      text += "; misses " + miss;
    }
    return text;
  }

  std::string curves() const {
    std::string svg;
    std::vector<double> taken;
    std::size_t colour = 0;
    for (const auto& [scheme, curve] : by_scheme()) {
      const std::string_view stroke = kColours[colour++ % kColours.size()];
      std::string line;
      std::string marks;
      const PlanCandidate* last = nullptr;  // of those that no cheaper one of the scheme beats
      for (const PlanCandidate* one : curve) {
        const bool better = last == nullptr || hours(*one) < hours(*last);
        if (better) {
          line += fmt::format("{:.1f},{:.1f} ", x(one->probes_per_rnic_s), y(hours(*one)));
          last = one;
        }
        marks += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" stroke=\"{}\" fill=\"{}\"{}>"
            "<title>{}</title></circle>\n",
            x(one->probes_per_rnic_s),
            y(hours(*one)),
            better ? 4 : 3,
            stroke,
            one->feasible() ? stroke : "white",
            better ? "" : " opacity=\"0.35\"",
            escape_html(tip(*one)));
      }
      svg += fmt::format(
          "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
          line,
          stroke);
      svg += marks;
      const double at = free_place(y(hours(*last)), taken);
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n",
                         x(last->probes_per_rnic_s) + 10,
                         at + 4,
                         stroke,
                         to_string(scheme));
    }
    return svg;
  }

  /// Names do not cover each other.
  static double free_place(double wanted, std::vector<double>& taken) {
    const auto clashes = [&](double at) {
      return std::any_of(taken.begin(), taken.end(), [&](double other) {
        return std::abs(other - at) < kNameHeight;
      });
    };
    double at = wanted;
    for (int step = 1; clashes(at); ++step) {
      at = wanted + (step % 2 == 0 ? -1.0 : 1.0) * 0.5 * kNameHeight * std::ceil(0.5 * step);
    }
    taken.push_back(at);
    return at;
  }

  std::string optimum() const {
    if (!point_.choice.best) {
      return fmt::format(
          "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">nothing meets every objective and limit"
          "</text>\n",
          kLeft + 10,
          kTop + 16);
    }
    const PlanCandidate& best = point_.candidates[*point_.choice.best];
    const double at_x = x(best.probes_per_rnic_s);
    const double at_y = y(hours(best));
    return fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"9\" fill=\"none\" stroke=\"#24292e\" "
        "stroke-width=\"2\"/>\n<text x=\"{2:.1f}\" y=\"{3:.1f}\" font-weight=\"bold\">run this: "
        "{4}, "
        "{5} probes every {6}</text>\n",
        at_x,
        at_y,
        std::min(at_x + 12, kWidth - 330),
        at_y - 12,
        to_string(best.scheme),
        best.probes_per_visit,
        format_duration(best.visit));
  }

  const PointResult& point_;
  Decades x_;
  Decades y_;
};

}  // namespace

std::string pareto_svg(const std::string& title, const PointResult& point) {
  return Picture(point).draw(title);
}

}  // namespace bonescan

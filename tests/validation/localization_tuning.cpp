#include "tests/validation/localization_tuning.h"

namespace bonescan::validation {

double Tally::macro_f1() const {
  const double sum = precision + recall;
  return traces > 0 && sum > 0.0 ? 2.0 * precision * recall / sum / traces : 0.0;
}

Tuning::Tuning(std::vector<Method>& methods) : methods_(&methods) {
  for (const Method& method : methods) {
    tallies_.emplace_back(method.settings.size());
  }
}

void Tuning::try_on(const test::FlowTrace& trace) {
  const std::vector<PathEvidence> evidence = trace.evidence();
  for (std::size_t m = 0; m < methods_->size(); ++m) {
    Method& method = (*methods_)[m];
    std::vector<Named> named;
    for (std::size_t i = 0; i < method.settings.size(); ++i) {
      Setting& setting = method.settings[i];
      if (i == 0 || method.settings[i - 1].family != setting.family) {
        named = check_names(trace, setting.localizer->localize(evidence, Symptom::kLoss));
      }
      const Score score = score_names(trace, named, method.rule, setting.cut);
      Tally& tally = tallies_[m][i];
      tally.traces += 1;
      tally.failed += score.failed;
      tally.right += score.right;
      tally.wrong += score.wrong();
      tally.precision += score.precision;
      tally.recall += score.recall;
    }
  }
}

std::size_t Tuning::best_by_f1(std::size_t method) const {
  const std::vector<Tally>& all = tallies_[method];
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    best = all[i].macro_f1() > all[best].macro_f1() ? i : best;
  }
  return best;
}

std::size_t Tuning::best_by_false(std::size_t method, double false_most) const {
  const std::vector<Tally>& all = tallies_[method];
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const bool kept = all[i].wrong <= false_most;
    const bool leads = all[best].wrong <= false_most;
    const bool fewer = all[i].wrong < all[best].wrong;
    const bool more = all[i].right > all[best].right || (all[i].right == all[best].right && fewer);
    if (kept != leads ? kept : (kept ? more : fewer)) {
      best = i;
    }
  }
  return best;
}

}  // namespace bonescan::validation

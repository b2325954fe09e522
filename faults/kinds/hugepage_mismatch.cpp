#include "faults/kinds/kinds.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  EffectSpec pool = effect_on(EffectKind::kHugepages, parameters.on);
  pool.pages = parameters.pages;
  return std::vector{pool};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  if (site.hosts().empty()) {
    return std::nullopt;
  }
  KindParameters drawn;
  drawn.on = on_host(one_of(site.hosts(), stream, 0));
  // From one page to half of what the configuration asks for.  @ours
  const double most = 0.5 * site.world().devices().hugepages_expected();
  drawn.pages = static_cast<std::uint32_t>(log_uniform(1.0, most, stream.open01_at(1)));
  return drawn;
}

}  // namespace

FaultKind hugepage_mismatch_kind() {
  return {.name = "hugepage-mismatch",
          .on = RefKind::kHost,
          .or_port = false,
          .keys = "pages",
          .meaning = "A host has fewer huge pages than its configuration and its RNICs ask for.",
          .table_row = 18,
          .failure_class = FailureClass::kSoftware,
          .seen_by = SeenBy::kHostChecks,
          .made_of = "`hugepages.set`, no page left unless `pages` says otherwise",
          .mechanism =
              "The pool of huge pages is smaller than the processes of the RNICs need when they "
              "start; whoever runs keeps what it has.",
          .probes_see =
              "Nothing, until a process on the host starts: it does not come up, and its agent is "
              "dead.",
          .probes_miss =
              "Everything else. The high latency that the paper reports is not in the model.",
          .stage = "none: host check (`hugepages`)",
          .repair = "Reserve the pages again, at boot.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan

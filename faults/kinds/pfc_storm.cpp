#include "faults/kinds/kind_parts.h"

namespace bonescan {
namespace {

Expected<std::vector<EffectSpec>> effects(const KindParameters& parameters) {
  if (!(parameters.paused > 0.0 && parameters.paused <= 1.0)) {
    return misfit("a share of the time is above 0 and at most 1");
  }
  EffectSpec storm = effect_on(EffectKind::kPauseStorm, parameters.on);
  storm.direction =
      parameters.direction == EffectDirection::kUp ? EffectDirection::kUp : EffectDirection::kDown;
  storm.paused = parameters.paused;
  return std::vector{storm};
}

std::optional<KindParameters> draw(const FaultSite& site, const RngStream& stream) {
  auto drawn = draw_one_way(site.access_cables(), stream);
  if (drawn) {
    drawn->direction = EffectDirection::kDown;
    // Most of the time, and not all of it, which were a dead port. @ours
    drawn->paused = 0.8 + 0.19 * stream.open01_at(2);
  }
  return drawn;
}

}  // namespace

FaultKind pfc_storm_kind() {
  return {.name = "pfc-storm",
          .on = RefKind::kCable,
          .or_port = true,
          .keys = "direction paused",
          .meaning = "One end of a cable has the other pause almost without end.",
          .table_row = 0,
          .failure_class = FailureClass::kHost,
          .made_of =
              "`pause.storm` towards the RNIC (`direction: down`), 90 % of the time unless "
              "`paused` says otherwise",
          .mechanism =
              "The firmware of an RNIC hangs and sends pause frames, each of which holds the port "
              "of its ToR for up to 65,535 quanta.",
          .probes_see =
              "Waits of half a pause, 38 us at 400 Gb/s, on all pairs of the RNIC. With "
              "`load.model: links` and load beyond what the pauses leave: waits on whatever shares "
              "a port that is paused in turn.",
          .probes_miss =
              "Which of the paused ports is the cause: victims are as late. RNIC, cable and ToR "
              "port apart.",
          .stage = "underlay vote, from late windows",
          .repair = "Shut the port; reset the RNIC; turn on a watchdog for pauses.",
          .effects = effects,
          .draw = draw};
}

}  // namespace bonescan

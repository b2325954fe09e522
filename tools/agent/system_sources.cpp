#include "tools/agent/system_sources.h"

#include <fmt/format.h>

#include <filesystem>

namespace bonescan {
namespace {

class SystemSources final : public LiveSystem {
 public:
  std::vector<PreflightRow> inspect(const AgentConfig& config) override {
    std::vector<PreflightRow> rows;
    for (const InventoryEntry& entry : config.inventory) {
      if (entry.host == config.host) {
        std::error_code ignored;
        const bool there =
            std::filesystem::exists("/sys/class/infiniband/" + entry.device, ignored);
        rows.push_back({there ? PreflightStatus::kOk : PreflightStatus::kMissing,
                        "device " + entry.device,
                        there ? "is there" : "this host has no such RDMA device",
                        there ? "" : "`rdma link` lists the devices"});
      }
    }
    return rows;
  }

  Expected<std::unique_ptr<LiveSources>> open(const AgentConfig&,
                                              const EndpointDirectory&,
                                              const AgentClock&) override {
    return fail(ErrorCode::kUnavailable, "no sources");
  }
};

}  // namespace

std::unique_ptr<LiveSystem> make_system_sources() {
  return std::make_unique<SystemSources>();
}

}  // namespace bonescan

#include "tools/topology/host_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tinyxml2.h>

namespace bonescan {
namespace {

constexpr std::int64_t kBitsPerMegabit = 1'000'000;

tl::unexpected<Error> misfit(const std::string& file,
                             int line,
                             std::string_view expected,
                             std::string_view found) {
  return fail(ErrorCode::kInvalid,
              fmt::format("{}:{}: expected {}; found {}", file, line, expected, found));
}

class NcclReader final {
 public:
  explicit NcclReader(const std::string& file) : file_(file) {}

  Expected<HostType> read(std::string_view text) {
    tinyxml2::XMLDocument document;
    if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
      return misfit(file_, document.ErrorLineNum(), "XML", document.ErrorName());
    }
    const tinyxml2::XMLElement* system = document.FirstChildElement("system");
    if (system == nullptr) {
      return misfit(file_, 1, "<system> with <cpu>, <pci>, <gpu>, <nic> and <net> in it", "none");
    }
    // Depth first with a stack of our own: the nesting is the file's choice.
    std::vector<Open> open = {{system, {}}};
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      if (auto read = visit(*at.element, at.above); !read) {
        return tl::unexpected(read.error());
      }
      std::vector<std::string> above = at.above;
      const std::string_view tag = at.element->Name();
      if (tag == "pci" || tag == "cpu") {
        const char* id = at.element->Attribute(tag == "pci" ? "busid" : "numaid");
        above.push_back(fmt::format("{} {}", tag, id == nullptr ? "" : id));
      }
      // Last child first, so that they come off the stack in the order of the file.
      for (const auto* child = at.element->LastChildElement(); child != nullptr;
           child = child->PreviousSiblingElement()) {
        open.push_back({child, above});
      }
    }
    std::ranges::stable_sort(host_.gpus, {}, &HostGpu::device);
    return std::move(host_);
  }

 private:
  struct Open {
    const tinyxml2::XMLElement* element;
    std::vector<std::string> above;
  };

  Expected<void> visit(const tinyxml2::XMLElement& element, const std::vector<std::string>& above) {
    const std::string_view tag = element.Name();
    if (tag == "gpu") {
      HostGpu gpu{.device = 0, .bus = above.empty() ? "" : above.back(), .above = above};
      if (element.QueryUnsignedAttribute("dev", &gpu.device) != tinyxml2::XML_SUCCESS) {
        return misfit(file_, element.GetLineNum(), "a gpu with a number as dev", "none");
      }
      host_.gpus.push_back(std::move(gpu));
    } else if (tag == "net") {
      const char* name = element.Attribute("name");
      const char* guid = element.Attribute("guid");
      std::int64_t megabits = 0;
      if (name == nullptr || guid == nullptr ||
          element.QueryInt64Attribute("speed", &megabits) != tinyxml2::XML_SUCCESS) {
        return misfit(file_, element.GetLineNum(), "a net with name, guid and speed", "less");
      }
      constexpr std::int64_t kMostMegabits = 100'000'000;
      if (megabits < 0 || megabits > kMostMegabits) {
        return misfit(file_, element.GetLineNum(), "a speed in Mb/s", std::to_string(megabits));
      }
      if (std::string_view(guid) != "0x0") {
        host_.ports.push_back({name, guid, BitsPerSecond(megabits * kBitsPerMegabit), above});
      }
    }
    return {};
  }

  const std::string& file_;
  HostType host_;
};

std::string gigabits(BitsPerSecond rate) {
  return std::to_string(rate.count() / 1'000'000'000);
}

/// Levels that two devices share, from the outside.
std::size_t shared_levels(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::size_t count = 0;
  while (count < std::min(a.size(), b.size()) && a[count] == b[count]) {
    ++count;
  }
  return count;
}

void check_gpus(const HostType& host, std::vector<std::string>& findings) {
  for (const HostGpu& gpu : host.gpus) {
    std::size_t nearest = 0;
    for (const HostPort& port : host.ports) {
      nearest = std::max(nearest, shared_levels(gpu.above, port.above));
    }
    if (nearest < 2) {
      findings.push_back(
          fmt::format("gpu {} ({}) shares no PCI switch with an RNIC", gpu.device, gpu.bus));
    }
  }
}

}  // namespace

Expected<HostType> parse_nccl_topology(std::string_view text, const std::string& file) {
  return NcclReader(file).read(text);
}

std::vector<std::string> check_host_type(const HostType& host, const Fabric& fabric) {
  std::vector<std::string> findings;
  std::map<std::string, std::uint32_t> ports_of;
  for (const HostPort& port : host.ports) {
    ++ports_of[port.guid];
  }
  const std::uint32_t rails = fabric.options().rails;
  if (ports_of.size() != rails) {
    findings.push_back(fmt::format("{} RNICs where the blueprint has {}", ports_of.size(), rails));
  }
  for (const auto& [guid, count] : ports_of) {
    if (count != fabric.ports()) {
      findings.push_back(fmt::format(
          "RNIC {} has {} ports where the blueprint has {}", guid, count, fabric.ports()));
    }
  }
  const BitsPerSecond planned = fabric.rate(fabric.access_cable(RnicId(0)));
  for (const HostPort& port : host.ports) {
    if (port.rate != planned) {
      findings.push_back(fmt::format("{} runs at {} Gb/s where the blueprint has {}",
                                     port.name,
                                     gigabits(port.rate),
                                     gigabits(planned)));
    }
  }
  if (host.gpus.size() != rails) {
    findings.push_back(fmt::format("{} GPUs where the blueprint has {}", host.gpus.size(), rails));
  }
  check_gpus(host, findings);
  return findings;
}

}  // namespace bonescan

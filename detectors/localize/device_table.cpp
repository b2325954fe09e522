#include "detectors/localize/device_table.h"

namespace bonescan {
namespace {

constexpr std::string_view kOpening = "link(";
constexpr std::string_view kBetween = ", ";

}  // namespace

Component device_of_end(std::string_view end) {
  const std::size_t host = end.find('/');
  if (host == std::string_view::npos) {
    return {ComponentType::kSwitch, std::string(end)};
  }
  return {ComponentType::kRnic, std::string(end.substr(0, end.find('/', host + 1)))};
}

void DeviceTable::update() {
  for (std::size_t i = ends_.size(); i < components_->size(); ++i) {
    const ComponentId link(static_cast<std::uint32_t>(i));
    const Component& component = (*components_)[link];
    LinkEnds& ends = ends_.emplace_back();
    std::string_view name = component.name;
    if (component.type != ComponentType::kLink || !name.starts_with(kOpening) ||
        !name.ends_with(')')) {
      continue;
    }
    name = name.substr(kOpening.size(), name.size() - kOpening.size() - 1);
    const std::size_t between = name.find(kBetween);
    if (between == std::string_view::npos) {
      continue;
    }
    ends.devices = {add(name.substr(0, between), link),
                    add(name.substr(between + kBetween.size()), link)};
  }
}

LinkEnds DeviceTable::ends(ComponentId link) const {
  return link.valid() && link.index() < ends_.size() ? ends_[link.index()] : LinkEnds{};
}

DeviceId DeviceTable::find(const Component& component) const {
  const auto place = ids_.find(component);
  return place == ids_.end() ? DeviceId() : place->second;
}

DeviceId DeviceTable::add(std::string_view end, ComponentId link) {
  const DeviceId next(static_cast<std::uint32_t>(devices_.size()));
  const auto [place, fresh] = ids_.try_emplace(device_of_end(end), next);
  if (fresh) {
    devices_.push_back(&place->first);
    links_.emplace_back();
  }
  links_[place->second.index()].push_back(link);
  return place->second;
}

}  // namespace bonescan

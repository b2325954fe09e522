// A plan for people and for machines.
//
// Invariants: 1. what is not known is null, and "-" in tables, with its reason; 2. published
// figures stand beside ours and are called so; an identity check is called one, it reproduces
// nothing.
#pragma once

#include "tools/plan/plan_result.h"
#include "tools/report/report_json.h"

#include <span>
#include <string>

namespace bonescan {

Json plan_json(const PlanFile& plan, const PlanResult& result);

/// Tables for a terminal.
std::string plan_text(const PlanFile& plan, const PlanResult& result);

/// Why published numbers do not fit each other; printed where any of them is compared.
std::span<const std::string_view> published_contradictions();

}  // namespace bonescan

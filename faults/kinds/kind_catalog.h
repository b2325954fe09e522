// The table of named kinds in CATALOG.md, written from the kinds' own words.
//
// One source of truth: the words of a kind are in its file, and the document holds what this says
// between the two headings around it; a test compares them and tools/regen_golden.sh writes it
// anew.
#pragma once

#include <string>

namespace bonescan {

/// Markdown: a heading, what the columns mean, and a row for every kind in the order of
/// fault_kinds().
std::string kind_catalog();

/// `document` with the section of the kinds replaced by what kind_catalog() says; unchanged if it
/// has no such section.
std::string with_kind_catalog(const std::string& document);

}  // namespace bonescan

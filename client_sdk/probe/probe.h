// One probing, from options to a report.
#pragma once

#include <optional>

#include "report/report.h"

namespace nnfleet {

struct Options {
  std::string executable;  // empty: no driver is touched
  std::string work_folder;
  std::string root;
  std::string library_folder;
  int silence_limit_ms = 5000;
};

// None where this is no Android phone.
std::optional<report::Report> probe(const Options& options);

}  // namespace nnfleet

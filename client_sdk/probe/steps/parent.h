// The parent's side of all steps: starts children, reads what they say, notes what killed them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isolation/child.h"
#include "report/report.h"

namespace nnfleet::steps {

// What a child says is a line of words between tabs; the first names the fact.
using Words = std::vector<std::string>;

class Parent {
 public:
  struct Settings {
    std::string executable;
    std::string library_folder;
    std::string work_folder;
    int silence_limit_ms = 5000;
  };

  Parent(Settings settings, std::vector<report::Failure>& failures);

  isolation::Outcome ask(const std::string& step, const Words& arguments,
                         const std::function<void(const Words&)>& on_words) const;

  // A failure is noted unless the child ended well.
  void note(const std::string& step, const isolation::Outcome& outcome);

  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
  std::vector<report::Failure>& failures_;
};

}  // namespace nnfleet::steps

#include "check.h"

int main() {
  for (const auto& test : nnfleet::tests::all_tests()) {
    const int before = nnfleet::tests::failures();
    test.run();
    if (nnfleet::tests::failures() != before) std::cerr << "FAILED: " << test.sentence << "\n";
  }
  std::cout << nnfleet::tests::all_tests().size() << " tests, " << nnfleet::tests::failures() << " failed checks\n";
  return nnfleet::tests::failures() == 0 ? 0 : 1;
}

// A test framework in a page: TEST registers a sentence, CHECK and CHECK_EQUAL count.
#pragma once

#include <iostream>
#include <string>
#include <vector>

namespace nnfleet::tests {

struct Test {
  const char* sentence;
  void (*run)();
};

inline std::vector<Test>& all_tests() {
  static std::vector<Test> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Registered {
  Registered(const char* sentence, void (*run)()) { all_tests().push_back({sentence, run}); }
};

template <typename Got, typename Wanted>
void check_equal(const Got& got, const Wanted& wanted, const char* what, const char* file, int line) {
  if (got == wanted) return;
  ++failures();
  std::cerr << file << ":" << line << ": " << what << " is not as expected";
  if constexpr (std::is_convertible_v<Got, std::string>) std::cerr << ": \"" << std::string(got) << '"';
  std::cerr << "\n";
}

}  // namespace nnfleet::tests

#define NNFLEET_JOIN2(a, b) a##b
#define NNFLEET_JOIN(a, b) NNFLEET_JOIN2(a, b)
#define NNFLEET_TEST(sentence, name)                                                       \
  static void name();                                                                      \
  static const nnfleet::tests::Registered NNFLEET_JOIN(name, _registered){sentence, name}; \
  static void name()
#define TEST(sentence) NNFLEET_TEST(sentence, NNFLEET_JOIN(test_on_line_, __LINE__))

#define CHECK_EQUAL(got, wanted) nnfleet::tests::check_equal(got, wanted, #got, __FILE__, __LINE__)
#define CHECK(condition) CHECK_EQUAL(static_cast<bool>(condition), true)

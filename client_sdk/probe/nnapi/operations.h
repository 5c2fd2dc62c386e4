// All operations of NNAPI, the operand types each is asked about, and the one-operation model that asks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nnapi/declarations.h"

namespace nnfleet::nnapi {

struct Operation {
  const char* name;
  const char* types;      // letters of operand types, each with the feature level (1…8) since which it is taken
  const char* signature;  // operands of the model; see nnapi/signature.h
};

// By operation code: the place in the table is the code.
const std::vector<Operation>& operations();

// One question to a driver. Its place in the list is how a child and its parent speak of it.
struct Question {
  int32_t code;
  const Operation* operation;
  OperandType type;
  int since_level;
};

const std::vector<Question>& questions();

// "TENSOR_FLOAT32", as in NeuralNetworksTypes.h without its prefix.
std::string_view name_of(OperandType type);

// The operand type of a letter of the table; throws std::out_of_range for any other.
OperandType type_of_letter(char letter);

// Level 1…8 of a raw feature level (27…31, 1000006…1000008); 0 where NNAPI defines no such value.
int level_of(int64_t raw);

}  // namespace nnfleet::nnapi

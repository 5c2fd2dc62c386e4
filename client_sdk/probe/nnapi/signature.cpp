#include "nnapi/signature.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include "nnapi/operations.h"

namespace nnfleet::nnapi {
namespace {

constexpr float kDefaultScale = 0.5F;  // its square stays below it, as MUL and convolutions of NNAPI 1.0 want

struct Token {
  char kind = 0;
  char letter = 0;  // of an operand left out that is of another type than x
  int channel = -1;
  int denominator = 0;
  std::vector<uint32_t> dimensions;
  std::vector<double> values;
};

[[noreturn]] void refuse(std::string_view text) { throw std::invalid_argument("no operand: " + std::string(text)); }

// Reads a token from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : whole_(text), rest_(text) {}

  bool take(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  char take_any() {
    if (rest_.empty()) refuse(whole_);
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }

  double take_number() {
    // std::from_chars of a double is newer than the compilers of the NDK that people still use.
    const std::size_t length = rest_.find_first_not_of("-.0123456789");
    const std::string digits(rest_.substr(0, length));
    if (digits.empty()) refuse(whole_);
    rest_.remove_prefix(digits.size());
    return std::stod(digits);
  }

  std::vector<double> take_numbers() {
    std::vector<double> numbers{take_number()};
    while (take(',')) numbers.push_back(take_number());
    return numbers;
  }

  bool at_digit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
  bool at_letter() const { return !rest_.empty() && rest_.front() >= 'A' && rest_.front() <= 'Z'; }

  void finish() const {
    if (!rest_.empty()) refuse(whole_);
  }

 private:
  std::string_view whole_;
  std::string_view rest_;
};

Token read_token(std::string_view text) {
  Reader reader(text);
  Token token;
  token.kind = reader.take_any();
  if (token.kind == '_' && reader.at_letter()) token.letter = reader.take_any();
  if (reader.at_digit()) token.channel = static_cast<int>(reader.take_number());
  if (reader.take('[')) {
    for (const double size : reader.take_numbers()) token.dimensions.push_back(static_cast<uint32_t>(size));
    if (!reader.take(']')) refuse(text);
  }
  if (reader.take('=')) token.values = reader.take_numbers();
  if (reader.take('@')) token.denominator = static_cast<int>(reader.take_number());
  reader.finish();
  return token;
}

// "8*w[2,2]" → 8 and "w[2,2]".
int read_repeats(std::string_view& text) {
  const std::size_t star = text.find('*');
  if (star == std::string_view::npos) return 1;
  int repeats = 0;
  std::from_chars(text.data(), text.data() + star, repeats);
  text.remove_prefix(star + 1);
  return repeats;
}

bool is_wide(OperandType type) { return type == OperandType::TensorQuant16Asymm; }

// Where filters are quantised per channel, the tensors that flow are TENSOR_QUANT8_ASYMM.
OperandType flowing(OperandType asked) {
  return asked == OperandType::TensorQuant8SymmPerChannel ? OperandType::TensorQuant8Asymm : asked;
}

OperandType cast_target(OperandType asked) {
  switch (asked) {
    case OperandType::TensorFloat32: return OperandType::TensorInt32;
    case OperandType::TensorFloat16:
    case OperandType::TensorInt32:
    case OperandType::TensorQuant8Asymm: return OperandType::TensorFloat32;
    default: return asked;  // NNAPI takes only the cast to itself
  }
}

OperandType scalar_of(OperandType asked) {
  switch (asked) {
    case OperandType::TensorFloat32: return OperandType::Float32;
    case OperandType::TensorFloat16: return OperandType::Float16;
    default: return OperandType::Int32;
  }
}

OperandType type_of(const Token& token, OperandType asked) {
  const OperandType x = flowing(asked);
  const bool quantised = is_quantised(x);
  switch (token.kind) {
    case 'x':
    case 'w': return x;
    case '_': return token.letter == 0 ? x : type_of_letter(token.letter);
    case 'v':
    case 'e': return asked;
    case 'b':
    case 'z':
    case 'j': return token.kind == 'b' && !quantised ? x : OperandType::TensorInt32;
    case 'c': return cast_target(x);
    case 'r': return quantised ? OperandType::TensorQuant16Asymm : x;
    case 'a': return quantised ? OperandType::TensorQuant16Symm : x;
    case 'd': return is_wide(x) ? OperandType::TensorQuant8Asymm : x;
    case 'l': return OperandType::TensorBool8;
    case 'f': return OperandType::TensorFloat32;
    case 'h': return OperandType::TensorQuant16Symm;
    case 'n':
    case 'N': return OperandType::Int32;
    case 's': return x == OperandType::TensorFloat16 ? OperandType::Float16 : OperandType::Float32;
    case 'g': return OperandType::Float32;
    case 'o': return OperandType::Bool;
    case 't': return scalar_of(x);
    case 'm':
    case 'k': return OperandType::Model;
    default: return type_of_letter(token.kind);
  }
}

Role role_of(char kind) {
  switch (kind) {
    case '_': return Role::LeftOut;
    case 'm': return Role::Branch;
    case 'k': return Role::Condition;
    case 'x':
    case 'e':
    case 'r':
    case 'a':
    case 'd':
    case 'l':
    case 'j':
    case 'f':
    case 'h': return Role::Fed;
    default: return Role::Constant;
  }
}

template <typename T>
void append(std::vector<uint8_t>& bytes, T number) {
  const std::size_t end = bytes.size();
  bytes.resize(end + sizeof number);
  std::memcpy(bytes.data() + end, &number, sizeof number);
}

void append_number(std::vector<uint8_t>& bytes, OperandType type, double number) {
  switch (type) {
    case OperandType::Float16: append(bytes, half_of(static_cast<float>(number))); break;
    case OperandType::Float32: append(bytes, static_cast<float>(number)); break;
    case OperandType::Bool: append(bytes, static_cast<uint8_t>(number)); break;
    default: append(bytes, static_cast<int32_t>(number)); break;
  }
}

std::vector<uint8_t> value_of(const Token& token, const Operand& operand) {
  if (token.values.empty()) return std::vector<uint8_t>(elements_of(operand.dimensions) * bytes_of(operand.type));
  std::vector<uint8_t> bytes;
  for (const double number : token.values) append_number(bytes, operand.type, number);
  return bytes;
}

Operand operand_of(const Token& token, OperandType asked) {
  Operand operand;
  operand.type = type_of(token, asked);
  operand.role = role_of(token.kind);
  operand.dimensions = token.dimensions;
  quantise(operand, token.denominator);
  if (token.kind == 'b' && is_quantised(flowing(asked)) && asked != OperandType::TensorQuant8SymmPerChannel) {
    operand.scale = kDefaultScale * kDefaultScale;
  }
  if (operand.type == OperandType::TensorQuant8SymmPerChannel) {
    operand.channel_dimension = token.channel;
    operand.channel_scales.assign(operand.dimensions.at(static_cast<std::size_t>(token.channel)), kDefaultScale);
  }
  if (operand.role == Role::Constant) operand.value = value_of(token, operand);
  return operand;
}

}  // namespace

Signature parse_signature(std::string_view text, OperandType asked) {
  Signature signature;
  std::vector<Operand>* side = &signature.inputs;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word == "->") {
      side = &signature.outputs;
      continue;
    }
    const int repeats = read_repeats(word);
    side->insert(side->end(), static_cast<std::size_t>(repeats), operand_of(read_token(word), asked));
  }
  if (signature.inputs.empty() || signature.outputs.empty()) refuse(text);
  return signature;
}

uint16_t half_of(float number) {
  uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  const int exponent = static_cast<int>((bits >> 23) & 0xFFU) - 127 + 15;
  if (exponent <= 0) return 0;
  return static_cast<uint16_t>(((bits >> 16) & 0x8000U) | static_cast<uint32_t>(exponent) << 10 |
                               ((bits >> 13) & 0x3FFU));
}

std::size_t bytes_of(OperandType type) {
  switch (type) {
    case OperandType::TensorFloat32:
    case OperandType::TensorInt32:
    case OperandType::Float32:
    case OperandType::Int32: return 4;
    case OperandType::TensorFloat16:
    case OperandType::Float16:
    case OperandType::TensorQuant16Symm:
    case OperandType::TensorQuant16Asymm: return 2;
    default: return 1;
  }
}

bool is_quantised(OperandType type) {
  switch (type) {
    case OperandType::TensorQuant8Asymm:
    case OperandType::TensorQuant8AsymmSigned:
    case OperandType::TensorQuant8Symm:
    case OperandType::TensorQuant16Asymm:
    case OperandType::TensorQuant16Symm: return true;
    default: return false;
  }
}

uint32_t elements_of(const std::vector<uint32_t>& dimensions) {
  uint32_t elements = 1;
  for (const uint32_t size : dimensions) elements *= size;
  return elements;
}

void quantise(Operand& operand, int denominator) {
  if (!is_quantised(operand.type)) return;
  const bool lowest = denominator == 256 || denominator == 1;
  operand.scale = denominator == 0 ? kDefaultScale : 1.0F / static_cast<float>(denominator);
  switch (operand.type) {
    case OperandType::TensorQuant8Asymm: operand.zero_point = lowest ? 0 : 128; break;
    case OperandType::TensorQuant8AsymmSigned: operand.zero_point = lowest ? -128 : 0; break;
    case OperandType::TensorQuant16Asymm: operand.scale = 0.125F; break;  // what NNAPI demands of boxes
    default: break;
  }
}

}  // namespace nnfleet::nnapi

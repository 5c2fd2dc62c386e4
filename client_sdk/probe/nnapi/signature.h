// The operands of a one-operation model, written in a line and read into values. Pure: no library is needed.
//
//   x[2,4]   tensor of the type asked about, fed from outside      w[2,4]   the same, a constant
//   v0[…]    filter: as w, or per channel along dimension 0        b[3]     bias: TENSOR_INT32 where x is quantised
//   e0[…]    exactly the type asked about, per channel along 0     c[…]     what CAST turns x into
//   r a d    boxes, anchors, box deltas: types that follow from x  l j f h  BOOL8, INT32, FLOAT32, QUANT16_SYMM, fed
//   z[2]=0,1 TENSOR_INT32 constant                                 F I W Y… constant (or output) of that letter's type
//   n=1      INT32        s=0.5  FLOAT16 where x is, else FLOAT32  g=1 FLOAT32    o=0 BOOL    t=0 scalar of x's kind
//   m k      models: a branch, a condition                         N        INT32 scalar output
//   _[2] _W[2]  operand left out, of x's or the letter's type      8*w[2,2] eight of them
//   …@256    scale 1/256; the zero point is the lowest value for 256 and 1, else the middle one
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nnapi/declarations.h"

namespace nnfleet::nnapi {

enum class Role { Fed, Constant, LeftOut, Branch, Condition };

struct Operand {
  OperandType type{};
  Role role = Role::Fed;
  std::vector<uint32_t> dimensions;
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<uint8_t> value;  // of a constant
  int channel_dimension = -1;  // of a filter that is quantised per channel
  std::vector<float> channel_scales;
};

struct Signature {
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
};

// Throws std::invalid_argument for what is no signature.
Signature parse_signature(std::string_view text, OperandType asked);

std::size_t bytes_of(OperandType type);
bool is_quantised(OperandType type);
uint32_t elements_of(const std::vector<uint32_t>& dimensions);

// The bits of a half-precision number, rounded towards zero.
uint16_t half_of(float number);

// Scale and zero point that a tensor of ours has; `denominator` 0 stands for the default scale.
void quantise(Operand& operand, int denominator);

}  // namespace nnfleet::nnapi

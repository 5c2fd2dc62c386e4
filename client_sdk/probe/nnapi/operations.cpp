#include "nnapi/operations.h"

#include <array>
#include <stdexcept>

namespace nnfleet::nnapi {
namespace {

// Names, order and types from AOSP packages/modules/NeuralNetworks, revision 19f042d (Apache-2.0). A type of operations
// whose tensors differ in type is the quantised or the varying one. TENSOR_INT32 of a convolution is its bias, so no
// convolution is asked about it.
constexpr Operation kOperations[] = {
    {"ADD", "F1 U1 H3 S4 I4", "x[2,4] x[2,4] n=0 -> x[2,4]"},
    {"AVERAGE_POOL_2D", "F1 U1 H3 S4", "x[1,4,4,2] n=1 n=1 n=1 n=2 n=2 n=0 -> x[1,4,4,2]"},
    {"CONCATENATION", "F1 U1 H3 S4", "x[1,2] x[1,2] n=0 -> x[2,2]"},
    {"CONV_2D", "F1 U1 H3 C3 S4", "x[1,4,4,2] v0[3,1,1,2] b[3] n=1 n=1 n=1 n=0 -> x[1,4,4,3]"},
    {"DEPTHWISE_CONV_2D", "F1 U1 H3 C3 S4", "x[1,4,4,2] v3[1,3,3,2] b[2] n=1 n=1 n=1 n=1 n=0 -> x[1,4,4,2]"},
    {"DEPTH_TO_SPACE", "F1 U1 H3 S4", "x[1,2,2,4] n=2 -> x[1,4,4,1]"},
    {"DEQUANTIZE", "U1 Y3 C3 S4", "e0[2,4] -> F[2,4]"},
    {"EMBEDDING_LOOKUP", "F1 I3 U3 H4 S4", "j[2] x[3,2] -> x[2,2]"},
    {"FLOOR", "F1 H3", "x[2,4] -> x[2,4]"},
    {"FULLY_CONNECTED", "F1 U1 H3 S4", "x[1,4] w[3,4] b[3] n=0 -> x[1,3]"},
    {"HASHTABLE_LOOKUP", "F1 I1 U1", "j[2] z[3]=1,2,3 x[3,2] -> x[2,2] U[2]@1"},
    {"L2_NORMALIZATION", "F1 U3 H3 S4", "x[2,4] -> x[2,4]@128"},
    {"L2_POOL_2D", "F1 H3", "x[1,4,4,2] n=1 n=1 n=1 n=2 n=2 n=0 -> x[1,4,4,2]"},
    {"LOCAL_RESPONSE_NORMALIZATION", "F1 H3", "x[1,2,2,4] n=1 s=1 s=1 s=0.5 -> x[1,2,2,4]"},
    {"LOGISTIC", "F1 U1 H3 S4", "x[2,4] -> x[2,4]@256"},
    {"LSH_PROJECTION", "F1 H3", "w[2,4] j[3,2] x[3] n=2 -> I[8]"},
    {"LSTM", "F1 H3",
     "x[1,2] w[2,2] w[2,2] w[2,2] w[2,2] w[2,2] w[2,2] w[2,2] w[2,2] 3*_[2] w[2] w[2] w[2] w[2] _[2,2] "
     "_[2] x[1,2] x[1,2] n=4 s=0 s=0 -> x[1,8] x[1,2] x[1,2] x[1,2]"},
    {"MAX_POOL_2D", "F1 U1 H3 S4", "x[1,4,4,2] n=1 n=1 n=1 n=2 n=2 n=0 -> x[1,4,4,2]"},
    {"MUL", "F1 U1 H3 S4 I4", "x[2,4] x[2,4] n=0 -> x[2,4]"},
    {"RELU", "F1 U1 H3 S4", "x[2,4] -> x[2,4]"},
    {"RELU1", "F1 U1 H3 S4", "x[2,4] -> x[2,4]"},
    {"RELU6", "F1 U1 H3 S4", "x[2,4] -> x[2,4]"},
    {"RESHAPE", "F1 U1 H3 S4 I6", "x[2,4] z[2]=4,2 -> x[4,2]"},
    {"RESIZE_BILINEAR", "F1 U3 H3 S4", "x[1,2,2,1] n=4 n=4 -> x[1,4,4,1]"},
    {"RNN", "F1 H3", "x[1,2] w[2,2] w[2,2] w[2] x[1,2] n=0 -> x[1,2] x[1,2]"},
    {"SOFTMAX", "F1 U1 H3 S4", "x[2,4] s=1 -> x[2,4]@256"},
    {"SPACE_TO_DEPTH", "F1 U1 H3 S4", "x[1,4,4,1] n=2 -> x[1,2,2,4]"},
    {"SVDF", "F1 H3", "x[1,2] w[2,2] w[2,3] w[2] x[1,6] n=1 n=0 -> x[1,6] x[1,2]"},
    {"TANH", "F1 U3 H3 S4", "x[2,4] -> x[2,4]@128"},
    {"BATCH_TO_SPACE_ND", "F2 U2 H3 S4", "x[4,1,1,1] z[2]=2,2 -> x[1,2,2,1]"},
    {"DIV", "F2 H3 I4", "x[2,4] x[2,4] n=0 -> x[2,4]"},
    {"MEAN", "F2 U2 H3 S4", "x[2,4] z[1]=1 n=0 -> x[2]"},
    {"PAD", "F2 U2 H3 S4", "x[2,4] z[2,2]=0,0,1,1 -> x[2,6]"},
    {"SPACE_TO_BATCH_ND", "F2 U2 H3 S4", "x[1,2,2,1] z[2]=2,2 z[2,2]=0,0,0,0 -> x[4,1,1,1]"},
    {"SQUEEZE", "F2 U2 H3 S4", "x[1,4] z[1]=0 -> x[4]"},
    {"STRIDED_SLICE", "F2 U2 H3 S4", "x[2,4] z[2]=0,0 z[2]=2,4 z[2]=1,2 n=0 n=0 n=0 -> x[2,2]"},
    {"SUB", "F2 U3 H3 S4 I4", "x[2,4] x[2,4] n=0 -> x[2,4]"},
    {"TRANSPOSE", "F2 U2 H3 S4", "x[2,4] z[2]=1,0 -> x[4,2]"},
    {"ABS", "F3 H3 I4", "x[2,4] -> x[2,4]"},
    {"ARGMAX", "F3 U3 H3 I3 S4", "x[2,4] n=1 -> I[2]"},
    {"ARGMIN", "F3 U3 H3 I3 S4", "x[2,4] n=1 -> I[2]"},
    {"AXIS_ALIGNED_BBOX_TRANSFORM", "F3 H3 A3", "x[2,4] d[2,4] j[2] x[1,2] -> x[2,4]"},
    {"BIDIRECTIONAL_SEQUENCE_LSTM", "F3 H3",
     "x[1,1,2] 8*w[2,2] 3*_[2] 4*w[2] _[2,2] _[2] 8*w[2,2] 3*_[2] 4*w[2] _[2,2] _[2] 4*x[1,2] _[1,1,2] "
     "8*_[2,2] n=4 s=0 s=0 o=0 o=0 8*_[2] -> x[1,1,2] x[1,1,2]"},
    {"BIDIRECTIONAL_SEQUENCE_RNN", "F3 H3",
     "x[1,1,2] w[2,2] w[2,2] w[2] x[1,2] w[2,2] w[2,2] w[2] x[1,2] _[1,1,2] _[2,2] _[2,2] n=0 o=0 o=0 -> "
     "x[1,1,2] x[1,1,2]"},
    {"BOX_WITH_NMS_LIMIT", "F3 U3 H3 S4",
     "x[2,2] r[2,8] j[2] s=0.1 n=2 n=0 s=0.5 s=0.5 s=0.1 -> x[2] r[2,4] I[2] I[2]"},
    {"CAST", "F3 U3 H3 I3 B3 Y3 W3 A3 S4", "x[2,4] -> c[2,4]"},
    {"CHANNEL_SHUFFLE", "F3 U3 H3 S4", "x[1,2,2,4] n=2 n=3 -> x[1,2,2,4]"},
    {"DETECTION_POSTPROCESSING", "F3 H3",
     "x[1,2,2] x[1,2,4] x[2,4] s=10 s=10 s=5 s=5 o=0 n=2 n=1 n=2 s=0.1 s=0.5 o=0 -> x[1,2] x[1,2,4] I[1,2] "
     "I[1]"},
    {"EQUAL", "F3 U3 H3 I3 B3 S4", "x[2,4] x[2,4] -> B[2,4]"},
    {"EXP", "F3 H3", "x[2,4] -> x[2,4]"},
    {"EXPAND_DIMS", "F3 U3 H3 I3 S4", "x[2,4] n=0 -> x[1,2,4]"},
    {"GATHER", "F3 U3 H3 I3 S4", "x[2,4] n=0 z[1]=1 -> x[1,4]"},
    {"GENERATE_PROPOSALS", "F3 U3 H3 S4",
     "x[1,2,2,1] d[1,2,2,4] a[1,4]@8 r[1,2] s=1 s=1 n=4 n=4 s=0.5 s=1 o=0 -> x[4] r[4,4] I[4]"},
    {"GREATER", "F3 U3 H3 I3 B3 S4", "x[2,4] x[2,4] -> B[2,4]"},
    {"GREATER_EQUAL", "F3 U3 H3 I3 B3 S4", "x[2,4] x[2,4] -> B[2,4]"},
    {"GROUPED_CONV_2D", "F3 U3 H3 C3 S4", "x[1,4,4,2] v0[2,3,3,1] b[2] n=1 n=1 n=1 n=2 n=0 o=0 -> x[1,4,4,2]"},
    {"HEATMAP_MAX_KEYPOINT", "F3 U3 H3 S4", "x[1,4,4,1] r[1,4] o=0 -> x[1,1] r[1,1,2]"},
    {"INSTANCE_NORMALIZATION", "F3 H3", "x[1,2,2,2] s=1 s=0 s=0.001 o=0 -> x[1,2,2,2]"},
    {"LESS", "F3 U3 H3 I3 B3 S4", "x[2,4] x[2,4] -> B[2,4]"},
    {"LESS_EQUAL", "F3 U3 H3 I3 B3 S4", "x[2,4] x[2,4] -> B[2,4]"},
    {"LOG", "F3 H3", "x[2,4] -> x[2,4]"},
    {"LOGICAL_AND", "B3", "x[2,4] x[2,4] -> x[2,4]"},
    {"LOGICAL_NOT", "B3", "x[2,4] -> x[2,4]"},
    {"LOGICAL_OR", "B3", "x[2,4] x[2,4] -> x[2,4]"},
    {"LOG_SOFTMAX", "F3 H3", "x[2,4] s=1 n=1 -> x[2,4]"},
    {"MAXIMUM", "F3 U3 H3 I3 S4", "x[2,4] x[2,4] -> x[2,4]"},
    {"MINIMUM", "F3 U3 H3 I3 S4", "x[2,4] x[2,4] -> x[2,4]"},
    {"NEG", "F3 H3 I3", "x[2,4] -> x[2,4]"},
    {"NOT_EQUAL", "F3 U3 H3 I3 B3 S4", "x[2,4] x[2,4] -> B[2,4]"},
    {"PAD_V2", "F3 U3 H3 S4", "x[2,4] z[2,2]=0,0,1,1 t=0 -> x[2,6]"},
    {"POW", "F3 H3", "x[2,4] x[2,4] -> x[2,4]"},
    {"PRELU", "F3 U3 H3 S4", "x[2,4] w[4] -> x[2,4]"},
    {"QUANTIZE", "U3 S4", "f[2,4] -> x[2,4]"},
    {"QUANTIZED_16BIT_LSTM", "U3", "x[1,2]@128 8*w[2,2] 4*b[2] h[1,2]@2048 x[1,2]@128 -> W[1,2]@2048 x[1,2]@128"},
    {"RANDOM_MULTINOMIAL", "F3 H3", "x[1,4] n=2 z[2]=1,2 -> I[1,2]"},
    {"REDUCE_ALL", "B3", "x[2,4] z[1]=1 o=0 -> x[2]"},
    {"REDUCE_ANY", "B3", "x[2,4] z[1]=1 o=0 -> x[2]"},
    {"REDUCE_MAX", "F3 U3 H3 S4", "x[2,4] z[1]=1 o=0 -> x[2]"},
    {"REDUCE_MIN", "F3 U3 H3 S4", "x[2,4] z[1]=1 o=0 -> x[2]"},
    {"REDUCE_PROD", "F3 H3", "x[2,4] z[1]=1 o=0 -> x[2]"},
    {"REDUCE_SUM", "F3 H3", "x[2,4] z[1]=1 o=0 -> x[2]"},
    {"ROI_ALIGN", "F3 U3 H3 S4", "x[1,4,4,1] r[1,4] j[1] n=2 n=2 s=1 s=1 n=0 n=0 o=0 -> x[1,2,2,1]"},
    {"ROI_POOLING", "F3 U3 H3 S4", "x[1,4,4,1] r[1,4] j[1] n=2 n=2 s=1 s=1 o=0 -> x[1,2,2,1]"},
    {"RSQRT", "F3 H3 U7 S7", "x[2,4] -> x[2,4]"},
    {"SELECT", "F3 U3 H3 I3 S4", "l[2,4] x[2,4] x[2,4] -> x[2,4]"},
    {"SIN", "F3 H3", "x[2,4] -> x[2,4]"},
    {"SLICE", "F3 U3 H3 I3 S4", "x[2,4] z[2]=0,0 z[2]=2,2 -> x[2,2]"},
    {"SPLIT", "F3 U3 H3 I3 S4", "x[2,4] n=1 n=2 -> x[2,2] x[2,2]"},
    {"SQRT", "F3 H3", "x[2,4] -> x[2,4]"},
    {"TILE", "F3 U3 H3 I3 S4", "x[2,4] z[2]=1,2 -> x[2,8]"},
    {"TOPK_V2", "F3 U3 H3 I3 S4", "x[2,4] n=2 -> x[2,2] I[2,2]"},
    {"TRANSPOSE_CONV_2D", "F3 U3 H3 C3 S4",
     "x[1,2,2,1] v0[1,2,2,1] b[1] z[4]=1,4,4,1 n=1 n=2 n=2 n=0 o=0 -> x[1,4,4,1]"},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", "F3 H3",
     "x[1,1,2] w[2,2] w[2,2] w[2,2] w[2,2] w[2,2] w[2,2] w[2,2] w[2,2] 3*_[2] w[2] w[2] w[2] w[2] _[2,2] "
     "_[2] x[1,2] x[1,2] n=4 s=0 s=0 o=0 4*_[2] -> x[1,1,2]"},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", "F3 H3", "x[1,1,2] w[2,2] w[2,2] w[2] x[1,2] n=0 n=0 -> x[1,1,2]"},
    {"RESIZE_NEAREST_NEIGHBOR", "F3 U3 H3 S4", "x[1,2,2,1] n=4 n=4 o=0 -> x[1,4,4,1]"},
    {"QUANTIZED_LSTM", "S4",
     "x[1,2]@128 8*Y[2,2] 3*_W[2] 4*I[2] _Y[2,2] _I[2] x[1,2]@128 h[1,2]@2048 4*_W[2] g=0 g=0 g=0.01 "
     "g=0.01 g=0.01 g=0.01 n=0 g=0.01 -> x[1,2]@128 W[1,2]@2048 x[1,2]@128"},
    {"IF", "F4", "l[1] m m x[1] -> x[1]"},
    {"WHILE", "F4", "k m x[1] -> x[1]"},
    {"ELU", "F4 H4", "x[2,4] s=1 -> x[2,4]"},
    {"HARD_SWISH", "F4 U4 H4 S4", "x[2,4] -> x[2,4]"},
    {"FILL", "F4 H4 I4", "j[2] t=1 -> x[2,4]"},
    {"RANK", "F4 U4 H4 S4 I4 B4 C4 Y4 W4 A4", "e0[2,4] -> N"},
    {"BATCH_MATMUL", "F6 H6 S6 I6", "x[1,2,4] x[1,4,2] o=0 o=0 -> x[1,2,2]"},
    {"PACK", "F6 U6 H6 S6 I6", "n=0 x[2,4] x[2,4] -> x[2,2,4]"},
    {"MIRROR_PAD", "F7 U7 H7 S7 I7", "x[2,4] z[2,2]=0,0,1,1 n=0 -> x[2,6]"},
    {"REVERSE", "F7 U7 H7 S7 I7", "x[2,4] z[1]=1 -> x[2,4]"},
};

struct TypeName {
  char letter;
  OperandType type;
  std::string_view name;
};

constexpr std::array<TypeName, 10> kTypes{{
    {'F', OperandType::TensorFloat32, "TENSOR_FLOAT32"},
    {'H', OperandType::TensorFloat16, "TENSOR_FLOAT16"},
    {'U', OperandType::TensorQuant8Asymm, "TENSOR_QUANT8_ASYMM"},
    {'S', OperandType::TensorQuant8AsymmSigned, "TENSOR_QUANT8_ASYMM_SIGNED"},
    {'I', OperandType::TensorInt32, "TENSOR_INT32"},
    {'B', OperandType::TensorBool8, "TENSOR_BOOL8"},
    {'C', OperandType::TensorQuant8SymmPerChannel, "TENSOR_QUANT8_SYMM_PER_CHANNEL"},
    {'Y', OperandType::TensorQuant8Symm, "TENSOR_QUANT8_SYMM"},
    {'W', OperandType::TensorQuant16Symm, "TENSOR_QUANT16_SYMM"},
    {'A', OperandType::TensorQuant16Asymm, "TENSOR_QUANT16_ASYMM"},
}};

constexpr std::array<int64_t, 8> kLevels{27, 28, 29, 30, 31, 1'000'006, 1'000'007, 1'000'008};

std::vector<Question> make_questions() {
  std::vector<Question> all;
  int32_t code = 0;
  for (const Operation& operation : operations()) {
    const std::string_view types = operation.types;
    for (std::size_t at = 0; at + 1 < types.size(); at += 3) {  // "F1 U1 ": a letter, a digit, a blank
      all.push_back({code, &operation, type_of_letter(types[at]), types[at + 1] - '0'});
    }
    ++code;
  }
  return all;
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all(std::begin(kOperations), std::end(kOperations));
  return all;
}

const std::vector<Question>& questions() {
  static const std::vector<Question> all = make_questions();
  return all;
}

std::string_view name_of(OperandType type) {
  for (const TypeName& known : kTypes) {
    if (known.type == type) return known.name;
  }
  return "OTHER";
}

OperandType type_of_letter(char letter) {
  for (const TypeName& known : kTypes) {
    if (known.letter == letter) return known.type;
  }
  throw std::out_of_range(std::string("no operand type has the letter ") + letter);
}

int level_of(int64_t raw) {
  for (std::size_t at = 0; at < kLevels.size(); ++at) {
    if (kLevels[at] == raw) return static_cast<int>(at) + 1;
  }
  return 0;
}

}  // namespace nnfleet::nnapi

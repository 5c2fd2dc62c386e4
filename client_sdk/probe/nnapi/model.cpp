#include "nnapi/model.h"

namespace nnfleet::nnapi {
namespace {

constexpr int32_t kLess = 58;
constexpr int32_t kRelu = 19;

Operand tensor(OperandType type, std::vector<uint32_t> dimensions, Role role) {
  Operand operand;
  operand.type = type;
  operand.dimensions = std::move(dimensions);
  operand.role = role;
  if (role == Role::Constant) operand.value.resize(elements_of(operand.dimensions) * bytes_of(type));
  return operand;
}

// What IF and WHILE run: x[1] → RELU → x[1].
std::unique_ptr<Model> branch(const Library& library) {
  auto model = std::make_unique<Model>(library);
  const uint32_t in = model->add(tensor(OperandType::TensorFloat32, {1}, Role::Fed));
  const uint32_t out = model->add(tensor(OperandType::TensorFloat32, {1}, Role::Fed));
  model->operate(kRelu, {in}, {out});
  model->finish({in}, {out});
  return model;
}

// What WHILE asks before each round: x[1] < 0.
std::unique_ptr<Model> condition(const Library& library) {
  auto model = std::make_unique<Model>(library);
  const uint32_t in = model->add(tensor(OperandType::TensorFloat32, {1}, Role::Fed));
  const uint32_t zero = model->add(tensor(OperandType::TensorFloat32, {1}, Role::Constant));
  const uint32_t out = model->add(tensor(OperandType::TensorBool8, {1}, Role::Fed));
  model->operate(kLess, {in, zero}, {out});
  model->finish({in}, {out});
  return model;
}

}  // namespace

Model::Model(const Library& library) : library_(library) { check(library_.model_create(&model_)); }

Model::~Model() { library_.model_free(model_); }

void Model::check(int result) const {
  if (result != kNoError) throw Refused{result};
}

uint32_t Model::add(const Operand& operand) {
  const Operand& kept = kept_.emplace_back(operand);
  const ANeuralNetworksOperandType type{static_cast<int32_t>(kept.type), static_cast<uint32_t>(kept.dimensions.size()),
                                        kept.dimensions.empty() ? nullptr : kept.dimensions.data(), kept.scale,
                                        kept.zero_point};
  check(library_.model_add_operand(model_, &type));
  const uint32_t index = count_++;
  if (kept.channel_dimension >= 0) {
    const ANeuralNetworksSymmPerChannelQuantParams channels{static_cast<uint32_t>(kept.channel_dimension),
                                                            static_cast<uint32_t>(kept.channel_scales.size()),
                                                            kept.channel_scales.data()};
    check(library_.model_set_channels(model_, static_cast<int32_t>(index), &channels));
  }
  set_value(index, kept);
  return index;
}

void Model::set_value(uint32_t index, const Operand& operand) {
  const auto at = static_cast<int32_t>(index);
  switch (operand.role) {
    case Role::Fed: break;
    case Role::Constant: check(library_.model_set_value(model_, at, operand.value.data(), operand.value.size())); break;
    case Role::LeftOut: check(library_.model_set_value(model_, at, nullptr, 0)); break;
    case Role::Branch:
    case Role::Condition: set_model(index, operand.role); break;
  }
}

void Model::set_model(uint32_t index, Role role) {
  if (library_.model_set_model == nullptr) throw Refused{kBadData};
  models_.push_back(role == Role::Branch ? branch(library_) : condition(library_));
  check(library_.model_set_model(model_, static_cast<int32_t>(index), models_.back()->get()));
}

void Model::operate(int32_t code, const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
  check(library_.model_add_operation(model_, code, static_cast<uint32_t>(inputs.size()), inputs.data(),
                                     static_cast<uint32_t>(outputs.size()), outputs.data()));
}

void Model::finish(const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
  check(library_.model_identify(model_, static_cast<uint32_t>(inputs.size()), inputs.data(),
                                static_cast<uint32_t>(outputs.size()), outputs.data()));
  check(library_.model_finish(model_));
}

std::unique_ptr<Model> model_of(const Library& library, int32_t code, const Signature& signature) {
  auto model = std::make_unique<Model>(library);
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> fed;
  std::vector<uint32_t> outputs;
  for (const Operand& operand : signature.inputs) {
    inputs.push_back(model->add(operand));
    if (operand.role == Role::Fed) fed.push_back(inputs.back());
  }
  for (Operand output : signature.outputs) {
    output.role = Role::Fed;
    outputs.push_back(model->add(output));
  }
  model->operate(code, inputs, outputs);
  model->finish(fed, outputs);
  return model;
}

std::unique_ptr<Model> one_operation(const Library& library, const Question& question) {
  return model_of(library, question.code, parse_signature(question.operation->signature, question.type));
}

bool supports(const Model& model, const ANeuralNetworksDevice* device) {
  bool supported = false;
  const int result = model.library().supported_operations(model.get(), &device, 1, &supported);
  if (result != kNoError) throw Model::Refused{result};
  return supported;
}

}  // namespace nnfleet::nnapi

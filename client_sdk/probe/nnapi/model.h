// Models handed to NNAPI: of one operation, or the reference graph. Frees what it made.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "nnapi/library.h"
#include "nnapi/operations.h"
#include "nnapi/signature.h"

namespace nnfleet::nnapi {

// Built operand by operand. Anything NNAPI refuses throws Refused: such a model is not valid here.
class Model {
 public:
  struct Refused {
    int result;
  };

  explicit Model(const Library& library);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  uint32_t add(const Operand& operand);
  void operate(int32_t code, const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs);
  void finish(const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs);

  ANeuralNetworksModel* get() const { return model_; }
  const Library& library() const { return library_; }

 private:
  void set_value(uint32_t index, const Operand& operand);
  void set_model(uint32_t index, Role role);
  void check(int result) const;

  const Library& library_;
  ANeuralNetworksModel* model_ = nullptr;
  uint32_t count_ = 0;
  std::list<Operand> kept_;                     // values stay where they are until the model is freed
  std::vector<std::unique_ptr<Model>> models_;  // branches of control flow
};

// A model of one operation with these operands. Throws Model::Refused.
std::unique_ptr<Model> model_of(const Library& library, int32_t code, const Signature& signature);

// The model that asks a question. Throws Model::Refused.
std::unique_ptr<Model> one_operation(const Library& library, const Question& question);

// What a driver answers about a model of one operation; throws Model::Refused where it does not.
bool supports(const Model& model, const ANeuralNetworksDevice* device);

}  // namespace nnfleet::nnapi

// What a double does, from a file named by the variable NNFLEET_DOUBLE. One word group a line:
//
//   runtime 1000008                       feature level of the runtime
//   gles Mali-G715 | OpenGL ES 3.2 …      also vulkan NAME | PACKED, opencl VERSION
//   die vulkan                            also hang; gles, opencl, buffers, hiai, devices
//   device mtk-neuron accelerator 1000007 8.2.7
//   takes TENSOR_QUANT8_ASYMM_SIGNED …    of the device above; what follows too
//   refuses SOFTMAX …
//   compile_ms 3                          also cached_ms, execute_ms; of the reference graph
//   die compile                           also hang; execute, asked:LSTM, computed:LSTM
//   fail compile 14                       also execute
//   wrong                                 outputs are wrong
//   miscomputes CONCATENATION …           so are those of models of this one operation
//   no_memory                             has no memory domain
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace nnfleet::doubles {

// Moments at which a double misbehaves.
struct Trouble {
  std::set<std::string> die;
  std::set<std::string> hang;
  std::map<std::string, int> fail;

  // Dies or hangs where it is told to, else the result code.
  int at(const std::string& moment) const;
};

struct ScriptedDevice {
  std::string name;
  std::string version;
  int type = 1;
  long long level = 0;
  std::set<std::string> takes;
  std::set<std::string> refuses;
  std::set<std::string> miscomputes;
  std::map<std::string, int> times_ms;
  Trouble trouble;
  bool wrong = false;
  bool memory = true;

  void take_time(const std::string& what) const;
};

struct Script {
  long long runtime = 0;
  std::map<std::string, std::vector<std::string>> graphics;  // interface → texts between bars
  Trouble trouble;
  std::vector<ScriptedDevice> devices;
};

const Script& script();

}  // namespace nnfleet::doubles

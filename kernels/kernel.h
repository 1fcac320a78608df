// What an operator implementation is: a factory that looks at one node and prepares (packs weights, picks a code
// path), and a kernel that runs as often as wanted. Kernels know tensors and attributes, nothing of graphs or rules.
#ifndef RULERUN_KERNELS_KERNEL_H_
#define RULERUN_KERNELS_KERNEL_H_

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/attribute.h"
#include "engine/graph/tensor.h"
#include "kernels/thread_pool.h"

namespace rulerun {

// One node, as a factory sees it.
struct KernelRequest {
  std::string_view op_type;
  std::string_view domain;  // "" for ai.onnx
  int since_version = 1;    // of the schema that the model's opset selects
  const AttributeMap* attributes = nullptr;
  // Per input: its element type (kUndefined: omitted or unknown), and its value where it is constant, else nullptr.
  std::span<const DataType> input_types;
  std::span<const Tensor* const> constants;
  size_t output_count = 1;  // trailing omitted outputs not counted
  int channel_block = 0;    // of com.microsoft.nchwc; 0: what ONNX Runtime would take on this machine
};

// What a kernel gets to run with.
class KernelContext {
 public:
  virtual ~KernelContext() = default;

  // nullptr for an omitted input.
  virtual const Tensor* Input(size_t slot) const = 0;
  virtual size_t InputCount() const = 0;
  // Allocates output `slot`; its memory is not cleared. Call it once per output. For an output that nobody reads it
  // still gives memory. Fails where `dims` is not a size memory can hold.
  virtual Result<Tensor*> Output(size_t slot, DataType type, Dims dims) = 0;
  // Passes a tensor on as it is, sharing its data.
  virtual void SetOutput(size_t slot, Tensor tensor) = 0;
  // Whether anyone reads output `slot`.
  virtual bool Wanted(size_t slot) const = 0;
  virtual ThreadPool& pool() = 0;
  // Runs the subgraph held by attribute `name` with `inputs`; values of the enclosing graph are visible to it.
  virtual Result<std::vector<Tensor>> RunSubgraph(std::string_view attribute, std::vector<Tensor> inputs) = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // May be called from one thread at a time per kernel; keeps no state between runs.
  virtual Status Run(KernelContext& context) const = 0;
};

using KernelFactory = std::function<Result<std::unique_ptr<Kernel>>(const KernelRequest&)>;

// One registered implementation.
struct KernelDef {
  std::string op_type;
  std::string domain;
  int since = 1;  // first and last since_version it implements
  int until = 1 << 30;
  // Element types each input may have; an input beyond the list, or with an empty set, may have any.
  std::vector<std::vector<DataType>> types;
  KernelFactory make;
};

class KernelRegistry {
 public:
  // The kernels of this library.
  static const KernelRegistry& Default();

  void Add(KernelDef def);
  // The implementation for a node, or nullptr. Types that are kUndefined in the request fit any set; float16 and
  // bfloat16 fit a float kernel where there is none of their own (Make then converts around it).
  const KernelDef* Find(const KernelRequest& request) const;
  // A kernel ready to run, or what is missing.
  Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) const;
  const std::vector<KernelDef>& all() const { return defs_; }

 private:
  const KernelDef* FindExact(const KernelRequest& request) const;
  Error Missing(const KernelRequest& request) const;  // why Find found nothing

  std::vector<KernelDef> defs_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_op_;  // operator name -> indices in defs_
};

// Runs one node on given tensors, outside any graph: constant folding, rules' `compute`, tests.
// `inputs` may hold nullptr for omitted ones.
Result<std::vector<Tensor>> RunOnce(const KernelRegistry& registry, std::string_view domain, std::string_view op_type,
                                    int since_version, const AttributeMap& attributes,
                                    std::span<const Tensor* const> inputs, size_t output_count);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_KERNEL_H_

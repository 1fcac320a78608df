#include "engine/graph/tensor_file.h"

#include <onnx/onnx_pb.h>

#include <exception>
#include <fstream>

#include "engine/base/codes.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

Result<Tensor> ReadProto(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Code::kBadArray, "cannot read the file", path, "Check the path."};
  onnx::TensorProto proto;
  if (!proto.ParseFromIstream(&file)) {
    return Error{Code::kBadArray, "this is no serialized onnx.TensorProto", path,
                 "Write it with onnx.save_tensor, or use a .npy file."};
  }
  Result<Tensor> tensor = ToTensor(proto, nullptr);
  if (tensor.ok()) return tensor;
  Error error = tensor.error();
  error.code = Code::kBadArray;
  error.place = path;
  return error;
}

}  // namespace

// What protobuf and the standard library throw ends here.
Result<Tensor> ReadTensorFile(const std::string& path) {
  try {
    return ReadProto(path);
  } catch (const std::exception& error) {
    return Error{Code::kUnexpected, error.what(), path, ""};
  }
}

}  // namespace rulerun

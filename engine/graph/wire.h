// Reading protobuf messages piece by piece. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_WIRE_H_
#define RULERUN_ENGINE_GRAPH_WIRE_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/graph/model.h"

namespace rulerun {

using google::protobuf::io::CodedInputStream;

// Wire types.
enum Wire : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
inline uint32_t FieldOf(uint32_t tag) { return tag >> 3; }
inline uint32_t WireOf(uint32_t tag) { return tag & 7; }

// Reads a message of `length` bytes. `fill` gets the stream, limited to the message.
template <typename Fill>
bool ReadLimited(CodedInputStream& in, uint32_t length, const Fill& fill) {
  if (length > static_cast<uint32_t>(in.BytesUntilTotalBytesLimit())) return false;
  const int outer = in.BytesUntilLimit();
  if (outer >= 0 && length > static_cast<uint32_t>(outer)) return false;
  const auto limit = in.PushLimit(static_cast<int>(length));
  if (!fill() || in.BytesUntilLimit() != 0) return false;
  in.PopLimit(limit);
  return true;
}

// Reads a message whose length comes first.
template <typename Fill>
bool ReadNested(CodedInputStream& in, const Fill& fill) {
  uint32_t length = 0;
  return in.ReadVarint32(&length) && ReadLimited(in, length, fill);
}

// Appends the field `tag` starts to `out` as it stands.
bool CopyField(CodedInputStream& in, uint32_t tag, std::string* out);

// Fills a message as MergeFromCodedStream does, but lets its large strings grow to their size at once: protobuf doubles
// them step by step, which takes up to twice the memory.
bool ReadMessage(CodedInputStream& in, google::protobuf::Message* message);

// A plain file of at most 2 GB, protobuf's limit, as a stream that ends with the file. A file that holds text is read
// as the model that it describes.
class ModelStream {
 public:
  static Result<std::unique_ptr<ModelStream>> Open(const std::string& path);
  ~ModelStream();
  ModelStream(const ModelStream&) = delete;
  ModelStream& operator=(const ModelStream&) = delete;

  CodedInputStream& in() { return *in_; }
  const FileStamp& stamp() const { return stamp_; }

 private:
  ModelStream() = default;
  static Result<std::unique_ptr<ModelStream>> OpenText(const std::string& path);
  void Limit(int bytes);

  int descriptor_ = -1;
  FileStamp stamp_;
  std::string bytes_;  // of what was text
  std::unique_ptr<google::protobuf::io::ZeroCopyInputStream> source_;
  std::unique_ptr<CodedInputStream> in_;
};

// What the file looks like now; an empty stamp if it cannot be looked at.
FileStamp StampOf(const std::string& path);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_WIRE_H_

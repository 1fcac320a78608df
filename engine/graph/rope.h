// A message put together from pieces, of which the large ones stay where they are until they are written.
// For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_ROPE_H_
#define RULERUN_ENGINE_GRAPH_ROPE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rulerun {

// Protobuf's wire types, as far as messages need them here.
inline constexpr uint32_t kWireBytes = 2;

class Rope {
 public:
  using Piece = std::variant<std::string, std::string_view>;

  void Add(std::string_view bytes) {
    if (bytes.empty()) return;
    if (pieces_.empty() || !std::holds_alternative<std::string>(pieces_.back())) pieces_.emplace_back(std::string());
    std::get<std::string>(pieces_.back()).append(bytes);
    size_ += bytes.size();
  }
  // `bytes` must outlive the rope.
  void AddReference(std::string_view bytes) {
    if (bytes.empty()) return;
    pieces_.emplace_back(bytes);
    size_ += bytes.size();
  }
  // A field of wire type "bytes": a string or a message.
  void AddField(uint32_t field, Rope&& inner);
  void AddField(uint32_t field, std::string_view bytes);
  void AddReferenceField(uint32_t field, std::string_view bytes);
  void Append(Rope&& other);

  size_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  void AddHead(uint32_t field, size_t length);

  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

inline void Rope::AddHead(uint32_t field, size_t length) {
  std::string head;
  const auto add = [&head](uint64_t value) {
    for (; value >= 0x80; value >>= 7) head.push_back(static_cast<char>((value & 0x7f) | 0x80));
    head.push_back(static_cast<char>(value));
  };
  add((uint64_t{field} << 3) | kWireBytes);
  add(length);
  Add(head);
}

inline void Rope::AddField(uint32_t field, std::string_view bytes) {
  AddHead(field, bytes.size());
  Add(bytes);
}

inline void Rope::AddReferenceField(uint32_t field, std::string_view bytes) {
  AddHead(field, bytes.size());
  AddReference(bytes);
}

inline void Rope::AddField(uint32_t field, Rope&& inner) {
  AddHead(field, inner.size());
  Append(std::move(inner));
}

inline void Rope::Append(Rope&& other) {
  for (Piece& piece : other.pieces_) {
    if (const auto* view = std::get_if<std::string_view>(&piece)) {
      AddReference(*view);
    } else if (auto& text = std::get<std::string>(piece); text.size() < 4096) {
      Add(text);
    } else {
      size_ += text.size();
      pieces_.emplace_back(std::move(text));
    }
  }
}

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_ROPE_H_

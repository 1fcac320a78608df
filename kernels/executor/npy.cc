#include "kernels/executor/npy.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

#include "engine/base/codes.h"
#include "kernels/buffer.h"

namespace rulerun {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 64;

struct Descr {
  std::string_view text;
  DataType type;
};

constexpr std::array<Descr, 12> kDescrs = {{
    {"<f4", DataType::kFloat},
    {"<f8", DataType::kDouble},
    {"<f2", DataType::kFloat16},
    {"|i1", DataType::kInt8},
    {"|u1", DataType::kUint8},
    {"<i2", DataType::kInt16},
    {"<u2", DataType::kUint16},
    {"<i4", DataType::kInt32},
    {"<u4", DataType::kUint32},
    {"<i8", DataType::kInt64},
    {"<u8", DataType::kUint64},
    {"|b1", DataType::kBool},
}};

Error Bad(std::string message, std::string remedy = "") {
  return Error{Code::kBadArray, std::move(message), "", std::move(remedy)};
}

// Reads the header: a Python dictionary with three known keys.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Status Read() {
    if (!Take('{')) return Malformed();
    while (!Take('}')) {
      const std::optional<std::string_view> key = Quoted();
      if (!key || !Take(':') || !ReadValue(*key)) return Malformed();
      if (!Take(',') && Peek() != '}') return Malformed();
    }
    if (descr_.empty() || order_ == Order::kUnknown || !has_dims_) return Malformed();
    return {};
  }

  std::string_view descr() const { return descr_; }
  bool fortran() const { return order_ == Order::kFortran; }
  const Dims& dims() const { return dims_; }

 private:
  enum class Order { kUnknown, kC, kFortran };

  static Error Malformed() { return Bad("the .npy header is not a dictionary of descr, fortran_order and shape"); }

  char Peek() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool Take(char wanted) {
    if (Peek() != wanted || wanted == '\0') return false;
    ++position_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    Peek();
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }
  std::optional<std::string_view> Quoted() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t begin = position_ + 1;
    const size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) return std::nullopt;
    position_ = end + 1;
    return text_.substr(begin, end - begin);
  }
  bool ReadValue(std::string_view key) {
    if (key == "descr") {
      descr_ = Quoted().value_or("");
      return !descr_.empty();
    }
    if (key == "fortran_order") {
      order_ = TakeWord("True") ? Order::kFortran : TakeWord("False") ? Order::kC : Order::kUnknown;
      return order_ != Order::kUnknown;
    }
    return key == "shape" && ReadShape();
  }
  bool ReadShape() {
    Dims dims;
    if (!Take('(')) return false;
    while (!Take(')')) {
      Peek();
      int64_t size = 0;
      const char* begin = text_.data() + position_;
      const auto read = std::from_chars(begin, text_.data() + text_.size(), size);
      if (read.ec != std::errc() || size < 0 || dims.size() == kMaxRank) return false;
      position_ += static_cast<size_t>(read.ptr - begin);
      dims.push_back(size);
      if (!Take(',') && Peek() != ')') return false;
    }
    dims_ = std::move(dims);
    has_dims_ = true;
    return true;
  }

  std::string_view text_;
  size_t position_ = 0;
  std::string_view descr_;
  Order order_ = Order::kUnknown;
  bool has_dims_ = false;
  Dims dims_;
};

struct Layout {
  std::string_view header;
  std::string_view data;
};

Result<Layout> SplitFile(std::string_view file) {
  if (file.substr(0, kMagic.size()) != kMagic || file.size() < kMagic.size() + 4) {
    return Bad("not an .npy file", "write it with numpy.save");
  }
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(file[i])); };
  const size_t version = byte(6);
  if (version < 1 || version > 3) return Bad(".npy format version " + std::to_string(version) + " is not known");
  size_t begin = 10;
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) {
    if (file.size() < 12) return Bad("the .npy file ends within its header");
    begin = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > file.size() - begin) return Bad("the .npy file ends within its header");
  return Layout{file.substr(begin, length), file.substr(begin + length)};
}

std::optional<DataType> TypeOfDescr(std::string_view text) {
  for (const Descr& descr : kDescrs) {
    // One-byte types have no byte order, but some writers give one.
    if (descr.text == text ||
        (descr.text[0] == '|' && text.size() == 3 && text[0] == '<' && descr.text.substr(1) == text.substr(1))) {
      return descr.type;
    }
  }
  return std::nullopt;
}

// The tensor in a type that numpy has.
Result<Tensor> ForNumpy(const Tensor& tensor) {
  if (tensor.type() == DataType::kBfloat16) {
    Tensor wide(DataType::kFloat, tensor.dims());
    for (int64_t i = 0; i < tensor.count(); ++i) {
      wide.mutable_data<float>()[i] = BfloatToFloat(tensor.data<uint16_t>()[i]);
    }
    return wide;
  }
  if (IsInteger(tensor.type()) && BitWidth(tensor.type()) < 8) {
    Tensor wide(IsSigned(tensor.type()) ? DataType::kInt8 : DataType::kUint8, tensor.dims());
    for (int64_t i = 0; i < tensor.count(); ++i) SetInt(wide, i, ElementAsInt(tensor, i));
    return wide;
  }
  return tensor;
}

}  // namespace

Result<Tensor> ParseNpy(std::span<const std::byte> bytes) {
  RULERUN_ASSIGN(const Layout layout, SplitFile({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  HeaderReader header(layout.header);
  RULERUN_RETURN_IF_ERROR(header.Read());
  const std::optional<DataType> type = TypeOfDescr(header.descr());
  if (!type) {
    return Bad("element type '" + std::string(header.descr()) + "' is not supported",
               "use a bool, integer or float type in little-endian order");
  }
  const std::optional<int64_t> count = ElementCount(header.dims());
  if (header.fortran() && header.dims().size() > 1) {
    return Bad("the array is in Fortran order", "save numpy.ascontiguousarray(array)");
  }
  if (!count || static_cast<uint64_t>(*count) > layout.data.size() || ByteSize(*type, *count) != layout.data.size()) {
    return Bad("the .npy file holds " + std::to_string(layout.data.size()) +
               " bytes of data, not what its shape needs");
  }
  RULERUN_ASSIGN(Tensor tensor, AllocateTensor(*type, header.dims()));
  if (!layout.data.empty()) std::memcpy(tensor.mutable_raw(), layout.data.data(), layout.data.size());
  return tensor;
}

Result<Tensor> ReadNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  if (file) bytes.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || file.bad()) return Error{Code::kBadArray, "cannot read the file", path, "check the path"};
  Result<Tensor> tensor = ParseNpy(std::as_bytes(std::span(bytes)));
  if (tensor.ok()) return tensor;
  Error error = tensor.error();
  error.place = path;
  return error;
}

Result<std::string> FormatNpy(const Tensor& original) {
  RULERUN_ASSIGN(const Tensor tensor, ForNumpy(original));
  std::string_view descr;
  for (const Descr& candidate : kDescrs) {
    if (candidate.type == tensor.type()) descr = candidate.text;
  }
  if (descr.empty()) {
    return Error{Code::kTypeLimit, "type " + std::string(Name(tensor.type())) + " cannot be written as .npy", "", ""};
  }
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t dim : tensor.dims()) header += std::to_string(dim) + (tensor.rank() == 1 ? "," : ", ");
  if (tensor.rank() > 1) header.resize(header.size() - 2);
  header += "), }";
  // The data starts at a multiple of 64 bytes; the header ends with a newline.
  const size_t fixed = kMagic.size() + 4;
  header.append(63 - (fixed + header.size()) % 64, ' ');
  header += '\n';
  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  return file;
}

Status WriteNpy(const std::string& path, const Tensor& tensor) {
  Result<std::string> bytes = FormatNpy(tensor);
  if (!bytes.ok()) {
    Error error = bytes.error();
    error.place = path;
    return error;
  }
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
    file.close();
    if (!file) {
      std::remove(temporary.c_str());
      return Error{Code::kCannotWrite, "cannot write the file", path, "check the folder and the free space"};
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return Error{Code::kCannotWrite, "cannot move the finished file to its place", path, ""};
  }
  return {};
}

}  // namespace rulerun

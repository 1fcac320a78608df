#include "kernels/executor/npy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace rulerun {
namespace {

Result<Tensor> Parse(const std::string& bytes) { return ParseNpy(std::as_bytes(std::span(bytes))); }

std::string File(const std::string& header, const std::string& data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += {version, '\0', static_cast<char>(header.size()), '\0'};
  if (version > 1) file += std::string(2, '\0');
  return file + header + data;
}

TEST(Npy, ReadsBackWhatItWrote) {
  const std::vector<Tensor> tensors = {
      Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6}),
      Tensor::Scalar<int64_t>(-7),
      Tensor::Vector<uint8_t>({1, 255}),
      Tensor::Of<double>({0, 4}, {}),
      Tensor::Scalar(true),
  };
  for (const Tensor& tensor : tensors) {
    const Result<std::string> bytes = FormatNpy(tensor);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ((bytes->size() - tensor.bytes()) % 64, 0u);
    const Result<Tensor> read = Parse(*bytes);
    ASSERT_TRUE(read.ok()) << ToString(read.error());
    EXPECT_TRUE(SameContent(*read, tensor));
  }
}

TEST(Npy, WritesTypesThatNumpyLacksAsWiderOnes) {
  Tensor packed(DataType::kInt4, {3});
  SetInt(packed, 1, -2);
  const Result<Tensor> read = Parse(FormatNpy(packed).value());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->type(), DataType::kInt8);
  EXPECT_EQ(ToInts(*read), (std::vector<int64_t>{0, -2, 0}));
  EXPECT_FALSE(FormatNpy(Tensor({1}, {"text"})).ok());
}

TEST(Npy, ReadsAllFormatVersions) {
  const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (1,), }\n";
  for (const char version : {'\1', '\2', '\3'}) {
    const Result<Tensor> read = Parse(File(header, std::string("\x05\x00", 2), version));
    ASSERT_TRUE(read.ok()) << ToString(read.error());
    EXPECT_EQ(ToInts(*read), (std::vector<int64_t>{5}));
  }
}

TEST(Npy, RefusesEverythingElse) {
  const std::string two(2, '\0');
  const std::vector<std::string> files = {
      "",
      "PK",
      std::string("\x93NUMPY\x01\x00\xff\xff{", 11),
      File("{'descr': '<i2', 'fortran_order': False, 'shape': (1,), }", two, 9),
      File("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }", two),
      File("{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", two),
      File("{'descr': '<i2', 'fortran_order': True, 'shape': (1, 1), }", two),
      File("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", two),
      File("{'descr': '<i2', 'fortran_order': False, 'shape': (-1,), }", two),
      File("{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999999,), }", two),
      File("{'descr': '<i2', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", two),
      File("{'descr': '<i2', 'fortran_order': False}", two),
      File("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (1,), }", two),
      File("{'descr': '<i2', 'fortran_order': False, 'shape': (1", two),
      File("{", two),
  };
  for (const std::string& file : files) EXPECT_FALSE(Parse(file).ok()) << file;
}

TEST(Npy, FilesAppearWhole) {
  const std::string path = testing::TempDir() + "/rulerun_npy_test.npy";
  const Tensor tensor = Tensor::Vector<float>({1, 2});
  ASSERT_TRUE(WriteNpy(path, tensor).ok());
  const Result<Tensor> read = ReadNpy(path);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(SameContent(*read, tensor));
  std::remove(path.c_str());
  const Result<Tensor> missing = ReadNpy(path);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().place, path);
  EXPECT_FALSE(WriteNpy("/nonexistent/folder/x.npy", tensor).ok());
}

}  // namespace
}  // namespace rulerun

#include "tests/kernels/int8/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace rulerun::int8_test::reference {
namespace {

// Calls body(index) for every index of a tensor with `dims`, in row-major order.
void ForEachIndex(const Dims& dims, const std::function<void(const Dims&)>& body) {
  if (ElementCount(dims) == 0) return;
  Dims index(dims.size(), 0);
  while (true) {
    body(index);
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

int64_t Flat(const Dims& dims, const Dims& index) {
  int64_t flat = 0;
  for (size_t i = 0; i < dims.size(); ++i) flat = flat * dims[i] + index[i];
  return flat;
}

// The element of `from`, broadcast to a larger shape, at `index` of that shape.
int64_t BroadcastFlat(const Dims& from, const Dims& index) {
  Dims own(from.size());
  for (size_t i = 0; i < from.size(); ++i) own[i] = from[i] == 1 ? 0 : index[index.size() - from.size() + i];
  return Flat(from, own);
}

int64_t Clamp(double v, int64_t lo, int64_t hi) {
  return v < static_cast<double>(lo) ? lo : v > static_cast<double>(hi) ? hi : static_cast<int64_t>(v);
}

// "Qv": divide, clamp, round half to even, shift; NaN is the lowest.
int64_t Quantize(float x, float scale, int64_t zero, IntegerRange range) {
  const float v = x / scale;
  if (std::isnan(v)) return range.min;
  // Clamping an integer-valued range before or after rounding to integers is the same.
  return Clamp(std::nearbyint(static_cast<double>(v)) + static_cast<double>(zero), range.min, range.max);
}

// "RQ"
int64_t RequantizeOne(int32_t sum, float multiplier, int64_t zero, IntegerRange range) {
  const float v = static_cast<float>(sum) * multiplier;
  if (std::isnan(v)) return range.min;
  return Clamp(std::nearbyint(static_cast<double>(v)) + static_cast<double>(zero), range.min, range.max);
}

// x86: convert to int32 (what does not fit is -2^31), then saturate.
int64_t ConvertAndSaturate(float v, IntegerRange range) {
  const double rounded = std::nearbyint(static_cast<double>(v));
  if (!(rounded >= -2147483648.0 && rounded < 2147483648.0)) return range.min;
  return Clamp(rounded, range.min, range.max);
}

// Nearest of all 256 codes, by looking at each.
uint8_t ToFloat8(float v, DataType type, bool saturate) {
  Tensor code(type, {1});
  const auto decode = [&](int bits) {
    code.mutable_data<uint8_t>()[0] = static_cast<uint8_t>(bits);
    return ElementAsDouble(code, 0);
  };
  int nan = 0x7f;
  int largest = 0x7e;
  bool infinity = false;
  if (type == DataType::kFloat8E5M2) {
    largest = 0x7b;
    infinity = true;
  } else if (type != DataType::kFloat8E4M3FN) {
    nan = 0x80;
    largest = 0x7f;
  }
  const bool fnuz = nan == 0x80;
  const int sign = std::signbit(v) && !fnuz ? 0x80 : 0;
  if (std::isnan(v)) return static_cast<uint8_t>(nan | sign);
  const double magnitude = std::fabs(static_cast<double>(v));
  // The largest value and the one that would follow it decide what overflows.
  const double step = decode(largest) - decode(largest - 1);
  const double middle = decode(largest) + step / 2;
  int best = 0;
  if (magnitude > middle || (magnitude == middle && largest % 2 == 1)) {
    best = saturate ? largest : infinity ? 0x7c : nan;
    if (fnuz && best == nan) return 0x80;
  } else {
    for (int bits = 1; bits <= largest; ++bits) {
      const double now = std::fabs(decode(bits) - magnitude);
      const double before = std::fabs(decode(best) - magnitude);
      if (now < before || (now == before && bits % 2 == 0)) best = bits;
    }
  }
  if (fnuz) return static_cast<uint8_t>(std::signbit(v) && best != 0 ? best | 0x80 : best);
  return static_cast<uint8_t>(best | sign);
}

bool IsFloat8Type(DataType type) { return type >= DataType::kFloat8E4M3FN && type <= DataType::kFloat8E5M2FNUZ; }

// Which entry of a scale belongs to an element.
int64_t ScaleIndex(const Dims& x, const Dims& index, const Tensor& scale, int64_t axis, int64_t block) {
  if (block == 0 && scale.count() == 1 && scale.rank() <= 1) return 0;
  const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis);
  if (block == 0) return index[at];
  Dims scaled = index;
  scaled[at] /= block;
  return Flat(scale.dims(), scaled);
}

}  // namespace

Tensor QuantizeLinear(const Tensor& x, const Tensor& scale, const Tensor& zero, DataType type, int64_t axis,
                      int64_t block, bool saturate) {
  Tensor y(type, x.dims());
  ForEachIndex(x.dims(), [&](const Dims& index) {
    const int64_t i = Flat(x.dims(), index);
    const int64_t s = ScaleIndex(x.dims(), index, scale, axis, block);
    const auto value = static_cast<float>(ElementAsDouble(x, i));
    const auto by = static_cast<float>(ElementAsDouble(scale, s));
    if (IsFloat8Type(type)) {
      y.mutable_data<uint8_t>()[i] = ToFloat8(value / by, type, saturate);
    } else {
      SetInt(y, i, Quantize(value, by, zero.empty() ? 0 : ElementAsInt(zero, s), *RangeOf(type)));
    }
  });
  return y;
}

Tensor DequantizeLinear(const Tensor& x, const Tensor& scale, const Tensor& zero, DataType type, int64_t axis,
                        int64_t block) {
  Tensor y(type, x.dims());
  ForEachIndex(x.dims(), [&](const Dims& index) {
    const int64_t i = Flat(x.dims(), index);
    const int64_t s = ScaleIndex(x.dims(), index, scale, axis, block);
    float value = 0;
    if (IsFloat8Type(x.type())) {
      value = static_cast<float>(ElementAsDouble(x, i));
    } else {
      const int64_t difference = ElementAsInt(x, i) - (zero.empty() ? 0 : ElementAsInt(zero, s));
      value = static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(difference)));
    }
    value = value * static_cast<float>(ElementAsDouble(scale, s));
    if (type == DataType::kFloat) {
      y.mutable_data<float>()[i] = value;
    } else {
      y.mutable_data<uint16_t>()[i] = type == DataType::kFloat16 ? FloatToHalf(value) : FloatToBfloat(value);
    }
  });
  return y;
}

std::vector<Tensor> DynamicQuantizeLinear(const Tensor& x) {
  float min = 0;
  float max = 0;
  for (const float v : x.values<float>()) {
    if (v < min) min = v;
    if (v > max) max = v;
  }
  float scale = (max - min) / 255.0f;
  int64_t zero = 0;
  if (scale == 0) {
    scale = 1;
  } else {
    const float v = 0.0f - min / scale;
    zero = std::isnan(v) ? 0 : Clamp(std::nearbyint(static_cast<double>(v)), 0, 255);
  }
  const Tensor zero_point = Tensor::Scalar(static_cast<uint8_t>(zero));
  return {QuantizeLinear(x, Tensor::Scalar(scale), zero_point, DataType::kUint8, 0, 0, true), Tensor::Scalar(scale),
          zero_point};
}

Tensor ConvInteger(const Tensor& x, const Tensor& w, int64_t x_zero, const Tensor& w_zero, const Conv& conv) {
  const size_t spatial = x.dims().size() - 2;
  Dims dims = {x.dims()[0], w.dims()[0]};
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t reach = (w.dims()[i + 2] - 1) * conv.dilations[i] + 1;
    dims.push_back((x.dims()[i + 2] + conv.pads[i] + conv.pads[i + spatial] - reach) / conv.strides[i] + 1);
  }
  const int64_t channels = w.dims()[1];
  const int64_t per_group = w.dims()[0] / conv.group;
  const Dims kernel(w.dims().begin() + 1, w.dims().end());  // channel and taps
  Tensor y(DataType::kInt32, dims);
  ForEachIndex(dims, [&](const Dims& out) {
    const int64_t m = out[1];
    const int64_t zero = w_zero.empty() ? 0 : ElementAsInt(w_zero, w_zero.count() == 1 ? 0 : m);
    int64_t sum = 0;
    ForEachIndex(kernel, [&](const Dims& tap) {
      Dims from = {out[0], m / per_group * channels + tap[0]};
      Dims weight = {m};
      weight.insert(weight.end(), tap.begin(), tap.end());
      bool inside = true;
      for (size_t i = 0; i < spatial; ++i) {
        const int64_t at = out[i + 2] * conv.strides[i] + tap[i + 1] * conv.dilations[i] - conv.pads[i];
        inside = inside && at >= 0 && at < x.dims()[i + 2];
        from.push_back(at);
      }
      if (!inside) return;  // padding is the zero point: it adds nothing
      sum += (ElementAsInt(x, Flat(x.dims(), from)) - x_zero) * (ElementAsInt(w, Flat(w.dims(), weight)) - zero);
    });
    SetInt(y, Flat(dims, out), static_cast<int32_t>(static_cast<uint32_t>(sum)));
  });
  return y;
}

Tensor QLinearConv(const Tensor& x, Quant qx, const Tensor& w, const Tensor& w_scale, const Tensor& w_zero, Quant qy,
                   DataType type, const Tensor& bias, const Conv& conv) {
  const Tensor sums = ConvInteger(x, w, qx.zero, w_zero, conv);
  Tensor y(type, sums.dims());
  ForEachIndex(sums.dims(), [&](const Dims& index) {
    const int64_t i = Flat(sums.dims(), index);
    const int64_t m = index[1];
    const auto ws = static_cast<float>(ElementAsDouble(w_scale, w_scale.count() == 1 ? 0 : m));
    const auto sum =
        static_cast<uint32_t>(ElementAsInt(sums, i)) + static_cast<uint32_t>(bias.empty() ? 0 : ElementAsInt(bias, m));
    const float product = qx.scale * ws;
    SetInt(y, i, RequantizeOne(static_cast<int32_t>(sum), product / qy.scale, qy.zero, *RangeOf(type)));
  });
  return y;
}

Tensor MatMulInteger(const Tensor& a, const Tensor& b, int64_t a_zero, const Tensor& b_zero) {
  const int64_t rows = a.dims()[0];
  const int64_t depth = a.dims()[1];
  const int64_t columns = b.dims()[1];
  Tensor y(DataType::kInt32, {rows, columns});
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < columns; ++n) {
      const int64_t zero = b_zero.empty() ? 0 : ElementAsInt(b_zero, b_zero.count() == 1 ? 0 : n);
      int64_t sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += (ElementAsInt(a, m * depth + k) - a_zero) * (ElementAsInt(b, k * columns + n) - zero);
      }
      SetInt(y, m * columns + n, static_cast<int32_t>(static_cast<uint32_t>(sum)));
    }
  }
  return y;
}

Tensor Requantize(const Tensor& sums, const std::vector<float>& multiplier, int64_t zero, DataType type) {
  Tensor y(type, sums.dims());
  for (int64_t i = 0; i < sums.count(); ++i) {
    const auto n = static_cast<size_t>(i % sums.dims().back());
    const float m = multiplier[multiplier.size() == 1 ? 0 : n];
    SetInt(y, i, RequantizeOne(sums.data<int32_t>()[i], m, zero, *RangeOf(type)));
  }
  return y;
}

Tensor Scale(const Tensor& sums, const std::vector<float>& multiplier, const Tensor& bias) {
  Tensor y(DataType::kFloat, sums.dims());
  for (int64_t i = 0; i < sums.count(); ++i) {
    const int64_t n = i % sums.dims().back();
    const float m = multiplier[multiplier.size() == 1 ? 0 : static_cast<size_t>(n)];
    const float v = static_cast<float>(sums.data<int32_t>()[i]) * m;
    y.mutable_data<float>()[i] = bias.empty() ? v : v + bias.data<float>()[n];
  }
  return y;
}

namespace {

// An 8-bit result of two broadcast operands.
Tensor Binary(const Tensor& a, const Tensor& b, const std::function<float(float, float)>& function) {
  Dims dims(std::max(a.dims().size(), b.dims().size()), 1);
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto dim = [&](const Dims& of) { return i < of.size() ? of[of.size() - 1 - i] : 1; };
    dims[dims.size() - 1 - i] = dim(a.dims()) == 1 ? dim(b.dims()) : dim(a.dims());
  }
  Tensor y(a.type(), dims);
  ForEachIndex(dims, [&](const Dims& index) {
    const auto va = static_cast<float>(ElementAsInt(a, BroadcastFlat(a.dims(), index)));
    const auto vb = static_cast<float>(ElementAsInt(b, BroadcastFlat(b.dims(), index)));
    SetInt(y, Flat(dims, index), ConvertAndSaturate(function(va, vb), *RangeOf(a.type())));
  });
  return y;
}

// Whether the first operand is one element in the innermost spans of a broadcast.
bool FirstIsOne(const Dims& a, const Dims& b) {
  if (a.empty()) return true;
  if (b.empty()) return a.back() == 1;
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const bool last = i == std::min(a.size(), b.size());
    if (last || std::max(a[a.size() - i], b[b.size() - i]) > 1) return a[a.size() - i] == 1;
  }
  return false;
}

}  // namespace

Tensor QLinearAdd(const Tensor& a, Quant qa, const Tensor& b, Quant qb, Quant qc) {
  const float ra = qa.scale / qc.scale;
  const float rb = qb.scale / qc.scale;
  const auto za = static_cast<float>(qa.zero);
  const auto zb = static_cast<float>(qb.zero);
  const auto zc = static_cast<float>(qc.zero);
  if (FirstIsOne(a.dims(), b.dims())) {
    const float ra_za = ra * za;
    const float k = zc - std::fma(rb, zb, ra_za);
    return Binary(a, b, [&](float va, float vb) { return std::fma(vb, rb, std::fma(va, ra, k)); });
  }
  const float rb_zb = rb * zb;
  const float k = zc - std::fma(ra, za, rb_zb);
  return Binary(a, b, [&](float va, float vb) { return std::fma(va, ra, std::fma(vb, rb, k)); });
}

Tensor QLinearMul(const Tensor& a, Quant qa, const Tensor& b, Quant qb, Quant qc) {
  const float product = qa.scale * qb.scale;
  const float ratio = product / qc.scale;
  return Binary(a, b, [&](float va, float vb) {
    const float p = (va - static_cast<float>(qa.zero)) * (vb - static_cast<float>(qb.zero));
    const float scaled = p * ratio;
    return scaled + static_cast<float>(qc.zero);
  });
}

Tensor Unary(const Tensor& x, Quant qx, Quant qy, const std::function<float(float)>& function) {
  Tensor y(x.type(), x.dims());
  for (int64_t i = 0; i < x.count(); ++i) {
    const float v = qx.scale * static_cast<float>(ElementAsInt(x, i) - qx.zero);
    SetInt(y, i, Quantize(function(v), qy.scale, qy.zero, *RangeOf(x.type())));
  }
  return y;
}

float Logistic(float x) {
  x = std::min(18.0f, std::max(-18.0f, x));
  const float s = x * x;
  float p = std::fma(s, 4.37031012579801e-11f, 1.15627324459942e-07f);
  p = std::fma(p, s, 6.08574864600143e-05f);
  p = std::fma(p, s, 8.51377133304701e-03f);
  p = std::fma(p, s, 2.48287947061529e-01f);
  p = p * x;
  float q = std::fma(s, 6.10247389755681e-13f, 5.76102136993427e-09f);
  q = std::fma(q, s, 6.29106785017040e-06f);
  q = std::fma(q, s, 1.70198817374094e-03f);
  q = std::fma(q, s, 1.16817656904453e-01f);
  q = std::fma(q, s, 9.93151921023180e-01f);
  const float ratio = p / q;
  return std::max(ratio + 0.5f, 0.0f);
}

Tensor SoftmaxFrom(const Tensor& x, float x_scale, Quant qy, size_t axis) {
  Tensor y(x.type(), x.dims());
  int64_t length = 1;
  for (size_t i = axis; i < x.dims().size(); ++i) length *= x.dims()[i];
  if (x.count() == 0) return y;
  const float quotient = std::numeric_limits<float>::max() / static_cast<float>(length);
  const double shift = std::max(0.0, std::log(static_cast<double>(quotient)) - 5) / static_cast<double>(x_scale);
  const auto exponential = [&](int64_t less) {
    return static_cast<float>(std::exp((static_cast<double>(-less) + shift) * static_cast<double>(x_scale)));
  };
  const float inverse = std::floor(1.0f / qy.scale);
  const IntegerRange range = *RangeOf(x.type());
  for (int64_t row = 0; row < x.count(); row += length) {
    int64_t max = INT64_MIN;
    for (int64_t i = 0; i < length; ++i) max = std::max(max, ElementAsInt(x, row + i));
    float sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += exponential(max - ElementAsInt(x, row + i));
    const bool overflows = std::isinf(exponential(0) * inverse);
    for (int64_t i = 0; i < length; ++i) {
      const float e = exponential(max - ElementAsInt(x, row + i));
      const float scaled = e * inverse;
      // Where the product would overflow, the quotient is taken in double.
      const float v =
          overflows
              ? static_cast<float>(static_cast<double>(e) * static_cast<double>(inverse) / static_cast<double>(sum))
              : scaled / sum;
      SetInt(y, row + i,
             Clamp(std::nearbyint(static_cast<double>(v)) + static_cast<double>(qy.zero), range.min, range.max));
    }
  }
  return y;
}

Tensor SoftmaxAlong(const Tensor& x, float x_scale, Quant qy, size_t axis) {
  std::vector<size_t> order(x.dims().size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::swap(order[axis], order.back());
  return Transpose(SoftmaxFrom(Transpose(x, order), x_scale, qy, order.size() - 1), order);
}

namespace {

Dims PoolDims(const Tensor& x, const Pool& pool) {
  const size_t spatial = pool.kernel.size();
  Dims dims = {x.dims()[0], x.dims()[1]};
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t reach = (pool.kernel[i] - 1) * pool.dilations[i] + 1;
    const int64_t room = x.dims()[i + 2] + pool.pads[i] + pool.pads[i + spatial] - reach;
    int64_t out = room / pool.strides[i] + 1;
    if (pool.ceil_mode && room % pool.strides[i] != 0) {
      ++out;
      if ((out - 1) * pool.strides[i] >= x.dims()[i + 2] + pool.pads[i]) --out;
    }
    dims.push_back(out);
  }
  return dims;
}

// Calls body(value) for the elements of the window of output `index`.
void ForEachInWindow(const Tensor& x, const Pool& pool, const Dims& index, const std::function<void(int64_t)>& body) {
  const size_t spatial = pool.kernel.size();
  ForEachIndex(pool.kernel, [&](const Dims& tap) {
    Dims from = {index[0], index[1]};
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t at = index[i + 2] * pool.strides[i] - pool.pads[i] + tap[i] * pool.dilations[i];
      if (at < 0 || at >= x.dims()[i + 2]) return;
      from.push_back(at);
    }
    body(ElementAsInt(x, Flat(x.dims(), from)));
  });
}

}  // namespace

Tensor AveragePool(const Tensor& x, Quant qx, Quant qy, const Pool& pool) {
  Tensor y(x.type(), PoolDims(x, pool));
  ForEachIndex(y.dims(), [&](const Dims& index) {
    float sum = 0;
    int64_t count = 0;
    ForEachInWindow(x, pool, index, [&](int64_t value) {
      sum += qx.scale * static_cast<float>(value - qx.zero);
      ++count;
    });
    if (pool.count_include_pad) {
      count = 1;
      for (const int64_t k : pool.kernel) count *= k;
    }
    const float average = sum / static_cast<float>(count);
    const float quotient = average / qy.scale;
    SetInt(y, Flat(y.dims(), index), ConvertAndSaturate(quotient + static_cast<float>(qy.zero), *RangeOf(x.type())));
  });
  return y;
}

Tensor GlobalAveragePool(const Tensor& x, Quant qx, Quant qy) {
  Dims dims(x.dims().size(), 1);
  dims[0] = x.dims()[0];
  dims[1] = x.dims()[1];
  Tensor y(x.type(), dims);
  const int64_t pixels = x.count() / (dims[0] * dims[1]);
  for (int64_t plane = 0; plane < y.count(); ++plane) {
    int64_t sum = 0;
    for (int64_t i = 0; i < pixels; ++i) sum += ElementAsInt(x, plane * pixels + i) - qx.zero;
    const float by = qy.scale * static_cast<float>(pixels);
    SetInt(y, plane, RequantizeOne(static_cast<int32_t>(sum), qx.scale / by, qy.zero, *RangeOf(x.type())));
  }
  return y;
}

Tensor MaxPool(const Tensor& x, const Pool& pool) {
  Tensor y(x.type(), PoolDims(x, pool));
  ForEachIndex(y.dims(), [&](const Dims& index) {
    int64_t max = RangeOf(x.type())->min;
    ForEachInWindow(x, pool, index, [&](int64_t value) { max = std::max(max, value); });
    SetInt(y, Flat(y.dims(), index), max);
  });
  return y;
}

Tensor Transpose(const Tensor& x, const std::vector<size_t>& order) {
  Dims dims;
  for (const size_t axis : order) dims.push_back(x.dims()[axis]);
  Tensor y(x.type(), dims);
  ForEachIndex(dims, [&](const Dims& index) {
    Dims from(order.size());
    for (size_t i = 0; i < order.size(); ++i) from[order[i]] = index[i];
    SetInt(y, Flat(dims, index), ElementAsInt(x, Flat(x.dims(), from)));
  });
  return y;
}

Tensor ChannelsLast(const Tensor& x) {
  std::vector<size_t> order = {0};
  for (size_t i = 2; i < x.dims().size(); ++i) order.push_back(i);
  order.push_back(1);
  return Transpose(x, order);
}

}  // namespace rulerun::int8_test::reference

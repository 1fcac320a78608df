// Einsum: plain loops over the indices of its equation.
#include <algorithm>
#include <array>
#include <optional>

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

// Each letter is an index; the ellipsis stands for indices of its own, numbered behind the letters.
constexpr int kLetters = 52;
constexpr int kEllipsis = kLetters;  // first of the indices that "..." stands for

using Term = std::vector<int>;  // of letters; kEllipsis marks the ellipsis itself

struct Equation {
  std::vector<Term> inputs;
  std::optional<Term> output;
};

Result<Term> ParseTerm(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (std::find(term.begin(), term.end(), kEllipsis) != term.end()) return Invalid("two ellipses in one term");
      term.push_back(kEllipsis);
      i += 2;
    } else if (c >= 'A' && c <= 'Z') {
      term.push_back(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      term.push_back(c - 'a' + 26);
    } else {
      return Invalid("'" + std::string(1, c) + "' has no meaning in an equation");
    }
  }
  return term;
}

Result<Equation> ParseEquation(const std::string& text) {
  Equation equation;
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    RULERUN_ASSIGN(Term term, ParseTerm(std::string_view(left).substr(begin, end - begin)));
    equation.inputs.push_back(std::move(term));
    begin = end + 1;
  }
  if (arrow != std::string::npos) {
    RULERUN_ASSIGN(equation.output, ParseTerm(std::string_view(text).substr(arrow + 2)));
  }
  return equation;
}

// Without an arrow: the ellipsis, then the letters that occur once, in alphabetical order.
Term ImplicitOutput(const Equation& equation) {
  std::array<int, kLetters + 1> seen{};
  for (const Term& term : equation.inputs) {
    for (const int letter : term) ++seen[static_cast<size_t>(letter)];
  }
  Term output;
  if (seen[kEllipsis] > 0) output.push_back(kEllipsis);
  for (int letter = 0; letter < kLetters; ++letter) {
    if (seen[static_cast<size_t>(letter)] == 1) output.push_back(letter);
  }
  return output;
}

// Sizes of all indices, and the steps of each operand along them (0 where it does not have the index).
struct Plan {
  std::vector<int> output, summed;  // indices
  std::vector<int64_t> sizes;       // by index
  std::vector<std::vector<int64_t>> strides;
};

// The indices of a term of an operand with `rank` axes, the ellipsis spelled out.
Result<std::vector<int>> Spelled(const Term& term, size_t rank, size_t ellipsis_rank) {
  const bool has = std::find(term.begin(), term.end(), kEllipsis) != term.end();
  const size_t letters = term.size() - (has ? 1 : 0);
  if (rank < letters || (!has && rank != letters)) return Invalid("a term does not fit the rank of its operand");
  std::vector<int> all;
  for (const int letter : term) {
    if (letter != kEllipsis) {
      all.push_back(letter);
      continue;
    }
    // Shorter ellipses are aligned at the right, as in broadcasting.
    const size_t own = rank - letters;
    for (size_t i = ellipsis_rank - own; i < ellipsis_rank; ++i) all.push_back(kEllipsis + static_cast<int>(i));
  }
  return all;
}

Result<Plan> MakePlan(const Equation& equation, const std::vector<const Tensor*>& operands) {
  if (operands.size() != equation.inputs.size()) return Invalid("the equation has another number of terms than inputs");
  size_t ellipsis_rank = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Term& term = equation.inputs[k];
    if (std::find(term.begin(), term.end(), kEllipsis) == term.end()) continue;
    const size_t letters = term.size() - 1, rank = operands[k]->dims().size();
    if (rank >= letters) ellipsis_rank = std::max(ellipsis_rank, rank - letters);
  }
  Plan plan;
  plan.sizes.assign(kLetters + ellipsis_rank, -1);
  for (size_t k = 0; k < operands.size(); ++k) {
    const Dims& dims = operands[k]->dims();
    RULERUN_ASSIGN(const std::vector<int> indices, Spelled(equation.inputs[k], dims.size(), ellipsis_rank));
    const std::vector<int64_t> dense = DenseStrides(dims);
    std::vector<int64_t> steps(plan.sizes.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto index = static_cast<size_t>(indices[i]);
      int64_t& size = plan.sizes[index];
      if (size == -1 || size == 1) {
        size = dims[i];
      } else if (dims[i] != size && dims[i] != 1) {
        return Invalid("the operands disagree about the size of an index");
      }
      if (dims[i] != 1) steps[index] += dense[i];
    }
    plan.strides.push_back(std::move(steps));
  }
  const Term output = equation.output ? *equation.output : ImplicitOutput(equation);
  const bool has = std::find(output.begin(), output.end(), kEllipsis) != output.end();
  RULERUN_ASSIGN(plan.output,
                 Spelled(output, output.size() - (has ? 1 : 0) + (has ? ellipsis_rank : 0), ellipsis_rank));
  for (const int index : plan.output) {
    if (plan.sizes[static_cast<size_t>(index)] == -1) return Invalid("the output names an index that no operand has");
  }
  for (size_t index = 0; index < plan.sizes.size(); ++index) {
    const auto i = static_cast<int>(index);
    const bool kept = std::find(plan.output.begin(), plan.output.end(), i) != plan.output.end();
    if (plan.sizes[index] != -1 && !kept) plan.summed.push_back(i);
  }
  return plan;
}

// Adds the steps of position `rest` over `indices` to every operand's offset.
void Advance(const Plan& plan, const std::vector<int>& indices, int64_t rest, std::vector<int64_t>& offsets) {
  for (size_t i = indices.size(); i-- > 0;) {
    const auto index = static_cast<size_t>(indices[i]);
    const int64_t at = rest % plan.sizes[index];
    rest /= plan.sizes[index];
    for (size_t k = 0; k < offsets.size(); ++k) offsets[k] += at * plan.strides[k][index];
  }
}

template <typename T>
T SumOver(const Plan& plan, const std::vector<const T*>& data, const std::vector<int64_t>& base, int64_t outer,
          const std::vector<int>& outer_indices, int inner_index) {
  const int64_t inner = inner_index < 0 ? 1 : plan.sizes[static_cast<size_t>(inner_index)];
  std::vector<int64_t> offsets(base.size());
  T sum = 0;
  for (int64_t o = 0; o < outer; ++o) {
    offsets = base;
    Advance(plan, outer_indices, o, offsets);
    for (int64_t i = 0; i < inner; ++i) {
      T product = 1;
      for (size_t k = 0; k < data.size(); ++k) {
        const int64_t step = inner_index < 0 ? 0 : plan.strides[k][static_cast<size_t>(inner_index)];
        product = Wrapping(product, data[k][offsets[k] + i * step], [](auto a, auto b) { return a * b; });
      }
      sum = Wrapping(sum, product, [](auto a, auto b) { return a + b; });
    }
  }
  return sum;
}

template <typename T>
Status RunEinsum(KernelContext& context, const Plan& plan, const std::vector<const Tensor*>& operands) {
  Dims dims;
  for (const int index : plan.output) dims.push_back(plan.sizes[static_cast<size_t>(index)]);
  RULERUN_ASSIGN(Tensor * y, context.Output(0, operands[0]->type(), dims));
  std::vector<int> outer_indices = plan.summed;
  int inner_index = -1;
  if (!outer_indices.empty()) {
    inner_index = outer_indices.back();
    outer_indices.pop_back();
  }
  int64_t outer = 1;
  for (const int index : outer_indices) outer *= plan.sizes[static_cast<size_t>(index)];
  std::vector<const T*> data;
  for (const Tensor* operand : operands) data.push_back(operand->data<T>());
  context.pool().ParallelFor(y->count(), 256, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> base(data.size());
    for (int64_t i = begin; i < end; ++i) {
      std::fill(base.begin(), base.end(), 0);
      Advance(plan, plan.output, i, base);
      y->mutable_data<T>()[i] = SumOver(plan, data, base, outer, outer_indices, inner_index);
    }
  });
  return {};
}

Result<std::unique_ptr<Kernel>> MakeEinsum(const KernelRequest& request) {
  RULERUN_ASSIGN(const Equation equation, ParseEquation(StringOr(*request.attributes, "equation", "")));
  return MakeKernel([equation](KernelContext& context) -> Status {
    std::vector<const Tensor*> operands;
    for (size_t slot = 0; slot < context.InputCount(); ++slot) {
      RULERUN_ASSIGN(const Tensor* operand, Required(context, slot));
      if (slot > 0 && operand->type() != operands[0]->type()) return Invalid("the inputs have different element types");
      operands.push_back(operand);
    }
    if (operands.empty()) return Invalid("there are no operands");
    RULERUN_ASSIGN(const Plan plan, MakePlan(equation, operands));
    return Dispatch<float, double, int32_t, int64_t>(
        operands[0]->type(), [&]<typename T>(TypeTag<T>) { return RunEinsum<T>(context, plan, operands); });
  });
}

}  // namespace

void Register_ops_einsum(KernelRegistry& registry) {
  const Types types = {DataType::kFloat, DataType::kDouble, DataType::kInt32, DataType::kInt64};
  AddOp(registry, "Einsum", {12, kLatest}, {types, types}, MakeEinsum);
}

}  // namespace rulerun

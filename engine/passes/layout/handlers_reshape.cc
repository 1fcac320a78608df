#include <algorithm>
#include <utility>

#include "engine/passes/layout/handlers.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

void RemoveTransposeIfUnused(const Push& push) {
  if (!push.edit().HasReaders(push.edit().Output(push.transpose))) push.edit().RemoveNode(push.transpose);
}

// The node undoes the Transpose: whoever reads it reads what the Transpose reads.
void RemoveBoth(const Push& push) {
  Editor& edit = push.edit();
  const ValueId original = edit.node(push.transpose).input(0);
  const ValueId result = edit.Output(push.node);
  const Readers readers = edit.ReadersOf(result);
  const Readers others = edit.ReadersOf(original);
  const Node* producer = edit.graph().Producer(original);
  if (readers.all) {
    edit.ReplaceReads(readers.nodes, result, original);
  } else if (producer != nullptr && others.all) {
    // The result's name has to stay, as that of a graph output: the producer makes it now.
    const auto slot = static_cast<size_t>(edit.graph().value(original).producer_slot);
    edit.SetInput(push.node, 0, kNoValue);
    edit.ReplaceReads(others.nodes, original, result);
    edit.MoveOutput(push.node, 0, producer->index, slot);
  } else {
    const NodeIndex copy = edit.AddNode(push.table().copy, {kNoValue});
    edit.MoveOutput(push.node, 0, copy, 0);
    edit.SetInput(copy, 0, original);
  }
  edit.RemoveNode(push.node);
  RemoveTransposeIfUnused(push);
}

// The node is, or amounts to, a Transpose by `second`.
bool Combine(const Push& push, const Perm& second) {
  if (push.inverse == second) {
    RemoveBoth(push);
    return true;
  }
  Editor& edit = push.edit();
  const ValueId original = edit.node(push.transpose).input(0);
  NodeIndex node = push.node;
  if (push.table().IsTranspose(&push.target())) {
    edit.SetInput(node, 0, original);
    edit.SetAttribute(node, "perm", Compose(push.perm, second));
    AddOrigins(edit.node(push.transpose).origins, edit.node(node).origins);
  } else {
    node = edit.AddNode(push.table().transpose, {original}, {{"perm", Compose(push.perm, second)}});
    AddOrigins(push.target().origins, edit.node(node).origins);
    edit.MoveOutput(push.node, 0, node, 0);
    edit.RemoveNode(push.node);
  }
  RemoveTransposeIfUnused(push);
  return true;
}

// What a Reshape of `from` to `asked` gives, without 0 and -1; std::nullopt where that cannot be told or the rank
// changes.
std::optional<Dims> ReshapedDims(const Dims& from, const Dims& asked, bool zero_is_size) {
  if (from.size() != asked.size()) return std::nullopt;
  int64_t total = 1;
  for (const int64_t size : from) {
    if (size < 0) return std::nullopt;
    total *= size;
  }
  Dims result = asked;
  int64_t known = 1;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] == -1) {
      if (inferred) return std::nullopt;
      inferred = i;
      continue;
    }
    if (asked[i] == 0 && !zero_is_size) result[i] = from[i];
    known *= result[i];
  }
  if (!inferred) return known == total ? std::optional(result) : std::nullopt;
  if (known == 0 || total % known != 0) return std::nullopt;
  result[*inferred] = total / known;
  return result;
}

// The permutation by which a Reshape moves only 1s about, and leaves the order of all other sizes.
std::optional<Perm> PermOfReshape(Dims from, const Dims& to) {
  constexpr int64_t kTaken = -1;
  Perm perm;
  for (const int64_t wanted : to) {
    size_t at = 0;
    for (; at < from.size() && from[at] != wanted; ++at) {
      if (from[at] != kTaken && from[at] != 1 && wanted != 1) return std::nullopt;
    }
    if (at == from.size()) return std::nullopt;
    perm.push_back(static_cast<int64_t>(at));
    from[at] = kTaken;
  }
  return perm;
}

bool ReshapeAsTranspose(const Push& push, const HandlerRow& row) {
  const Editor& edit = push.edit();
  const auto before = edit.SizesOf(edit.node(push.transpose).input(0));
  const auto between = edit.SizesOf(edit.Output(push.transpose));
  const auto asked = Int64s(edit.graph().Constant(push.target().input(1)));
  if (!before || !between || !asked || asked->empty() || before->size() != asked->size()) return false;
  const bool zero_is_size =
      push.target().since_version >= row.zero_since && IntOr(push.target().attributes, "allowzero", 0) != 0;
  const auto result = ReshapedDims(*between, *asked, zero_is_size);
  if (!result) return false;
  const auto perm = PermOfReshape(*between, *result);
  return perm && Combine(push, *perm);
}

// For each size of `from` the range of sizes of `to` that it is parted into, from left to right.
using Parts = std::vector<std::pair<size_t, size_t>>;
std::optional<Parts> PartsOf(const Dims& from, const Dims& to) {
  Parts parts;
  size_t next = 0;
  for (const int64_t size : from) {
    const size_t begin = next;
    int64_t product = 1;
    do {
      if (next == to.size() || (size > 0 && product > size / to[next])) return std::nullopt;
      product *= to[next++];
    } while (product < size);
    if (product != size) return std::nullopt;
    parts.emplace_back(begin, next);
  }
  if (next != to.size()) return std::nullopt;
  return parts;
}

// A Reshape that only parts axes may come first.
bool ReshapeSplit(const Push& push) {
  Editor& edit = push.edit();
  const ValueId original = edit.node(push.transpose).input(0);
  const auto before = edit.SizesOf(original);
  const auto result = edit.SizesOf(edit.Output(push.node));
  const Tensor* asked = edit.graph().Constant(push.target().input(1));
  if (!before || !result || asked == nullptr || asked->count() == 0) return false;
  const size_t rank = push.perm.size();
  if (before->size() != rank || result->size() <= rank) return false;
  if (std::any_of(before->begin(), before->end(), [](int64_t size) { return size < 0; })) return false;
  if (std::any_of(result->begin(), result->end(), [](int64_t size) { return size <= 0; })) return false;
  const auto parts = PartsOf(Permuted(*before, push.perm), *result);
  if (!parts) return false;
  Dims dims;
  Perm behind(result->size());
  for (const int64_t part : push.inverse) {
    const auto& [begin, end] = (*parts)[static_cast<size_t>(part)];
    for (size_t i = begin; i < end; ++i) {
      behind[i] = static_cast<int64_t>(dims.size());
      dims.push_back((*result)[i]);
    }
  }
  edit.SetInput(push.node, 0, original);
  push.transposer.ReplaceConstant(push.node, 1, dims);
  push.TransposeBack(behind);
  RemoveTransposeIfUnused(push);
  return true;
}

}  // namespace

bool PushTranspose(const Push& push, const HandlerRow& /*row*/) {
  const auto second = PermOf(push.target());
  if (!second || second->size() != push.perm.size()) return false;
  return Combine(push, *second);
}

bool PushReshape(const Push& push, const HandlerRow& row) {
  return ReshapeAsTranspose(push, row) || ReshapeSplit(push);
}

}  // namespace rulerun

// The stable codes of everything that rulerun reports: errors, and the findings of `check`, `test`,
// `verify`, `coverage` and `diff`.
//
// A code is a letter and a number and never changes its meaning; a new class of error gets a new line in the table
// below, a fixture in tests/data/errors and, with RULERUN_UPDATE_DOCS=1, its entry in docs/errors.md. The letter says
// who has to act (ErrorKind):
//   U usage · R rule files · M models · X models that ONNX Runtime refuses · K no kernel of ours · S system ·
//   V numbers that differ · N what became of a node
#ifndef RULERUN_ENGINE_BASE_CODES_H_
#define RULERUN_ENGINE_BASE_CODES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace rulerun {

// clang-format off
// code, enumerator, what it means, what to do
#define RULERUN_CODES(CODE)                                                                                           \
  CODE(S0100, kUnexpected, "Something happened that nobody thought of", "Report it as a bug, with the command and the model or rule file.") \
  CODE(S0101, kCannotRead, "A file or folder cannot be read", "Check the path and the permissions.")                 \
  CODE(S0102, kCannotWrite, "A file, a folder or standard output cannot be written", "Check the path, the permissions and the free space.") \
  CODE(S0103, kNoMemory, "There is not enough memory", "Use a machine with more memory, or a smaller model.")        \
  CODE(S0104, kNoProgram, "A program that a flag asks for is missing, or failed", "Install it, or leave the flag out.") \
  CODE(U0101, kCommandLine, "A flag is unknown, an argument is missing or one too many", "See the command's --help.") \
  CODE(U0102, kUnknownCommand, "There is no such command", "See 'rulerun --help' for the list.")                     \
  CODE(U0103, kBadFlagValue, "The value of a flag is not of the form that the flag takes, or out of its range", "Write it as the message says.") \
  CODE(U0104, kUnknownTarget, "There is no such level, platform, execution provider or SIMD target", "Take one that the message lists.") \
  CODE(U0105, kUnknownOption, "The rule set has no such option", "Take the spelling that the message suggests; 'rulerun check --list' and the manifest have them all.") \
  CODE(U0106, kNothingNamed, "A flag names a node, a rule, a pass or an operator that is not there", "Take the spelling that the message suggests.") \
  CODE(U0107, kNoSuchRuleSet, "There is no such rule set", "Give the path of a manifest, or the name of one that comes with rulerun.") \
  CODE(U0108, kNoModels, "There is no model at this path", "Give an ONNX model, or a folder of them.")               \
  CODE(U0109, kUnknownInput, "The model has no such input or dimension", "Take one that the message lists.")         \
  CODE(U0110, kMissingInput, "An input of the model has no value, or not enough is known to invent one", "Give it with --input or --dim, or ask for random values.") \
  CODE(U0111, kWrongInput, "The value of an input has another type or shape than the model declares", "Give an array of the declared type and shape.") \
  CODE(U0112, kBadArray, "A file is not an array that can be read as .npy", "Save it with numpy.save, as one of ONNX's types.") \
  CODE(R0101, kNotYaml, "The rule file is not valid YAML, or not what rule files use of it", "Correct it at the place that is given; an editor with YAML support shows it too.") \
  CODE(R0102, kTooLarge, "The rule file is larger or deeper than any rule file should be", "Split it.")              \
  CODE(R0103, kDuplicateKey, "A key stands twice in one map", "Remove one of the two.")                              \
  CODE(R0104, kMissingFile, "A file that the rule set names is not there or cannot be read", "Correct the path; it is relative to the file that names it.") \
  CODE(R0105, kUnknownKey, "There is no such key here", "Take the spelling that the message suggests; docs/rule-language.md has all keys.") \
  CODE(R0106, kBadValue, "A key has a value of another kind than it takes", "Write it as the message says.")         \
  CODE(R0107, kMissingKey, "A key that is needed is missing", "Add it.")                                             \
  CODE(R0108, kKeysConflict, "Keys that do not go together, or one without another that it needs", "Keep the one that is meant.") \
  CODE(R0109, kBadTable, "The table of a pass, or the kernel table of a platform, does not say what it must", "Correct the table at the place that is given.") \
  CODE(R0110, kNoSuchPass, "There is no such pass", "Take one that docs/rule-language.md lists.")                    \
  CODE(R0111, kBadSchema, "The schema of an operator is not written as schemas are", "Compare it with the schemas beside it.") \
  CODE(R0201, kBadText, "A text block (match, unit, compute, replace, becomes) is not written as the grammar says", "docs/rule-language.md has the grammar.") \
  CODE(R0202, kWrongBlock, "A sign that has no meaning in this kind of text block", "docs/rule-language.md says which sign belongs where.") \
  CODE(R0203, kNumberTooLarge, "A number does not fit into 64 bits", "Write a smaller one.")                         \
  CODE(R0301, kUnknownOperator, "There is no operator of this name, or not in this version", "Correct the name or the domain, or add the operator to the rule set's schemas.") \
  CODE(R0302, kUnknownAttribute, "The operator has no such attribute", "Take the spelling that the message suggests.") \
  CODE(R0303, kWrongArity, "The operator takes another number of operands, or has fewer results", "Compare the call with the operator's documentation.") \
  CODE(R0304, kUnknownName, "The rule binds no such value, label, member, captured attribute or flag", "Take the spelling that the message suggests, or bind the name.") \
  CODE(R0305, kWrongSort, "A node stands where a value is wanted, a value where a node is, or one name means both", "Give each thing a name of its own.") \
  CODE(R0306, kUnknownType, "There is no such element type, set of types or type variable", "Take the spelling that the message suggests.") \
  CODE(R0307, kUnknownPredicate, "There is no such predicate or built-in check", "docs/rule-language.md has all predicates.") \
  CODE(R0308, kBadCondition, "A condition does not have the form that its predicate takes", "docs/rule-language.md shows the form of each.") \
  CODE(R0309, kUnknownGate, "A gate names an option, a fact, a platform or a level that is not declared", "Declare it in the manifest, or correct the name.") \
  CODE(R0310, kUnused, "Something is declared and never used", "Remove it, or use it.")                              \
  CODE(R0311, kResultLost, "A result is written twice, or not at all and would vanish", "Write each result of the pattern exactly once.") \
  CODE(R0312, kNewValueUnread, "A new value of the rewrite is read by no line", "It is most likely a misspelt result.") \
  CODE(R0313, kDuplicateRule, "Two rules of one rule set have the same name", "Rename one, or change the other with 'override'.") \
  CODE(R0314, kNoSuchRule, "There is no such rule, stage, group, fault or test to refer to", "Take the spelling that the message suggests.") \
  CODE(R0315, kExtendsCircle, "Rule sets extend each other in a circle, or too deep", "Let one of them stand alone.") \
  CODE(R0316, kNoRewrite, "A rule or a case says nothing of what becomes of the match, or says it twice", "Give it one of 'replace', 'becomes', 'error' and 'refuse'.") \
  CODE(R0317, kBadTest, "A test of a rule is not written as tests are", "A test is one of becomes, refused, no-match and error.") \
  CODE(R0318, kLooseLine, "Nothing leads from the anchor of a pattern to one of its lines, so it cannot be searched for", "Let the line read or write a value of another line.") \
  CODE(R0401, kCaseNeverTaken, "A case stands after one that always holds", "Put it before, or give the other a 'where'.") \
  CODE(R0402, kRuleInNoStage, "No stage of the pipeline names the rule", "Name its file in the pipeline, or remove the rule.") \
  CODE(R0403, kUnreachable, "A rule never fires: an earlier rule of the same walk always matches first", "Put the narrower rule first, or remove it.") \
  CODE(R0404, kGateNeverOpens, "A rule or stage is never applied: no platform, option, level or opset opens its gate", "Correct 'if', 'unless' or 'level'.") \
  CODE(R0405, kNeverTrue, "A condition can never hold, so the rule never fires", "Remove one of the two sides that contradict each other.") \
  CODE(R0406, kShadowed, "Wherever a rule is known to match, an earlier rule of the same walk fires instead", "Put the narrower rule first, or add a test that shows where it fires.") \
  CODE(R0407, kOverlap, "Two rules of one walk match at the same node; the first in the file wins", "If that is meant, name the other rule in 'overlaps'.") \
  CODE(R0408, kReplacementWithoutKernel, "No kernel runs the operator that a rule builds, or not with these types", "'rulerun run' will refuse such a model: add a kernel, or narrow the rule's types.") \
  CODE(R0409, kNotShown, "Neither a generated graph nor a test shows that the rule can fire", "Give it a test with 'becomes'.") \
  CODE(R0501, kTestFails, "A test of a rule fails", "Correct the rule or the test; the message says what came out.") \
  CODE(R0502, kNeverHolds, "No test of the rule sees a condition hold", "Add a test that gets past it.") \
  CODE(R0503, kNeverRefuses, "No test of the rule is refused by a condition", "Add a near miss: 'refused:' with the condition's name.") \
  CODE(R0504, kNoTests, "A rule has no tests", "Add one with 'becomes', near misses with 'refused', and one with 'no-match'.") \
  CODE(R0505, kIdleExcuse, "'uncovered' excuses what the tests have seen, or what the rule does not ask", "Remove the entry, or write the condition as 'rulerun test' prints it.") \
  CODE(M0101, kNotOnnx, "The file is not an ONNX model, or cut short", "Check the file, or export the model again.") \
  CODE(M0102, kModelTooLarge, "The file is larger than protobuf allows", "Store the weights as external data.")      \
  CODE(M0103, kBadIrVersion, "The model's IR version is missing or not supported", "Save the model with another version of the onnx package, or set ir_version.") \
  CODE(M0104, kBadOpset, "The opsets that the model imports are missing, too old, too new, or lack a domain", "Convert the model with onnx.version_converter, or add the domain.") \
  CODE(M0105, kBadTensor, "A tensor of the model is damaged or of an unknown kind", "Export the model again.")       \
  CODE(M0106, kExternalData, "External data of the model is missing, too short or outside its folder", "Keep the data files beside the model, as they were written.") \
  CODE(M0107, kBadFunction, "A model function cannot be inlined", "Export the model without functions.")             \
  CODE(M0108, kBadGraph, "The graph is not well formed: a value without a producer, one defined twice, a cycle", "Export the model again; onnx.checker tells more.") \
  CODE(M0109, kBadModelText, "A graph written as text cannot be parsed", "Write it as ONNX text: name (inputs) => (outputs) { nodes }.") \
  CODE(M0201, kNoSuchOperator, "A node's operator is in no schema that is known", "Correct its name or domain, or use a rule set that has its schema.") \
  CODE(M0202, kNotInOpset, "The opset of the model does not have a node's operator yet", "Convert the model to an opset that has it.") \
  CODE(M0203, kNodeArity, "A node has too many or too few inputs or outputs", "Compare the node with the operator's documentation.") \
  CODE(M0204, kNodeAttribute, "An attribute of a node is missing, unknown or of the wrong kind", "Compare the node with the operator's documentation.") \
  CODE(M0205, kNodeType, "A node gets an input of a type that it does not take, or gives another type than declared", "Convert the input, or correct the declared type.") \
  CODE(M0206, kNodeShape, "Shapes or attributes of a node contradict each other", "Check the shapes and attributes of the node.") \
  CODE(M0301, kNodeFails, "A node cannot be computed with the values that it gets", "Check the node's inputs and attributes.") \
  CODE(X0101, kRuleRefuses, "ONNX Runtime refuses such a model at this level, and a rule says so", "Take what the message says: another level, --disable the rule, or a rule set that repairs it.") \
  CODE(X0102, kInvalidRewrite, "ONNX Runtime's own rewriting makes an invalid graph of this model and fails", "Use a lower level, or a rule set that repairs it (ort130-safe).") \
  CODE(X0103, kNotInRuntime, "ONNX Runtime has no kernel for a node", "Change the node, or use another execution provider.") \
  CODE(X0104, kDuplicateNodeName, "Two nodes have the same name, which ONNX Runtime refuses", "Rename one of them, or leave both empty.") \
  CODE(K0101, kNoKernel, "No kernel of rulerun's runs this operator, or not for these types", "'rulerun ops' lists the kernels; add one below kernels/.") \
  CODE(K0102, kKernelLimit, "The kernel of the operator does not cover this case", "Change the node as the message says.") \
  CODE(K0103, kTypeLimit, "Values of this type cannot be invented, read or written", "Give the input as a file, or leave the output out.") \
  CODE(V0101, kNumbersDiffer, "The rewritten model computes other numbers than rounding to int8 explains", "The message names the rule; --disable it, or take a rule set that closes its fault (ort130-safe).") \
  CODE(V0102, kOutputDiffers, "An output of the rewritten model has another type or shape, or is not computed", "The message names the rule; --disable it.")  \
  CODE(N0101, kNodeRefused, "A check or condition of a rule does not hold at a node, which stays as it is", "'rulerun explain --node NAME' says what to change.") \
  CODE(N0102, kNodeUnsupported, "The rule set lists the operator of a node as one without an int8 form", "Take another operator, or leave it float; the finding quotes the reason.") \
  CODE(N0103, kNodeWithoutRule, "No rule of the rule set speaks of the operator of a node", "Leave it float, or add a rule: docs/writing-rules.md.") \
  CODE(N0104, kNodeNotQuantized, "Rules speak of the operator, but neither inputs nor outputs of the node are quantized", "Quantize it, or leave it float.") \
  CODE(N0105, kRuleAtHigherLevel, "The rules for a node begin at a higher level", "Take that level.")                  \
  CODE(N0106, kRuleDisabled, "The rule for a node is disabled", "Leave out --disable.")                             \
  CODE(N0107, kRuleAbsent, "A rule or pass that fires elsewhere is not in this rule set", "Compare the two rule sets: 'rulerun check --list'.") \
  CODE(N0108, kRuleFitsNothing, "A rule or pass that fires elsewhere was not tried at a node, or its text fits nothing there", "'rulerun explain --node NAME' tells what was tried.") \
  CODE(N0201, kFaultyNumbers, "A rule reproduces a known fault of ONNX Runtime that makes numbers wrong", "Take a rule set that closes it (ort130-safe), or --disable the rule.") \
  CODE(N0202, kFaultStops, "A rule reproduces a known fault of ONNX Runtime, and the model cannot be loaded or run", "Take a rule set that closes it (ort130-safe), or --disable the rule.")
// clang-format on

enum class Code : uint16_t {
#define RULERUN_ENUMERATOR(code, name, meaning, remedy) name,
  RULERUN_CODES(RULERUN_ENUMERATOR)
#undef RULERUN_ENUMERATOR
};

struct CodeInfo {
  Code code;
  std::string_view name;     // "R0301"
  std::string_view meaning;  // one line, no full stop
  std::string_view remedy;   // one line: what to do in general; the message often knows better
};

// The whole table, by Code.
std::span<const CodeInfo> Codes();
const CodeInfo& Info(Code code);
// "R0301".
std::string_view Name(Code code);
// "error[R0301]", "warning[R0404]": how messages begin.
std::string Tag(std::string_view severity, Code code);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_BASE_CODES_H_

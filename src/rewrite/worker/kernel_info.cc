#include "rewrite/worker/kernel_info.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Expr.h>
#include <functional>

namespace wm::rewrite {
namespace {

std::string address_name(clang::LangAS space) {
  if (space == clang::LangAS::opencl_global) return "global";
  if (space == clang::LangAS::opencl_constant) return "constant";
  if (space == clang::LangAS::opencl_local) return "local";
  return "private";
}

// The type as its author wrote it, with unsigned types by OpenCL's short names.
std::string type_name(clang::QualType type, const clang::PrintingPolicy& policy) {
  std::string name = type.getUnqualifiedType().getAsString(policy);
  if (name.starts_with("unsigned ")) name = "u" + name.substr(9);
  for (const char* access : {"__read_only ", "__write_only ", "__read_write "}) {
    if (name.starts_with(access)) name = name.substr(std::string(access).size());
  }
  return name;
}

void add_word(std::string& line, const std::string& word) { line += (line.empty() ? "" : " ") + word; }

ArgumentInfo describe(const clang::ParmVarDecl& parameter, const clang::PrintingPolicy& policy) {
  const clang::QualType type = parameter.getType();
  ArgumentInfo info;
  info.name = parameter.getName().str();
  info.address = type->isImageType() || type->isPipeType() ? "global" : "private";
  info.access = "none";
  if (type->isPointerType()) {
    const clang::QualType pointee = type->getPointeeType();
    info.address = address_name(pointee.getAddressSpace());
    info.type = type_name(pointee, policy) + "*";
    if (pointee.isConstQualified() || info.address == "constant") add_word(info.qualifiers, "const");
    if (type.isRestrictQualified()) add_word(info.qualifiers, "restrict");
    if (pointee.isVolatileQualified()) add_word(info.qualifiers, "volatile");
  } else {
    info.type = type_name(type, policy);
    if (type->isPipeType()) add_word(info.qualifiers, "pipe");
  }
  if (type->isImageType() || type->isPipeType()) {
    const auto* access = parameter.getAttr<clang::OpenCLAccessAttr>();
    info.access = access == nullptr || access->isReadOnly() ? "read_only"
                  : access->isReadWrite()                   ? "read_write"
                                                            : "write_only";
  }
  return info;
}

template <typename Attribute>
std::string with_sizes(const char* name, const Attribute& attribute) {
  return std::string(name) + "(" + std::to_string(attribute.getXDim()) + "," + std::to_string(attribute.getYDim()) +
         "," + std::to_string(attribute.getZDim()) + ")";
}

// Private scalars become registers: reading or writing one is no instruction.
bool in_memory(const clang::Expr* place) {
  place = place->IgnoreParenImpCasts();
  if (llvm::isa<clang::ArraySubscriptExpr>(place)) return true;
  if (const auto* deref = llvm::dyn_cast<clang::UnaryOperator>(place)) return deref->getOpcode() == clang::UO_Deref;
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(place)) {
    return member->isArrow() || in_memory(member->getBase());
  }
  return place->getType().getAddressSpace() != clang::LangAS::Default &&
         place->getType().getAddressSpace() != clang::LangAS::opencl_private;
}

std::uint32_t weight_of_cast(const clang::CastExpr& cast) {
  switch (cast.getCastKind()) {
    case clang::CK_LValueToRValue:
      return in_memory(cast.getSubExpr()) ? 1 : 0;
    case clang::CK_IntegralCast:
    case clang::CK_IntegralToFloating:
    case clang::CK_FloatingToIntegral:
    case clang::CK_FloatingCast:
    case clang::CK_VectorSplat:
      return llvm::isa<clang::IntegerLiteral, clang::FloatingLiteral>(cast.getSubExpr()) ? 0 : 1;
    default:
      return 0;
  }
}

std::uint32_t weight_of(const clang::Stmt& s) {
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(&s)) return weight_of_cast(*cast);
  if (const auto* two = llvm::dyn_cast<clang::BinaryOperator>(&s)) {
    if (two->getOpcode() == clang::BO_Comma) return 0;
    const std::uint32_t store = two->isAssignmentOp() && in_memory(two->getLHS()) ? 1 : 0;
    if (two->getOpcode() == clang::BO_Assign) return store;
    return two->isCompoundAssignmentOp() ? 1 + 2 * store : 1;
  }
  if (const auto* one = llvm::dyn_cast<clang::UnaryOperator>(&s)) {
    if (one->isIncrementDecrementOp()) return in_memory(one->getSubExpr()) ? 3 : 1;
    return one->getOpcode() == clang::UO_Minus || one->getOpcode() == clang::UO_Not ||
           one->getOpcode() == clang::UO_LNot;
  }
  if (llvm::isa<clang::ConditionalOperator, clang::ArraySubscriptExpr, clang::IfStmt, clang::SwitchStmt,
                clang::ReturnStmt, clang::AtomicExpr>(s))
    return 1;
  if (llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt>(s)) return 2;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&s)) {
    return call->getDirectCallee() != nullptr && call->getDirectCallee()->hasBody() ? 0 : 1;
  }
  return 0;
}

std::uint32_t weight_below(const clang::Stmt* s) {
  if (s == nullptr) return 0;
  std::uint32_t sum = weight_of(*s);
  for (const clang::Stmt* child : s->children()) sum += weight_below(child);
  return sum;
}

}  // namespace

void describe_kernel(const clang::FunctionDecl& kernel, Function& out) {
  const clang::PrintingPolicy& policy = kernel.getASTContext().getPrintingPolicy();
  for (const clang::ParmVarDecl* parameter : kernel.parameters()) {
    out.arguments.push_back(describe(*parameter, policy));
    if (parameter->getType()->isPipeType()) out.reasons.push_back("takes a pipe ('" + out.arguments.back().name + "')");
    if (parameter->getName().empty()) out.reasons.emplace_back("has an argument without a name");
  }
  if (const auto* size = kernel.getAttr<clang::ReqdWorkGroupSizeAttr>()) {
    add_word(out.attributes, with_sizes("reqd_work_group_size", *size));
  }
  if (const auto* size = kernel.getAttr<clang::WorkGroupSizeHintAttr>()) {
    add_word(out.attributes, with_sizes("work_group_size_hint", *size));
  }
  if (const auto* hint = kernel.getAttr<clang::VecTypeHintAttr>()) {
    add_word(out.attributes, "vec_type_hint(" + type_name(hint->getTypeHint(), policy) + ")");
  }
}

std::uint32_t count_instructions(const clang::FunctionDecl& function) { return 1 + weight_below(function.getBody()); }

}  // namespace wm::rewrite

// Tracepoints and functions against the kernel's own types, by types made up here and by those of the running
// kernel.

#include <bpf/btf.h>

#include <catch2/catch.hpp>

#include "tests/skip.h"
#include "userspace/probes/hook_targets.h"

using namespace iotrace;

namespace {

// A kernel with one struct, one number, and what is added.
class MadeUpKernel {
public:
  MadeUpKernel() {
    number_ = btf__add_int(types_, "unsigned int", 4, 0);
    folio_ = pointer_to("folio");
    page_ = pointer_to("page");
  }
  int number() const { return number_; }
  int folio() const { return folio_; }
  int page() const { return page_; }

  void add_function(const char* name, std::initializer_list<int> arguments) {
    int prototype = add_prototype(arguments);
    btf__add_func(types_, name, BTF_FUNC_STATIC, prototype);
  }
  void add_tracepoint(const std::string& name, std::initializer_list<int> arguments) {
    std::vector<int> with_own = {btf__add_ptr(types_, 0)};
    with_own.insert(with_own.end(), arguments);
    int pointer = btf__add_ptr(types_, add_prototype(with_own));
    btf__add_typedef(types_, ("btf_trace_" + name).c_str(), pointer);
  }
  KernelBtf kernel() { return KernelBtf(std::exchange(types_, nullptr)); }

private:
  int pointer_to(const char* name) {
    int type = btf__add_struct(types_, name, 8);
    return btf__add_ptr(types_, btf__add_const(types_, type));
  }
  template<typename List> int add_prototype(const List& arguments) {
    int prototype = btf__add_func_proto(types_, number_);
    for (int argument : arguments) btf__add_func_param(types_, "", argument);
    return prototype;
  }

  btf* types_ = btf__new_empty();
  int number_ = 0, folio_ = 0, page_ = 0;
};

Variant on_tracepoint(const char* name, std::vector<std::string_view> types) {
  int arguments = static_cast<int>(types.size());
  return {"raw_tp", {{"on_x__raw_tp", HookProgram::Event::kTracepoint, name, arguments, arguments, types}}};
}

Variant on_function(const char* name, std::vector<std::string_view> types) {
  int arguments = static_cast<int>(types.size());
  return {"fentry", {{"on_x__fentry", HookProgram::Event::kFunction, name, arguments, arguments, types}}};
}

std::string mismatch(const KernelBtf& kernel, const Variant& variant) {
  return HookTargets(kernel).mismatch(variant);
}

}

TEST_CASE("a function that lost an argument is not hooked") {
  MadeUpKernel made;
  made.add_function("handle_mm_fault", {made.folio(), made.number(), made.number()});
  KernelBtf kernel = made.kernel();
  CHECK(mismatch(kernel, on_function("handle_mm_fault", {"folio *", "32 bits", "32 bits", "pt_regs *"})) ==
        "handle_mm_fault has 3 arguments where 4 are known");
}

TEST_CASE("a function or tracepoint whose argument changed its type is not hooked") {
  MadeUpKernel made;
  made.add_function("set_pte_range", {made.page(), made.number()});
  made.add_tracepoint("added", {made.page()});
  KernelBtf kernel = made.kernel();
  CHECK(mismatch(kernel, on_function("set_pte_range", {"folio *", "32 bits"})) ==
        "argument 1 of set_pte_range is page * where folio * is known");
  CHECK(mismatch(kernel, on_function("set_pte_range", {"page *", "64 bits"})) ==
        "argument 2 of set_pte_range is 32 bits where 64 bits is known");
  CHECK(mismatch(kernel, on_tracepoint("added", {"folio *"})) ==
        "argument 1 of added is page * where folio * is known");
}

TEST_CASE("arguments that a program does not read may be of any type") {
  MadeUpKernel made;
  made.add_tracepoint("added", {made.page(), made.number()});
  KernelBtf kernel = made.kernel();
  CHECK(mismatch(kernel, on_tracepoint("added", {"", "32 bits"})) == "");
  CHECK(mismatch(kernel, on_tracepoint("added", {"page *", ""})) == "");
}

TEST_CASE("what the kernel lacks is not hooked") {
  KernelBtf kernel = MadeUpKernel().kernel();
  CHECK(mismatch(kernel, on_function("gone", {})) == "this kernel has no function gone");
  CHECK(mismatch(kernel, on_tracepoint("gone", {})) == "this kernel has no tracepoint gone");
}

TEST_CASE("the running kernel's handle_mm_fault is as known") {
  auto kernel = KernelBtf::load();
  if (!kernel) test::skip(kernel.error().message);
  CHECK(kernel->arguments_of_function("handle_mm_fault") ==
        std::vector<std::string>{"vm_area_struct *", "64 bits", "32 bits", "pt_regs *"});
}

// RUN: moec-opt %s --outline-parallel --verify-diagnostics

llvm.func @moec_step(%step: !llvm.ptr, %count: i64) {
  %n = builtin.unrealized_conversion_cast %count : i64 to index
  // expected-error @below {{'rt.parallel' op expects LLVM types in its body: lower to the LLVM dialect first, found 'index'}}
  rt.parallel %step %count : !llvm.ptr {
  ^bb0(%begin: i64, %end: i64):
    %sum = arith.addi %n, %n : index
    rt.yield
  }
  llvm.return
}

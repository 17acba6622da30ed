// RUN: not moec compile %s --from=llvm --emit=asm 2>&1 | FileCheck %s

// CHECK: error: expects a function @moec_step in the LLVM dialect
module {}

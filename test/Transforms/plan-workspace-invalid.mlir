// RUN: moec-opt %s --plan-workspace --split-input-file --verify-diagnostics

func.func @layout(%step: !llvm.ptr) {
  // expected-error @below {{'memref.alloc' op expects a dense row-major buffer, found 'memref<4x4xf32, strided<[1, 4]>>'}}
  %a = memref.alloc() : memref<4x4xf32, strided<[1, 4]>>
  return
}

// -----

func.func @unknown_size(%step: !llvm.ptr, %n: index) {
  // expected-error @below {{'memref.alloc' op expects a size that is static or linear in the number of tokens}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

// The sequences are not bounded by the tokens' buffers.
func.func @sequences(%step: !llvm.ptr) {
  %n = rt.extent %step num_sequences : !llvm.ptr
  // expected-error @below {{'memref.alloc' op expects a size that is static or linear in the number of tokens}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func @quadratic(%step: !llvm.ptr) {
  %n = rt.extent %step num_tokens : !llvm.ptr
  // expected-error @below {{'memref.alloc' op expects a size that is static or linear in the number of tokens}}
  %a = memref.alloc(%n, %n) : memref<?x?xf32>
  return
}

// -----

func.func @returned(%step: !llvm.ptr) -> memref<4xf32> {
  // expected-error @below {{'memref.alloc' op expects a buffer that does not outlive its block}}
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

// -----

func.func @carried(%step: !llvm.ptr, %n: index, %first: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %first) -> memref<4xf32> {
    // expected-error @below {{'memref.alloc' op expects a buffer that does not outlive its block}}
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  linalg.copy ins(%last : memref<4xf32>) outs(%first : memref<4xf32>)
  return
}

// -----

// expected-error @below {{expects the step (!llvm.ptr) as an argument to take buffers from}}
func.func @no_step() {
  %buffer = memref.alloc() : memref<16xf32>
  return
}

// RUN: moec-opt %s --convert-forall-to-parallel="max-stack-bytes=1024" --split-input-file --verify-diagnostics

func.func @steps(%step: !llvm.ptr, %n: index) {
  // expected-error @below {{'scf.forall' op expects lower bounds of 0 and steps of 1}}
  scf.forall (%i) = (0) to (%n) step (2) {
  }
  return
}

// -----

func.func @tensors(%step: !llvm.ptr, %n: index, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'scf.forall' op expects no results: run bufferization first}}
  %0 = scf.forall (%i) in (%n) shared_outs(%out = %y) -> tensor<8xf32> {
  }
  return %0 : tensor<8xf32>
}

// -----

func.func @no_step(%n: index) {
  // expected-error @below {{'scf.forall' op expects a function with the step (!llvm.ptr) as an argument}}
  scf.forall (%i) in (%n) {
  }
  return
}

// -----

func.func @dynamic_buffer(%step: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (%n) {
    // expected-error @below {{'memref.alloc' op expects a static size inside a parallel region, found 'memref<?xf32>'}}
    %buffer = memref.alloc(%n) : memref<?xf32>
    memref.store %zero, %buffer[%c0] : memref<?xf32>
  }
  return
}

// -----

func.func @much_stack(%step: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{'rt.parallel' op needs 1028 bytes of stack, expected at most 1024}}
  scf.forall (%i) in (%n) {
    %buffer = memref.alloc() : memref<257xf32>
    memref.store %zero, %buffer[%c0] : memref<257xf32>
  }
  return
}

// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --split-input-file --verify-diagnostics

// expected-error @below {{expects a function @forward}}
module {
  func.func @backward() {
    return
  }
}

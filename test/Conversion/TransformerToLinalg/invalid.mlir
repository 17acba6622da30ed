// RUN: moec-opt %s --convert-transformer-to-linalg --split-input-file --verify-diagnostics

// expected-error @below {{expects a function @forward}}
module {
  func.func @backward() {
    return
  }
}

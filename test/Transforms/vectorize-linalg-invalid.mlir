// RUN: moec-opt %s --vectorize-linalg --split-input-file --verify-diagnostics

func.func @tensors(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @below {{'linalg.generic' op expects memrefs: run bufferization first}}
  %0 = linalg.generic {
    indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
    iterator_types = ["parallel"]}
    ins(%x : tensor<16xf32>) outs(%y : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

func.func @loads(%x: memref<16xindex>, %y: memref<16xf32>, %table: memref<16xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
    iterator_types = ["parallel"]}
    ins(%x : memref<16xindex>) outs(%y : memref<16xf32>) {
  ^bb0(%in: index, %out: f32):
    // expected-error @below {{'memref.load' op is not elementwise; found in the body of a linalg op that is to be vectorised}}
    %0 = memref.load %table[%in] : memref<16xf32>
    linalg.yield %0 : f32
  }
  return
}

// -----

func.func @no_neutral_element(%x: memref<16xf32>, %y: memref<f32>) {
  // expected-error @below {{'linalg.generic' op expects a reduction into one result by one combining operation that has a neutral element}}
  linalg.generic {
    indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>],
    iterator_types = ["reduction"]}
    ins(%x : memref<16xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.subf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

func.func @partial_result_used_twice(%x: memref<16xf32>, %y: memref<f32>) {
  // expected-error @below {{'linalg.generic' op expects a reduction into one result by one combining operation that has a neutral element}}
  linalg.generic {
    indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>],
    iterator_types = ["reduction"]}
    ins(%x : memref<16xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %out, %in : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

func.func @two_results(%x: memref<16xf32>, %y: memref<f32>, %z: memref<f32>) {
  // expected-error @below {{'linalg.generic' op expects a reduction into one result by one combining operation that has a neutral element}}
  linalg.generic {
    indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
    iterator_types = ["reduction"]}
    ins(%x : memref<16xf32>) outs(%y, %z : memref<f32>, memref<f32>) {
  ^bb0(%in: f32, %sum: f32, %largest: f32):
    %0 = arith.addf %sum, %in : f32
    %1 = arith.maximumf %largest, %in : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}

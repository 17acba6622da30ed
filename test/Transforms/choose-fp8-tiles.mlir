// RUN: moec-opt %s --choose-fp8-tiles | FileCheck %s
// RUN: moec-opt %s --choose-fp8-tiles="columns=32 rows=128 register-rows=4 stream-rows=2" | FileCheck %s --check-prefix=GIVEN

// CHECK-LABEL: func.func @fp8
// CHECK: %[[S:.*]] = tensor.empty(%{{.*}}) : tensor<?x1024xi8>
// CHECK: fused.linear {{.*}} outs(%{{.*}}, %[[S]]) {block = array<i64: 128, 128>, tiles = #fused.tiles<columns = 64, rows = 256, register_rows = 6, stream_rows = 8>}
// GIVEN-LABEL: func.func @fp8
// GIVEN: tiles = #fused.tiles<columns = 32, rows = 128, register_rows = 4, stream_rows = 2>
func.func @fp8(%x: tensor<?x256xbf16>, %w: tensor<192x256xf8E4M3FN>, %s: tensor<2x2xf32>, %o: tensor<?x192xbf16>) -> tensor<?x192xbf16> {
  %y = fused.linear %x weights(%w) weight_scales(%s) outs(%o) {block = array<i64: 128, 128>} : (tensor<?x256xbf16>, tensor<192x256xf8E4M3FN>, tensor<2x2xf32>, tensor<?x192xbf16>) -> tensor<?x192xbf16>
  return %y : tensor<?x192xbf16>
}

// Few output features: narrow tiles. Fewer than a vector's share, or weights in
// f16: no kernel.
// CHECK-LABEL: func.func @narrow
// CHECK: fused.linear {{.*}}tiles = #fused.tiles<columns = 16,
// CHECK: fused.linear %{{.*}} weights(%{{.*}}) outs(%{{.*}}) :
// CHECK: fused.linear %{{.*}} weights(%{{.*}}) outs(%{{.*}}) :
func.func @narrow(%x: tensor<?x256xbf16>, %w: tensor<40x256xbf16>, %v: tensor<8x256xbf16>, %h: tensor<40x256xf16>,
                  %o: tensor<?x40xf32>, %p: tensor<?x8xf32>) -> (tensor<?x40xf32>, tensor<?x8xf32>, tensor<?x40xf32>) {
  %a = fused.linear %x weights(%w) outs(%o) : (tensor<?x256xbf16>, tensor<40x256xbf16>, tensor<?x40xf32>) -> tensor<?x40xf32>
  %b = fused.linear %x weights(%v) outs(%p) : (tensor<?x256xbf16>, tensor<8x256xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %c = fused.linear %x weights(%h) outs(%o) : (tensor<?x256xbf16>, tensor<40x256xf16>, tensor<?x40xf32>) -> tensor<?x40xf32>
  return %a, %b, %c : tensor<?x40xf32>, tensor<?x8xf32>, tensor<?x40xf32>
}

// Tiles that are there already stay.
// CHECK-LABEL: func.func @kept
// CHECK: tiles = #fused.tiles<columns = 16, rows = 64, register_rows = 2, stream_rows = 1>
func.func @kept(%x: tensor<?x256xbf16>, %w: tensor<192x256xbf16>, %o: tensor<?x192xbf16>, %s: tensor<?x1024xi8>) -> tensor<?x192xbf16> {
  %y:2 = fused.linear %x weights(%w) outs(%o, %s) {tiles = #fused.tiles<columns = 16, rows = 64, register_rows = 2, stream_rows = 1>} : (tensor<?x256xbf16>, tensor<192x256xbf16>, tensor<?x192xbf16>, tensor<?x1024xi8>) -> (tensor<?x192xbf16>, tensor<?x1024xi8>)
  return %y#0 : tensor<?x192xbf16>
}

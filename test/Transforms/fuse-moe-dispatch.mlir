// RUN: moec-opt %s --fuse-moe-dispatch | FileCheck %s

// The loop over experts becomes two kernels; the first gathers its rows itself.
// CHECK-LABEL: func.func @moec_step
// CHECK-SAME: (%[[STEP:.*]]: !llvm.ptr, %[[X:.*]]: tensor<?x64xbf16>,
// CHECK: %[[D:.*]]:5 = fused.dispatch
// CHECK: %[[S:.*]] = fused.grouped_linear %[[X]] tokens %[[D]]#1 offsets %[[D]]#0 work %[[D]]#3, %[[D]]#4 step %[[STEP]] slots(%[[G:.*]], %[[U:.*]]) outs(%{{.*}}) {epilogue = #fused<epilogue swiglu>, experts = 8 : i64, weight_type = memref<32x64xbf16>}
// CHECK: %[[Y:.*]] = fused.grouped_linear %[[S]] offsets %[[D]]#0 work %[[D]]#3, %[[D]]#4 step %[[STEP]] slots(%{{.*}}) outs(%{{.*}}) {experts = 8 : i64, weight_type = memref<64x32xbf16>}
// CHECK-NOT: fused.experts
// CHECK: return %[[Y]]
func.func @moec_step(%step: !llvm.ptr, %x: tensor<?x64xbf16>, %indices: tensor<?x2xi32>,
    %a: tensor<9xi64>, %b: tensor<?xi32>, %c: tensor<?x2xi32>, %d: tensor<?x3xi32>, %e: tensor<1xi64>,
    %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c13 = arith.constant 13 : index
  %c21 = arith.constant 21 : index
  %dispatch:5 = fused.dispatch %indices outs(%a, %b, %c, %d, %e) {experts = 8 : i64, rows_per_piece = 256 : i64}
    : (tensor<?x2xi32>, tensor<9xi64>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x3xi32>, tensor<1xi64>)
    -> (tensor<9xi64>, tensor<?xi32>, tensor<?x2xi32>, tensor<?x3xi32>, tensor<1xi64>)
  %y = fused.experts %x, %dispatch#0, %dispatch#1 outs(%o) {
  ^bb0(%rows: tensor<?x64xbf16>, %expert: index):
    %n = tensor.dim %rows, %c0 : tensor<?x64xbf16>
    %gs = arith.addi %c5, %expert : index
    %gm = rt.weight %step payload[%gs] : !llvm.ptr -> memref<32x64xbf16>
    %g = bufferization.to_tensor %gm restrict : memref<32x64xbf16> to tensor<32x64xbf16>
    %us = arith.addi %expert, %c13 : index
    %um = rt.weight %step payload[%us] : !llvm.ptr -> memref<32x64xbf16>
    %u = bufferization.to_tensor %um restrict : memref<32x64xbf16> to tensor<32x64xbf16>
    %t = tensor.empty(%n) : tensor<?x32xbf16>
    %s = fused.linear %rows weights(%g, %u) outs(%t) {epilogue = #fused<epilogue swiglu>} : (tensor<?x64xbf16>, tensor<32x64xbf16>, tensor<32x64xbf16>, tensor<?x32xbf16>) -> tensor<?x32xbf16>
    %ds = arith.addi %c21, %expert : index
    %dm = rt.weight %step payload[%ds] : !llvm.ptr -> memref<64x32xbf16>
    %w = bufferization.to_tensor %dm restrict : memref<64x32xbf16> to tensor<64x32xbf16>
    %v = tensor.empty(%n) : tensor<?x64xbf16>
    %z = fused.linear %s weights(%w) outs(%v) : (tensor<?x32xbf16>, tensor<64x32xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
    fused.yield %z : tensor<?x64xbf16>
  } {experts = 8 : i64} : (tensor<?x64xbf16>, tensor<9xi64>, tensor<?xi32>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// A body of another form stays a loop.
// CHECK-LABEL: func.func @other
// CHECK-NOT: fused.grouped_linear
// CHECK: fused.experts
func.func @other(%step: !llvm.ptr, %x: tensor<?x64xbf16>, %offsets: tensor<9xi64>, %tokens: tensor<?xi32>,
                 %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = fused.experts %x, %offsets, %tokens outs(%o) {
  ^bb0(%rows: tensor<?x64xbf16>, %expert: index):
    fused.yield %rows : tensor<?x64xbf16>
  } {experts = 8 : i64} : (tensor<?x64xbf16>, tensor<9xi64>, tensor<?xi32>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

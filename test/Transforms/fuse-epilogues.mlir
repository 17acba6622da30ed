// RUN: moec-opt %s --fuse-epilogues | FileCheck %s

// CHECK-LABEL: func.func @gated
// CHECK-SAME: (%[[X:.*]]: tensor<?x256xbf16>, %[[G:.*]]: tensor<64x256xbf16>, %[[U:.*]]: tensor<64x256xbf16>, %{{.*}}: tensor<?x64xbf16>, %{{.*}}: tensor<?x64xbf16>, %[[O:.*]]: tensor<?x64xbf16>)
// CHECK-NEXT: %[[Y:.*]] = fused.linear %[[X]] weights(%[[G]], %[[U]]) outs(%[[O]]) {epilogue = #fused<epilogue swiglu>}
// CHECK-NEXT: return %[[Y]]
func.func @gated(%x: tensor<?x256xbf16>, %g: tensor<64x256xbf16>, %u: tensor<64x256xbf16>,
                 %a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>, %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %gate = fused.linear %x weights(%g) outs(%a) : (tensor<?x256xbf16>, tensor<64x256xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %up = fused.linear %x weights(%u) outs(%b) : (tensor<?x256xbf16>, tensor<64x256xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %y = fused.swiglu %gate, %up outs(%o) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// Gate and up of different rows, or used elsewhere, stay.
// CHECK-LABEL: func.func @not_gated
// CHECK-COUNT-3: fused.linear
// CHECK: fused.swiglu
// CHECK: fused.swiglu
func.func @not_gated(%x: tensor<?x256xbf16>, %z: tensor<?x256xbf16>, %g: tensor<64x256xbf16>, %u: tensor<64x256xbf16>,
                     %a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>, %o: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) {
  %gate = fused.linear %x weights(%g) outs(%a) : (tensor<?x256xbf16>, tensor<64x256xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %up = fused.linear %z weights(%u) outs(%b) : (tensor<?x256xbf16>, tensor<64x256xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %same = fused.linear %x weights(%u) outs(%b) : (tensor<?x256xbf16>, tensor<64x256xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %y = fused.swiglu %gate, %up outs(%o) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %v = fused.swiglu %gate, %same outs(%o) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y, %v : tensor<?x64xbf16>, tensor<?x64xbf16>
}

// The residual may be made behind the linear layer: the kernel moves to the add.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT: %[[R:.*]] = fused.add
// CHECK-NEXT: %[[Y:.*]] = fused.linear %{{.*}} weights(%{{.*}}) residual %[[R]] outs(%{{.*}}) :
// CHECK-NEXT: return %[[Y]]
func.func @residual(%x: tensor<?x256xbf16>, %w: tensor<64x256xbf16>, %r: tensor<?x64xbf16>,
                    %a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>, %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %p = fused.linear %x weights(%w) outs(%a) : (tensor<?x256xbf16>, tensor<64x256xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %t = fused.add %r, %r outs(%b) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %y = fused.add %t, %p outs(%o) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// CHECK-LABEL: func.func @combine
// CHECK-SAME: %[[S:[a-z0-9]*]]: tensor<?x64xbf16>, %[[R:[a-z0-9]*]]: tensor<?x64xbf16>, %[[A:[a-z0-9]*]]: tensor<?x64xbf16>
// CHECK-NEXT: %[[Y:.*]] = fused.combine %{{.*}}, %{{.*}}, %{{.*}} shared %[[S]] residual %[[R]] outs(%[[A]])
// CHECK-NEXT: return %[[Y]]
func.func @combine(%y: tensor<?x64xbf16>, %rows: tensor<?x4xi32>, %weights: tensor<?x4xf32>,
                   %s: tensor<?x64xbf16>, %r: tensor<?x64xbf16>, %a: tensor<?x64xbf16>,
                   %b: tensor<?x64xbf16>, %o: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %c = fused.combine %y, %rows, %weights outs(%a) : (tensor<?x64xbf16>, tensor<?x4xi32>, tensor<?x4xf32>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %t = fused.add %c, %s outs(%b) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %z = fused.add %r, %t outs(%o) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %z : tensor<?x64xbf16>
}

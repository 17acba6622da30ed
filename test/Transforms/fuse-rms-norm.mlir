// RUN: moec-opt %s --fuse-rms-norm | FileCheck %s

// The example of the pass's page: all three become one kernel.
// CHECK-LABEL: func.func @all
// CHECK-SAME: (%[[A:.*]]: tensor<?x256xbf16>, %[[B:.*]]: tensor<?x256xbf16>, %[[G:.*]]: tensor<256xf32>, %[[O0:.*]]: tensor<?x256xbf16>, %{{.*}}: tensor<?x256xbf16>, %[[O2:.*]]: tensor<?x256xf8E4M3FN>, %[[O3:.*]]: tensor<?x2xf32>)
// CHECK-NEXT: %[[Q:.*]]:3 = fused.rms_norm %[[A]], %[[G]] residual %[[B]] outs(%[[O2]], %[[O3]], %[[O0]]) {eps = 9.9999999999999995E-7 : f64, quantize_group = 128 : i64}
// CHECK-NEXT: return %[[Q]]#0, %[[Q]]#1, %[[Q]]#2
func.func @all(%a: tensor<?x256xbf16>, %b: tensor<?x256xbf16>, %gain: tensor<256xf32>,
               %o0: tensor<?x256xbf16>, %o1: tensor<?x256xbf16>, %o2: tensor<?x256xf8E4M3FN>,
               %o3: tensor<?x2xf32>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>) {
  %s = fused.add %a, %b outs(%o0) : (tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = fused.rms_norm %s, %gain outs(%o1) {eps = 1.0e-06 : f64} : (tensor<?x256xbf16>, tensor<256xf32>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %q:2 = fused.quantize %y outs(%o2, %o3) {group = 128 : i64} : (tensor<?x256xbf16>, tensor<?x256xf8E4M3FN>, tensor<?x2xf32>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>)
  return %q#0, %q#1, %s : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>
}

// A norm that is used otherwise too is not quantised in place.
// CHECK-LABEL: func.func @used_twice
// CHECK: %[[Y:.*]] = fused.rms_norm
// CHECK: fused.quantize %[[Y]]
func.func @used_twice(%x: tensor<?x256xbf16>, %gain: tensor<256xf32>, %o1: tensor<?x256xbf16>,
                      %o2: tensor<?x256xf8E4M3FN>, %o3: tensor<?x2xf32>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>) {
  %y = fused.rms_norm %x, %gain outs(%o1) {eps = 1.0e-06 : f64} : (tensor<?x256xbf16>, tensor<256xf32>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %q:2 = fused.quantize %y outs(%o2, %o3) {group = 128 : i64} : (tensor<?x256xbf16>, tensor<?x256xf8E4M3FN>, tensor<?x2xf32>) -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>)
  return %q#0, %q#1, %y : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<?x256xbf16>
}

// A sum that is read before the norm stands where it is.
// CHECK-LABEL: func.func @read_before
// CHECK: %[[S:.*]] = fused.add
// CHECK: fused.add %[[S]]
// CHECK: fused.rms_norm %[[S]]
func.func @read_before(%a: tensor<?x256xbf16>, %b: tensor<?x256xbf16>, %gain: tensor<256xf32>,
                       %o0: tensor<?x256xbf16>, %o1: tensor<?x256xbf16>, %o2: tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?x256xbf16>) {
  %s = fused.add %a, %b outs(%o0) : (tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %t = fused.add %s, %s outs(%o2) : (tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  %y = fused.rms_norm %s, %gain outs(%o1) {eps = 1.0e-06 : f64} : (tensor<?x256xbf16>, tensor<256xf32>, tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %t, %y : tensor<?x256xbf16>, tensor<?x256xbf16>
}

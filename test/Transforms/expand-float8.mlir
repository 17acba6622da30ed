// RUN: moec-opt %s --expand-float8 | FileCheck %s

// CHECK-LABEL: func.func @widen(
// CHECK-SAME: %[[CODES:.*]]: vector<16xf8E4M3FN>
// CHECK: %[[BITS:.*]] = arith.bitcast %[[CODES]] : vector<16xf8E4M3FN> to vector<16xi8>
// CHECK: %[[WIDE:.*]] = arith.extsi %[[BITS]] : vector<16xi8> to vector<16xi16>
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[WIDE]], %{{.*}} : vector<16xi16>
// CHECK: %[[DIGITS:.*]] = arith.andi %[[SHIFTED]], %{{.*}} : vector<16xi16>
// CHECK: %[[HALF:.*]] = arith.bitcast %[[DIGITS]] : vector<16xi16> to vector<16xf16>
// CHECK: %[[SMALL:.*]] = arith.extf %[[HALF]] : vector<16xf16> to vector<16xf32>
// CHECK: %[[VALUE:.*]] = arith.mulf %[[SMALL]], %{{.*}} : vector<16xf32>
// CHECK: %[[RESULT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[VALUE]] : vector<16xi1>, vector<16xf32>
// CHECK: return %[[RESULT]]
func.func @widen(%codes: vector<16xf8E4M3FN>) -> vector<16xf32> {
  %0 = arith.extf %codes : vector<16xf8E4M3FN> to vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: %[[VALUES:.*]]: vector<8xf32>
// CHECK: arith.bitcast %[[VALUES]] : vector<8xf32> to vector<8xi32>
// CHECK-NOT: arith.truncf
// CHECK: %[[BITS:.*]] = arith.trunci %{{.*}} : vector<8xi32> to vector<8xi8>
// CHECK: arith.bitcast %[[BITS]] : vector<8xi8> to vector<8xf8E4M3FN>
func.func @narrow(%values: vector<8xf32>) -> vector<8xf8E4M3FN> {
  %0 = arith.truncf %values : vector<8xf32> to vector<8xf8E4M3FN>
  return %0 : vector<8xf8E4M3FN>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-NOT: arith.extf {{.*}}f8E4M3FN
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @scalars(%code: f8E4M3FN) -> f8E4M3FN {
  %0 = arith.extf %code : f8E4M3FN to f32
  %1 = arith.truncf %0 : f32 to f8E4M3FN
  return %1 : f8E4M3FN
}

// Other types are left to others.
// CHECK-LABEL: func.func @bfloat(
// CHECK-NEXT: arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT: return
func.func @bfloat(%x: bf16) -> f32 {
  %0 = arith.extf %x : bf16 to f32
  return %0 : f32
}

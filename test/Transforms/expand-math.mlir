// RUN: moec-opt %s --expand-math | FileCheck %s

// CHECK-LABEL: func.func @exponential(
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: math.exp
// CHECK: return
func.func @exponential(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// The angle is reduced in f64, by the nearest multiple of pi/2.
// CHECK-LABEL: func.func @sine(
// CHECK-SAME: %[[ANGLE:.*]]: vector<8xf32>
// CHECK: %[[WIDE:.*]] = arith.extf %[[ANGLE]] : vector<8xf32> to vector<8xf64>
// CHECK: %[[TURNS:.*]] = math.roundeven %{{.*}} : vector<8xf64>
// CHECK: %[[REDUCED:.*]] = math.fma %[[TURNS]], %{{.*}}, %[[WIDE]] : vector<8xf64>
// CHECK: math.fma %[[TURNS]], %{{.*}}, %[[REDUCED]] : vector<8xf64>
// CHECK: arith.fptosi %[[TURNS]] : vector<8xf64> to vector<8xi32>
// CHECK: %[[RESULT:.*]] = arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
// CHECK: return %[[RESULT]]
func.func @sine(%angle: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sin %angle : vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-NOT: math.sin
// CHECK-NOT: math.cos
// CHECK: math.roundeven %{{.*}} : f64
// CHECK: return
func.func @scalars(%angle: f32) -> (f32, f32) {
  %0 = math.sin %angle : f32
  %1 = math.cos %angle : f32
  return %0, %1 : f32, f32
}

// Square roots are instructions.
// CHECK-LABEL: func.func @root(
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: return
func.func @root(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  return %0 : f32
}

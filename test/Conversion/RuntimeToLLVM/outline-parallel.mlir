// RUN: moec-opt %s --outline-parallel | FileCheck %s

// Pointers that the body uses go through a struct; constants are copied, and the
// body's stack is the task's.

// CHECK-LABEL: llvm.func @moec_step(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr) {
// CHECK: %[[ENVIRONMENT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr)>
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(7 : i64) : i64
// CHECK: %[[Y:.*]] = llvm.load %[[STEP]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[ENVIRONMENT]][0, 0]
// CHECK: llvm.store %[[Y]], %[[PLACE]]
// moec_step_args.parallel, then its run and user.
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STEP]][120]
// CHECK: %[[PARALLEL:.*]] = llvm.load %[[FIELD]]
// CHECK: %[[RUN_FIELD:.*]] = llvm.getelementptr %[[PARALLEL]][0]
// CHECK: %[[CALLEE:.*]] = llvm.load %[[RUN_FIELD]]
// CHECK: %[[USER_FIELD:.*]] = llvm.getelementptr %[[PARALLEL]][8]
// CHECK: %[[USER:.*]] = llvm.load %[[USER_FIELD]]
// CHECK: %[[TASK:.*]] = llvm.mlir.addressof @moec_step_task_0
// CHECK: llvm.call %[[CALLEE]](%[[USER]], %[[COUNT]], %[[TASK]], %[[ENVIRONMENT]])
// CHECK: llvm.mlir.addressof @moec_step_task_1
// CHECK: llvm.call
// CHECK-NOT: rt.
// CHECK: llvm.return

// CHECK-LABEL: llvm.func internal @moec_step_task_1(
// CHECK-LABEL: llvm.func internal @moec_step_task_0(
// CHECK-SAME: %[[ENV:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: %[[STACK:.*]] = llvm.alloca
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[ENV]][0, 0]
// CHECK: %[[Y:.*]] = llvm.load %[[PLACE]]
// CHECK: llvm.br ^[[BODY:.*]](%[[BEGIN]], %[[END]] : i64, i64)
// CHECK: ^[[BODY]](%[[FIRST:.*]]: i64, %{{.*}}: i64):
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1.000000e+00 : f32)
// CHECK: llvm.store %[[ONE]], %[[STACK]]
// CHECK: llvm.getelementptr %[[Y]][%[[FIRST]]]
// CHECK-NOT: rt.yield
// CHECK: llvm.return
llvm.func @moec_step(%step: !llvm.ptr) {
  %count = llvm.mlir.constant(7 : i64) : i64
  %one = llvm.mlir.constant(1.0 : f32) : f32
  %size = llvm.mlir.constant(4 : i64) : i64
  %y = llvm.load %step : !llvm.ptr -> !llvm.ptr
  rt.parallel %step %count : !llvm.ptr {
  ^bb0(%begin: i64, %end: i64):
    %stack = llvm.alloca %size x f32 : (i64) -> !llvm.ptr
    llvm.store %one, %stack : f32, !llvm.ptr
    %value = llvm.load %stack : !llvm.ptr -> f32
    %place = llvm.getelementptr %y[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %value, %place : f32, !llvm.ptr
    rt.yield
  }
  rt.parallel %step %count : !llvm.ptr {
  ^bb0(%begin: i64, %end: i64):
    rt.yield
  }
  llvm.return
}

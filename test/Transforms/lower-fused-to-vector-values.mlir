// Runs the kernels that lower-fused-to-vector makes of a linear layer whose
// weights are all 256 codes: row o has the codes 16 o .. 16 o + 15 at its first 16
// features and zeros behind them. Row m of x is one at feature m, so y[m, o] is the
// value of code 16 o + m, exactly, subnormals included; features that hold NaN
// make all of their column NaN. Both forms run: 16 rows at once, and row by row.
// @main counts the results that are wrong.
// RUN: moec-opt %s --lower-fused-to-vector="lanes=16" --expand-float8 --moec-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// RUN: moec-opt %s --lower-fused-to-vector="lanes=8" --expand-float8 --moec-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// CHECK: {{^0$}}

// The caller's parallel-for: one call of the task for each number.
llvm.func @run(%user: !llvm.ptr, %count: i64, %task: !llvm.ptr, %environment: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%begin: i64):
  %more = llvm.icmp "slt" %begin, %count : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %end = llvm.add %begin, %one : i64
  llvm.call %task(%environment, %begin, %end) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.br ^head(%end : i64)
^end:
  llvm.return
}

// A moec_step_args with nothing but its field `parallel`.
func.func private @make_step() -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %run = llvm.mlir.addressof @run : !llvm.ptr
  %memory = memref.alloc() : memref<32xi64>
  %index = memref.extract_aligned_pointer_as_index %memory : memref<32xi64> -> index
  %integer = arith.index_cast %index : index to i64
  %step = llvm.inttoptr %integer : i64 to !llvm.ptr
  %parallel = llvm.getelementptr %step[160] : (!llvm.ptr) -> !llvm.ptr, i8
  %user = llvm.getelementptr %step[168] : (!llvm.ptr) -> !llvm.ptr, i8
  %field = llvm.getelementptr %step[120] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %run, %parallel : !llvm.ptr, !llvm.ptr
  llvm.store %null, %user : !llvm.ptr, !llvm.ptr
  llvm.store %parallel, %field : !llvm.ptr, !llvm.ptr
  return %step : !llvm.ptr
}


func.func private @linear(%step: !llvm.ptr, %x: memref<?x128xf32>, %w: memref<16x128xf8E4M3FN>,
                          %s: memref<1x1xf32>, %y: memref<?x16xf32>, %scratch: memref<?x512xi8>) {
  fused.linear %x weights(%w) weight_scales(%s) outs(%y, %scratch)
    {block = array<i64: 128, 128>,
     tiles = #fused.tiles<columns = 16, rows = 16, register_rows = 6, stream_rows = 4>}
    : (memref<?x128xf32>, memref<16x128xf8E4M3FN>, memref<1x1xf32>, memref<?x16xf32>, memref<?x512xi8>) -> ()
  return
}

// Is y[m, o] not what it should be? The definition widens the code itself.
func.func private @wrong(%y: memref<?x16xf32>, %row: index, %m: index, %w: memref<16x128xf8E4M3FN>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0 : i32
  %half = arith.constant 0.5 : f32
  %count = scf.for %o = %c0 to %c16 step %c1 iter_args(%sum = %zero) -> i32 {
    %code = memref.load %w[%o, %m] : memref<16x128xf8E4M3FN>
    %value = arith.extf %code : f8E4M3FN to f32
    %expected = arith.mulf %value, %half : f32
    %found = memref.load %y[%row, %o] : memref<?x16xf32>
    %same = arith.cmpf oeq, %found, %expected : f32
    // Codes 0x7f and 0xff are in the columns 7 and 15.
    %c7 = arith.constant 7 : index
    %c15 = arith.constant 15 : index
    %is7 = arith.cmpi eq, %o, %c7 : index
    %is15 = arith.cmpi eq, %o, %c15 : index
    %holds_nan = arith.ori %is7, %is15 : i1
    %is_nan = arith.cmpf uno, %found, %found : f32
    %right = arith.select %holds_nan, %is_nan, %same : i1
    %one = arith.constant 1 : i32
    %bad = arith.select %right, %zero, %one : i32
    %next = arith.addi %sum, %bad : i32
    scf.yield %next : i32
  }
  return %count : i32
}

func.func @main() -> i32 {
  %step = call @make_step() : () -> !llvm.ptr
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %x = memref.alloc(%c16) : memref<?x128xf32>
  %w = memref.alloc() : memref<16x128xf8E4M3FN>
  %s = memref.alloc() : memref<1x1xf32>
  %y = memref.alloc(%c16) : memref<?x16xf32>
  %scratch = memref.alloc(%c16) : memref<?x512xi8>
  %half = arith.constant 0.5 : f32
  memref.store %half, %s[%c0, %c0] : memref<1x1xf32>
  scf.for %o = %c0 to %c16 step %c1 {
    scf.for %k = %c0 to %c128 step %c1 {
      %is_one = arith.cmpi eq, %o, %k : index
      %f0 = arith.constant 0.0 : f32
      %f1 = arith.constant 1.0 : f32
      %xv = arith.select %is_one, %f1, %f0 : f32
      memref.store %xv, %x[%o, %k] : memref<?x128xf32>
      %first = arith.muli %o, %c16 : index
      %number = arith.addi %first, %k : index
      %integer = arith.index_cast %number : index to i8
      %none = arith.constant 0 : i8
      %is_code = arith.cmpi ult, %k, %c16 : index
      %bits = arith.select %is_code, %integer, %none : i8
      %code = arith.bitcast %bits : i8 to f8E4M3FN
      memref.store %code, %w[%o, %k] : memref<16x128xf8E4M3FN>
    }
  }
  call @linear(%step, %x, %w, %s, %y, %scratch)
    : (!llvm.ptr, memref<?x128xf32>, memref<16x128xf8E4M3FN>, memref<1x1xf32>, memref<?x16xf32>, memref<?x512xi8>) -> ()
  %zero = arith.constant 0 : i32
  %many = scf.for %m = %c0 to %c16 step %c1 iter_args(%sum = %zero) -> i32 {
    %bad = func.call @wrong(%y, %m, %m, %w) : (memref<?x16xf32>, index, index, memref<16x128xf8E4M3FN>) -> i32
    %next = arith.addi %sum, %bad : i32
    scf.yield %next : i32
  }
  %x1 = memref.alloc(%c1) : memref<?x128xf32>
  %y1 = memref.alloc(%c1) : memref<?x16xf32>
  %all = scf.for %m = %c0 to %c16 step %c1 iter_args(%sum = %many) -> i32 {
    scf.for %k = %c0 to %c128 step %c1 {
      %v = memref.load %x[%m, %k] : memref<?x128xf32>
      memref.store %v, %x1[%c0, %k] : memref<?x128xf32>
    }
    func.call @linear(%step, %x1, %w, %s, %y1, %scratch)
      : (!llvm.ptr, memref<?x128xf32>, memref<16x128xf8E4M3FN>, memref<1x1xf32>, memref<?x16xf32>, memref<?x512xi8>) -> ()
    %bad = func.call @wrong(%y1, %c0, %m, %w) : (memref<?x16xf32>, index, index, memref<16x128xf8E4M3FN>) -> i32
    %next = arith.addi %sum, %bad : i32
    scf.yield %next : i32
  }
  return %all : i32
}

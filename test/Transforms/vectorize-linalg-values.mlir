// Runs what vectorize-linalg makes of linear layers, rope and reductions, with
// rows, columns and features that leave something behind the blocks and vectors,
// and compares with plain loops. All numbers are small integers times powers of
// two, so sums are exact in any order. @main counts the results that are wrong.
// RUN: moec-opt %s --vectorize-linalg --expand-float8 --moec-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// RUN: moec-opt %s --vectorize-linalg="lanes=8 block=2" --expand-float8 --moec-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// RUN: moec-opt %s --vectorize-linalg="lanes=4 block=3" --expand-float8 --moec-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// RUN: moec-opt %s --vectorize-linalg="lanes=1 block=1" --expand-float8 --moec-llvm \
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

// A small integer that depends on both numbers, -%middle .. %middle.
func.func private @number(%a: index, %b: index, %middle: index) -> f32 {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %twice = arith.muli %middle, %c2 : index
  %modulus = arith.addi %twice, %c1 : index
  %first = arith.muli %a, %c3 : index
  %sum = arith.addi %first, %b : index
  %rest = arith.remui %sum, %modulus : index
  %centred = arith.subi %rest, %middle : index
  %integer = arith.index_cast %centred : index to i32
  %value = arith.sitofp %integer : i32 to f32
  return %value : f32
}

// The kernels under test.

func.func private @linear(%step: !llvm.ptr, %x: memref<?x40xf32>, %w: memref<6x40xf8E4M3FN>,
                          %s: memref<3x2xf32>, %y: memref<?x6xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, o, k) -> (n, k)>, affine_map<(n, o, k) -> (o, k)>,
                     affine_map<(n, o, k) -> (o floordiv 2, k floordiv 32)>,
                     affine_map<(n, o, k) -> (n, o)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w, %s : memref<?x40xf32>, memref<6x40xf8E4M3FN>, memref<3x2xf32>)
    outs(%y : memref<?x6xf32>) {
  ^bb0(%a: f32, %code: f8E4M3FN, %scale: f32, %out: f32):
    %0 = arith.extf %code : f8E4M3FN to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.addf %out, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// Lanes along the results: z[n, r] += sum over k of p[n, k] * x[k, r].
func.func private @combine(%step: !llvm.ptr, %p: memref<?x5xf32>, %x: memref<5x40xf32>,
                           %z: memref<?x40xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, r, k) -> (n, k)>, affine_map<(n, r, k) -> (k, r)>,
                     affine_map<(n, r, k) -> (n, r)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%p, %x : memref<?x5xf32>, memref<5x40xf32>) outs(%z : memref<?x40xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

func.func private @rotate(%step: !llvm.ptr, %x: memref<?x40xf32>, %cos: memref<?x20xf32>,
                          %y: memref<?x40xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, d) -> (n, d + 1 - (d mod 2) * 2)>,
                     affine_map<(n, d) -> (n, d floordiv 2)>,
                     affine_map<(n, d) -> (n, d)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%x, %cos : memref<?x40xf32>, memref<?x20xf32>) outs(%y : memref<?x40xf32>) {
  ^bb0(%partner: f32, %c: f32, %out: f32):
    %0 = arith.mulf %partner, %c : f32
    linalg.yield %0 : f32
  }
  return
}

func.func private @largest(%step: !llvm.ptr, %x: memref<?x40xf32>, %y: memref<?xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, d) -> (n, d)>, affine_map<(n, d) -> (n)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<?x40xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

func.func private @differs(%a: f32, %b: f32) -> i32 {
  %wrong = arith.cmpf une, %a, %b : f32
  %count = arith.extui %wrong : i1 to i32
  return %count : i32
}

// All of it with so many rows.
func.func private @check(%rows: index) -> i32 {
  %none = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c20 = arith.constant 20 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %one = arith.constant 1.0 : f32
  %lowest = arith.constant -100.0 : f32
  %step = func.call @make_step() : () -> !llvm.ptr
  %x = memref.alloc(%rows) : memref<?x40xf32>
  %w = memref.alloc() : memref<6x40xf8E4M3FN>
  %s = memref.alloc() : memref<3x2xf32>
  %p = memref.alloc(%rows) : memref<?x5xf32>
  %v = memref.alloc() : memref<5x40xf32>
  %cos = memref.alloc(%rows) : memref<?x20xf32>
  scf.for %n = %c0 to %rows step %c1 {
    scf.for %k = %c0 to %c40 step %c1 {
      %value = func.call @number(%n, %k, %c3) : (index, index, index) -> f32
      memref.store %value, %x[%n, %k] : memref<?x40xf32>
    }
    scf.for %k = %c0 to %c5 step %c1 {
      %value = func.call @number(%k, %n, %c2) : (index, index, index) -> f32
      memref.store %value, %p[%n, %k] : memref<?x5xf32>
    }
    scf.for %k = %c0 to %c20 step %c1 {
      %value = func.call @number(%k, %n, %c4) : (index, index, index) -> f32
      memref.store %value, %cos[%n, %k] : memref<?x20xf32>
    }
  }
  scf.for %k = %c0 to %c40 step %c1 {
    scf.for %o = %c0 to %c6 step %c1 {
      %value = func.call @number(%o, %k, %c4) : (index, index, index) -> f32
      %code = arith.truncf %value : f32 to f8E4M3FN
      memref.store %code, %w[%o, %k] : memref<6x40xf8E4M3FN>
    }
    scf.for %o = %c0 to %c5 step %c1 {
      %value = func.call @number(%k, %o, %c3) : (index, index, index) -> f32
      memref.store %value, %v[%o, %k] : memref<5x40xf32>
    }
  }
  scf.for %o = %c0 to %c3 step %c1 {
    scf.for %k = %c0 to %c2 step %c1 {
      %value = func.call @number(%o, %k, %c4) : (index, index, index) -> f32
      memref.store %value, %s[%o, %k] : memref<3x2xf32>
    }
  }

  // y begins with ones: a reduction adds to what is there.
  %y = memref.alloc(%rows) : memref<?x6xf32>
  linalg.fill ins(%one : f32) outs(%y : memref<?x6xf32>)
  func.call @linear(%step, %x, %w, %s, %y)
      : (!llvm.ptr, memref<?x40xf32>, memref<6x40xf8E4M3FN>, memref<3x2xf32>, memref<?x6xf32>) -> ()
  %z = memref.alloc(%rows) : memref<?x40xf32>
  linalg.fill ins(%one : f32) outs(%z : memref<?x40xf32>)
  func.call @combine(%step, %p, %v, %z)
      : (!llvm.ptr, memref<?x5xf32>, memref<5x40xf32>, memref<?x40xf32>) -> ()
  %rotated = memref.alloc(%rows) : memref<?x40xf32>
  func.call @rotate(%step, %x, %cos, %rotated)
      : (!llvm.ptr, memref<?x40xf32>, memref<?x20xf32>, memref<?x40xf32>) -> ()
  %top = memref.alloc(%rows) : memref<?xf32>
  linalg.fill ins(%lowest : f32) outs(%top : memref<?xf32>)
  func.call @largest(%step, %x, %top) : (!llvm.ptr, memref<?x40xf32>, memref<?xf32>) -> ()

  %all = scf.for %n = %c0 to %rows step %c1 iter_args(%before = %none) -> i32 {
    %linear = scf.for %o = %c0 to %c6 step %c1 iter_args(%sum = %before) -> i32 {
      %expected = scf.for %k = %c0 to %c40 step %c1 iter_args(%partial = %one) -> f32 {
        %a = memref.load %x[%n, %k] : memref<?x40xf32>
        %b = func.call @number(%o, %k, %c4) : (index, index, index) -> f32
        %row = arith.divui %o, %c2 : index
        %column = arith.divui %k, %c32 : index
        %scale = memref.load %s[%row, %column] : memref<3x2xf32>
        %weight = arith.mulf %b, %scale : f32
        %product = arith.mulf %a, %weight : f32
        %next = arith.addf %partial, %product : f32
        scf.yield %next : f32
      }
      %found = memref.load %y[%n, %o] : memref<?x6xf32>
      %wrong = func.call @differs(%found, %expected) : (f32, f32) -> i32
      %count = arith.addi %sum, %wrong : i32
      scf.yield %count : i32
    }
    %rest:2 = scf.for %k = %c0 to %c40 step %c1
        iter_args(%sum = %linear, %maximum = %lowest) -> (i32, f32) {
      %combined = scf.for %o = %c0 to %c5 step %c1 iter_args(%partial = %one) -> f32 {
        %a = memref.load %p[%n, %o] : memref<?x5xf32>
        %b = memref.load %v[%o, %k] : memref<5x40xf32>
        %product = arith.mulf %a, %b : f32
        %next = arith.addf %partial, %product : f32
        scf.yield %next : f32
      }
      %found = memref.load %z[%n, %k] : memref<?x40xf32>
      %wrong = func.call @differs(%found, %combined) : (f32, f32) -> i32

      %other = arith.xori %k, %c1 : index
      %pair = arith.divui %k, %c2 : index
      %partner = memref.load %x[%n, %other] : memref<?x40xf32>
      %c = memref.load %cos[%n, %pair] : memref<?x20xf32>
      %turned = arith.mulf %partner, %c : f32
      %found_turned = memref.load %rotated[%n, %k] : memref<?x40xf32>
      %wrong_turned = func.call @differs(%found_turned, %turned) : (f32, f32) -> i32

      %value = memref.load %x[%n, %k] : memref<?x40xf32>
      %larger = arith.maximumf %maximum, %value : f32
      %both = arith.addi %wrong, %wrong_turned : i32
      %count = arith.addi %sum, %both : i32
      scf.yield %count, %larger : i32, f32
    }
    %found = memref.load %top[%n] : memref<?xf32>
    %wrong = func.call @differs(%found, %rest#1) : (f32, f32) -> i32
    %count = arith.addi %rest#0, %wrong : i32
    scf.yield %count : i32
  }
  return %all : i32
}

func.func @main() -> i32 {
  %none = arith.constant 0 : i32
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %all = scf.for %rows = %c1 to %c10 step %c1 iter_args(%sum = %none) -> i32 {
    %wrong = func.call @check(%rows) : (index) -> i32
    %next = arith.addi %sum, %wrong : i32
    scf.yield %next : i32
  }
  return %all : i32
}

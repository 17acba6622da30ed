// Cleaned up after the pass, so that each value stands once.
// RUN: moec-opt %s --split-input-file --vectorize-linalg --canonicalize --cse | FileCheck %s
// RUN: moec-opt %s --split-input-file --vectorize-linalg="lanes=8 block=2" --canonicalize --cse | FileCheck %s --check-prefix=NARROW

// Rows in parallel, vectors along the features, a masked vector for the last 8.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr, %[[X:.*]]: memref<?x40xbf16>, %[[Y:.*]]: memref<?x40xbf16>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[ROWS:.*]] = memref.dim %[[X]], %[[C0]]
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[ROWS]] : index to i64
// CHECK: rt.parallel %[[STEP]] %[[COUNT]]
// CHECK: ^bb0(%[[BEGIN64:.*]]: i64, %[[END64:.*]]: i64):
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[BEGIN64]]
// CHECK: %[[END:.*]] = arith.index_cast %[[END64]]
// CHECK: scf.for %[[N:.*]] = %[[BEGIN]] to %[[END]] step %[[C1]]
// CHECK: scf.for %[[D:.*]] = %[[C0]] to %[[C32]] step %[[C16]]
// CHECK: %[[IN:.*]] = vector.load %[[X]][%[[N]], %[[D]]] : memref<?x40xbf16>, vector<16xbf16>
// CHECK: arith.extf %[[IN]] : vector<16xbf16> to vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: %[[OUT:.*]] = arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK: vector.store %[[OUT]], %[[Y]][%[[N]], %[[D]]]
// CHECK: %[[MASK:.*]] = vector.constant_mask [8] : vector<16xi1>
// CHECK: vector.maskedload %[[X]][%[[N]], %[[C32]]], %[[MASK]]
// CHECK: vector.maskedstore %[[Y]][%[[N]], %[[C32]]], %[[MASK]]
// CHECK: rt.yield

// 40 is a multiple of 8 lanes.
// NARROW-LABEL: func.func @elementwise(
// NARROW-NOT: mask
// NARROW: vector.load {{.*}} vector<8xbf16>
// NARROW-NOT: mask
// NARROW: rt.yield

func.func @elementwise(%step: !llvm.ptr,
    %x: memref<?x40xbf16>, %y: memref<?x40xbf16>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, d) -> (n, d)>, affine_map<(n, d) -> (n, d)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<?x40xbf16>) outs(%y : memref<?x40xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %0 = arith.extf %in : bf16 to f32
    %1 = arith.addf %0, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  }
  return
}

// -----

// Lanes along the reduction. Six columns make two blocks in parallel, the second
// of two columns; the rows are blocked inside, the ones that are left go one by
// one. Whatever the block, a result is the same sequence of multiply-adds and the
// same tree of additions.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr, %[[X:.*]]: memref<?x40xf32>, %[[W:.*]]: memref<6x40xf32>, %[[Y:.*]]: memref<?x6xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 2 : i64
// CHECK: %[[ROWS:.*]] = memref.dim %[[X]], %[[C0]]
// CHECK: rt.parallel %[[STEP]] %[[BLOCKS]]
// CHECK: scf.for
// CHECK: scf.if
//     Whole blocks: 4 columns and 4 rows.
// CHECK: %[[WHOLE:.*]] = affine.apply {{.*}}[%[[ROWS]]]
// CHECK: scf.for %[[N:.*]] = %[[C0]] to %[[WHOLE]] step %[[C4]]
// CHECK: scf.for %[[K:.*]] = %[[C0]] to %[[C32]] step %[[C16]] iter_args(%[[SUM:[^ ]*]] = %[[ZERO]],
// CHECK: %[[A:.*]] = vector.load %[[X]][%[[N]], %[[K]]] : memref<?x40xf32>, vector<16xf32>
// CHECK: %[[B:.*]] = vector.load %[[W]][%{{.*}}, %[[K]]] : memref<6x40xf32>, vector<16xf32>
// CHECK: math.fma %[[A]], %[[B]], %[[SUM]] : vector<16xf32>
//     The same weights serve the next row.
// CHECK: %[[A1:.*]] = vector.load %[[X]]
// CHECK: math.fma %[[A1]], %[[B]],
// CHECK-COUNT-14: math.fma
// CHECK: scf.yield
//     What is left of k: masked, so that lanes beyond the end keep their sums.
// CHECK: %[[MASK:.*]] = vector.constant_mask [8] : vector<16xi1>
// CHECK: vector.maskedload %[[X]][%[[N]], %[[C32]]], %[[MASK]]
// CHECK: vector.maskedload %[[W]][%{{.*}}, %[[C32]]], %[[MASK]]
// CHECK: %[[LAST:.*]] = math.fma
// CHECK: %[[LANES:.*]] = arith.select %[[MASK]], %[[LAST]], %
//     A tree: 16, 8, 4, 2, 1.
// CHECK: %[[BEFORE:.*]] = memref.load %[[Y]][%[[N]], %[[O:.*]]]
// CHECK: %[[LOW:.*]] = vector.extract_strided_slice %[[LANES]] {offsets = [0], sizes = [8], strides = [1]}
// CHECK: %[[HIGH:.*]] = vector.extract_strided_slice %[[LANES]] {offsets = [8], sizes = [8], strides = [1]}
// CHECK: %[[HALF:.*]] = arith.addf %[[LOW]], %[[HIGH]] : vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: arith.addf {{.*}} : vector<2xf32>
// CHECK: %[[ONE:.*]] = arith.addf {{.*}} : vector<1xf32>
// CHECK: %[[RESULT:.*]] = vector.extract %[[ONE]][0]
// CHECK: %[[NEW:.*]] = arith.addf %[[BEFORE]], %[[RESULT]] : f32
// CHECK: memref.store %[[NEW]], %[[Y]][%[[N]], %[[O]]]
//     Rows that are left, by 4 columns.
// CHECK: scf.for %[[M:.*]] = %[[WHOLE]] to %[[ROWS]] step %[[C1]]
// CHECK: scf.for {{.*}} to %[[C32]] step %[[C16]] iter_args
// CHECK-COUNT-4: math.fma
// CHECK: scf.yield
// CHECK-COUNT-4: arith.select
// CHECK-COUNT-4: memref.store {{.*}}, %[[Y]][%[[M]],
//     The last two columns by 4 rows, then by the rows that are left.
// CHECK: } else {
// CHECK: scf.for {{.*}} to %{{.*}} step %[[C4]]
// CHECK: scf.for {{.*}} to %[[C32]] step %[[C16]] iter_args
// CHECK-COUNT-8: math.fma
// CHECK: scf.yield
// CHECK-COUNT-8: memref.store {{.*}}, %[[Y]]
// CHECK: scf.for {{.*}} step %[[C1]]
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-2: math.fma
// CHECK: scf.yield
// CHECK-COUNT-2: memref.store {{.*}}, %[[Y]]
// CHECK-NOT: memref.store
// CHECK: rt.yield

// Blocks of 2 by 2, and no column is left.
// NARROW-LABEL: func.func @linear(
// NARROW-DAG: %[[BLOCKS:.*]] = arith.constant 3 : i64
// NARROW: rt.parallel %{{.*}} %[[BLOCKS]]
// NARROW-NOT: scf.if
// NARROW: scf.for {{.*}} iter_args
// NARROW-COUNT-4: math.fma {{.*}} : vector<8xf32>
// NARROW: scf.yield
// NARROW-NOT: mask
// NARROW-COUNT-4: memref.store
// NARROW: scf.for {{.*}} iter_args
// NARROW-COUNT-2: math.fma {{.*}} : vector<8xf32>
// NARROW: scf.yield
// NARROW-COUNT-2: memref.store
// NARROW-NOT: memref.store
// NARROW: rt.yield

func.func @linear(%step: !llvm.ptr,
    %x: memref<?x40xf32>, %w: memref<6x40xf32>, %y: memref<?x6xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, o, k) -> (n, k)>, affine_map<(n, o, k) -> (o, k)>, affine_map<(n, o, k) -> (n, o)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : memref<?x40xf32>, memref<6x40xf32>) outs(%y : memref<?x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Attention's values: lanes along the features r, the sum over the keys k runs in
// order. Four heads times two vectors at a time; no sum over lanes.
// CHECK-LABEL: func.func @lanes_parallel(
// CHECK-SAME: %[[P:[^:]*]]: memref<4x?xf32>, %[[V:.*]]: memref<?x72xf32>, %[[Y:.*]]: memref<4x72xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[KEYS:.*]] = memref.dim %[[P]], %[[C1]]
// CHECK: rt.parallel
// CHECK: scf.for %[[R:.*]] = %[[C0]] to %[[C64]] step %[[C32]]
// CHECK-COUNT-8: vector.load %[[Y]]
// CHECK: scf.for %[[K:.*]] = %[[C0]] to %[[KEYS]] step %[[C1]] iter_args(%[[SUM:[^ ]*]] =
// CHECK: %[[PROBABILITY:.*]] = memref.load %[[P]][%{{.*}}, %[[K]]]
// CHECK: %[[SPREAD:.*]] = vector.broadcast %[[PROBABILITY]] : f32 to vector<16xf32>
// CHECK: %[[VALUES:.*]] = vector.load %[[V]][%[[K]], %[[R]]]
// CHECK: math.fma %[[SPREAD]], %[[VALUES]], %[[SUM]]
// CHECK-COUNT-7: math.fma
// CHECK: scf.yield
// CHECK-NOT: vector.extract
// CHECK-COUNT-8: vector.store {{.*}}, %[[Y]]
//     The last 8 features.
// CHECK: %[[MASK:.*]] = vector.constant_mask [8]
// CHECK-COUNT-4: vector.maskedload %[[Y]]{{.*}}, %[[MASK]]
// CHECK: scf.for {{.*}} = %[[C0]] to %[[KEYS]]
// CHECK-COUNT-4: math.fma
// CHECK-COUNT-4: vector.maskedstore %[[Y]]
// CHECK-NOT: vector.extract
// CHECK: rt.yield

func.func @lanes_parallel(%step: !llvm.ptr,
    %p: memref<4x?xf32>, %v: memref<?x72xf32>, %y: memref<4x72xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(a, r, k) -> (a, k)>, affine_map<(a, r, k) -> (k, r)>, affine_map<(a, r, k) -> (a, r)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%p, %v : memref<4x?xf32>, memref<?x72xf32>) outs(%y : memref<4x72xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A block's scale is one element for all lanes.
// CHECK-LABEL: func.func @block_scale(
// CHECK-SAME: %[[S:[^:]*]]: memref<2x2xf32>
// CHECK: vector.load {{.*}} vector<16xf8E4M3FN>
// CHECK: %[[SCALE:.*]] = memref.load %[[S]][
// CHECK: vector.broadcast %[[SCALE]] : f32 to vector<16xf32>
// CHECK-NOT: scf.for
// CHECK: rt.yield

func.func @block_scale(%step: !llvm.ptr,
    %w: memref<256x256xf8E4M3FN>, %s: memref<2x2xf32>, %y: memref<256x256xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(o, k) -> (o, k)>, affine_map<(o, k) -> (o floordiv 128, k floordiv 128)>, affine_map<(o, k) -> (o, k)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%w, %s : memref<256x256xf8E4M3FN>, memref<2x2xf32>) outs(%y : memref<256x256xf32>) {
  ^bb0(%code: f8E4M3FN, %scale: f32, %out: f32):
    %0 = arith.extf %code : f8E4M3FN to f32
    %1 = arith.mulf %0, %scale : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Rope's partner is a shuffle of the same vector; cos and sin are half a vector,
// each element for two lanes.
// CHECK-LABEL: func.func @partner(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x64xf32>, %[[SIN:.*]]: memref<?x32xf32>, %[[Y:.*]]: memref<?x64xf32>
// CHECK: scf.for
// CHECK: scf.for %[[D:.*]] = %{{.*}} to
// CHECK: %[[PARTNERS:.*]] = vector.load %[[X]]{{.*}} vector<16xf32>
// CHECK: vector.shuffle %[[PARTNERS]], %[[PARTNERS]] [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14]
// CHECK: %[[HALF:.*]] = affine.apply {{.*}}(%[[D]])
// CHECK: %[[SINES:.*]] = vector.load %[[SIN]][%{{.*}}, %[[HALF]]] : memref<?x32xf32>, vector<8xf32>
// CHECK: vector.shuffle %[[SINES]], %[[SINES]] [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
// CHECK: vector.store {{.*}}, %[[Y]][%{{.*}}, %[[D]]]

// NARROW-LABEL: func.func @partner(
// NARROW: vector.shuffle {{.*}} [1, 0, 3, 2, 5, 4, 7, 6]
// NARROW: vector.shuffle {{.*}} [0, 0, 1, 1, 2, 2, 3, 3] : vector<4xf32>

func.func @partner(%step: !llvm.ptr,
    %x: memref<?x64xf32>, %sin: memref<?x32xf32>, %y: memref<?x64xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(n, d) -> (n, d + 1 - (d mod 2) * 2)>, affine_map<(n, d) -> (n, d floordiv 2)>, affine_map<(n, d) -> (n, d)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%x, %sin : memref<?x64xf32>, memref<?x32xf32>) outs(%y : memref<?x64xf32>) {
  ^bb0(%b: f32, %s: f32, %out: f32):
    %0 = arith.mulf %b, %s : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Neither dimension is contiguous in both operands: scalars.
// CHECK-LABEL: func.func @scalar(
// CHECK: rt.parallel
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: vector
// CHECK: %[[VALUE:.*]] = memref.load
// CHECK: memref.store %[[VALUE]],
// CHECK: rt.yield

func.func @scalar(%step: !llvm.ptr,
    %x: memref<?x4xf32>, %y: memref<4x?xf32, strided<[1, 4]>>) {
  linalg.generic {
    indexing_maps = [affine_map<(a, n) -> (n, a)>, affine_map<(a, n) -> (a, n)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<?x4xf32>) outs(%y : memref<4x?xf32, strided<[1, 4]>>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// Named ops and copies are generalised first.
// CHECK-LABEL: func.func @fill_and_copy(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x32xf32>, %[[Y:.*]]: memref<?x32xf32>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK-NOT: memref.copy
// CHECK: rt.parallel
// CHECK: vector.store %[[ZERO]], %[[X]][
// CHECK: rt.parallel
// CHECK: %[[VALUES:.*]] = vector.load %[[X]][
// CHECK: vector.store %[[VALUES]], %[[Y]][

func.func @fill_and_copy(%step: !llvm.ptr,
    %x: memref<?x32xf32>, %y: memref<?x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<?x32xf32>)
  memref.copy %x, %y : memref<?x32xf32> to memref<?x32xf32>
  return
}

// -----

// Loops inside a parallel region stay on its thread.
// CHECK-LABEL: func.func @inside_parallel(
// CHECK: rt.parallel
// CHECK-NOT: rt.parallel
// CHECK: scf.for
// CHECK: vector.load
// CHECK: vector.store
// CHECK-NOT: rt.parallel
// CHECK: return

func.func @inside_parallel(%step: !llvm.ptr, %count: i64,
    %x: memref<32xf32>, %y: memref<32xf32>) {
  rt.parallel %step %count : !llvm.ptr {
  ^bb0(%begin: i64, %end: i64):
    linalg.copy ins(%x : memref<32xf32>) outs(%y : memref<32xf32>)
    rt.yield
  }
  return
}

// -----

// The index along the lanes.
// CHECK-LABEL: func.func @numbers(
// CHECK: scf.for %[[D:.*]] = 
// CHECK: %[[FIRST:.*]] = vector.broadcast %[[D]] : index to vector<16xindex>
// CHECK: %[[LANE:.*]] = vector.step : vector<16xindex>
// CHECK: arith.addi %[[FIRST]], %[[LANE]]

func.func @numbers(%step: !llvm.ptr,
    %y: memref<32xindex>) {
  linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]} outs(%y : memref<32xindex>) {
  ^bb0(%out: index):
    %0 = linalg.index 0 : index
    linalg.yield %0 : index
  }
  return
}

// -----

// Other reductions than sums: combined by their own operation, from the row's
// first vector on; masked lanes do not count as zeros.
// CHECK-LABEL: func.func @maximum(
// CHECK: %[[FIRST:.*]] = vector.load
// CHECK: %[[MASK:.*]] = vector.constant_mask [4] : vector<16xi1>
// CHECK: %[[REST:.*]] = vector.maskedload
// CHECK: %[[BOTH:.*]] = arith.maximumf %[[FIRST]], %[[REST]]
// CHECK: %[[LANES:.*]] = arith.select %[[MASK]], %[[BOTH]], %[[FIRST]]
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK: arith.maximumf {{.*}} : vector<4xf32>
// CHECK: arith.maximumf {{.*}} : vector<2xf32>
// CHECK: arith.maximumf {{.*}} : vector<1xf32>
// CHECK: arith.maximumf {{.*}} : f32
// CHECK: memref.store

func.func @maximum(%step: !llvm.ptr,
    %x: memref<?x20xf32>, %y: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, d) -> (n, d)>, affine_map<(n, d) -> (n)>], iterator_types = ["parallel", "reduction"]}
  ins(%x : memref<?x20xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Without a step there is no one to run a parallel loop.
// CHECK-LABEL: func.func @sequential(
// CHECK-NOT: rt.parallel
// CHECK: vector.load
// CHECK: vector.store
// CHECK: return

func.func @sequential(%x: memref<32xf32>,
    %y: memref<32xf32>) {
  linalg.copy ins(%x : memref<32xf32>) outs(%y : memref<32xf32>)
  return
}

// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// A token's row goes to page page_table[sequence, position / 64], row
// position % 64: the latent, and behind it the rope key.

// CHECK-DAG: #[[PAGE:.*]] = affine_map<(d0) -> (d0 floordiv 64)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0) -> (d0 mod 64)>
// CHECK-LABEL: func.func @moec_step(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr)
// CHECK: %[[PAGES:.*]] = rt.extent %[[STEP]] cache_pages
// CHECK: %[[CACHE:.*]] = rt.buffer %[[STEP]] cache[%[[PAGES]]] : !llvm.ptr -> memref<4x?x64x144xbf16>
// CHECK: %[[TABLE:.*]] = rt.buffer %[[STEP]] page_table[%{{.*}}, %{{.*}}] : !llvm.ptr -> memref<?x?xi32>
// CHECK: %[[SEQUENCES:.*]] = rt.buffer %[[STEP]] sequences[%{{.*}}] : !llvm.ptr -> memref<?xi32>
// CHECK: scf.forall (%[[N:.*]]) in (%{{.*}}) {
// CHECK: %[[POSITION32:.*]] = tensor.extract %{{.*}}[%[[N]]] : tensor<?xi32>
// CHECK: %[[POSITION:.*]] = arith.index_cast %[[POSITION32]]
// CHECK-DAG: %[[NUMBER:.*]] = affine.apply #[[PAGE]](%[[POSITION]])
// CHECK-DAG: %[[AT:.*]] = affine.apply #[[ROW]](%[[POSITION]])
// CHECK: %[[SEQUENCE32:.*]] = memref.load %[[SEQUENCES]][%[[N]]]
// CHECK: %[[SEQUENCE:.*]] = arith.index_cast %[[SEQUENCE32]]
// CHECK: %[[PAGE32:.*]] = memref.load %[[TABLE]][%[[SEQUENCE]], %[[NUMBER]]]
// CHECK: %[[PLACE:.*]] = arith.index_cast %[[PAGE32]]
// CHECK: %[[LATENT:.*]] = memref.subview %[[CACHE]][2, %[[PLACE]], %[[AT]], 0] [1, 1, 1, 128]
// CHECK: %[[KEY:.*]] = memref.subview %[[CACHE]][2, %[[PLACE]], %[[AT]], 128] [1, 1, 1, 16]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[LATENT]] : (tensor<128xbf16>,
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[KEY]] : (tensor<16xbf16>,

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x144xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>,
                   %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x144xbf16>
  %x = transformer.embedding %ids, %table
      : (tensor<?x?xi32>, tensor<64x144xbf16>) -> tensor<?x?x144xbf16>
  %layer = arith.constant 2 : index
  %parts:2 = transformer.split %x [128, 16]
      : tensor<?x?x144xbf16> -> tensor<?x?x128xbf16>, tensor<?x?x16xbf16>
  %new_cache = transformer.cache_update %cache, %layer, %parts#0, %parts#1, %positions
      : !cache, tensor<?x?x128xbf16>, tensor<?x?x16xbf16>, tensor<?x?xi32>
  %one = arith.constant 1 : index
  %logits = tensor.empty(%one) : tensor<?x32xf32>
  return %logits, %new_cache : tensor<?x32xf32>, !cache
}

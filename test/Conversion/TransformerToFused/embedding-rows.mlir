// RUN: moec-opt %s --convert-transformer-to-fused --decompose-fused --reconcile-unrealized-casts --canonicalize | FileCheck %s

// Rows by number, each copied by a thread: the tokens' rows of the table at the
// beginning, the wanted rows at the end. @forward becomes a step that reads all
// from the caller's struct.

// CHECK-NOT: func.func @forward
// CHECK-LABEL: func.func @moec_step(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr) {
// CHECK: %[[IDS_IN:.*]] = rt.buffer %[[STEP]] token_ids[%{{.*}}] : !llvm.ptr -> memref<?xi32>
// CHECK: %[[IDS:.*]] = bufferization.to_tensor %[[IDS_IN]] restrict :
// CHECK: %[[ROWS_IN:.*]] = rt.buffer %[[STEP]] logit_rows[%{{.*}}] : !llvm.ptr -> memref<?xi32>
// CHECK: %[[ROWS:.*]] = bufferization.to_tensor %[[ROWS_IN]] restrict :
// CHECK: %[[TABLE:.*]] = bufferization.to_tensor %{{.*}} restrict : memref<64x256xbf16>
// CHECK: %[[N:.*]] = rt.extent %[[STEP]] num_tokens
// CHECK: scf.forall (%[[TOKEN:.*]]) in (%[[N]])
// CHECK: %[[ID:.*]] = tensor.extract %[[IDS]][%[[TOKEN]]]
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[ID]]
// CHECK: tensor.extract_slice %[[TABLE]][%[[NUMBER]], 0] [1, 256] [1, 1]
// CHECK: %[[L:.*]] = rt.extent %[[STEP]] num_logits
// CHECK: scf.forall (%[[WANTED:.*]]) in (%[[L]])
// CHECK: tensor.extract %[[ROWS]][%[[WANTED]]]
// CHECK: %[[LOGITS:.*]] = rt.buffer %[[STEP]] logits[%{{.*}}] : !llvm.ptr -> memref<?x32xf32>
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[LOGITS]]
// CHECK: return{{$}}

!cache = !transformer.latent_cache<layers = 4, kv_lora_rank = 128, rope = 16, bf16>
transformer.parameter @table "table" : tensor<64x256xbf16>
transformer.parameter @w "w" scales "w_scale_inv" : !transformer.block_scaled<144x256, f8E4M3FN, f32, [128, 128]>
transformer.parameter @head "head" : tensor<32x144xbf16>
func.func @forward(%ids: tensor<?x?xi32>, %positions: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x32xf32>, !cache) {
  %table = transformer.weight @table : tensor<64x256xbf16>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<64x256xbf16>) -> tensor<?x?x256xbf16>
  %w = transformer.weight @w : !transformer.block_scaled<144x256, f8E4M3FN, f32, [128, 128]>
  %y = transformer.linear %x, %w : (tensor<?x?x256xbf16>, !transformer.block_scaled<144x256, f8E4M3FN, f32, [128, 128]>) -> tensor<?x?x144xbf16>
  %last = transformer.gather_rows %y, %rows : (tensor<?x?x144xbf16>, tensor<?xi32>) -> tensor<?x144xbf16>
  %head = transformer.weight @head : tensor<32x144xbf16>
  %logits = transformer.linear %last, %head : (tensor<?x144xbf16>, tensor<32x144xbf16>) -> tensor<?x32xf32>
  return %logits, %cache : tensor<?x32xf32>, !cache
}

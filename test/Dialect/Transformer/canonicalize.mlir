// RUN: moec-opt %s --canonicalize --split-input-file | FileCheck %s

// Splitting into one piece gives the piece.
// CHECK-LABEL: func.func @split_into_one
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x64xbf16>)
func.func @split_into_one(%x: tensor<?x?x64xbf16>) -> tensor<?x?x64xbf16> {
  // CHECK-NOT: transformer.split
  // CHECK: return %[[X]]
  %0 = transformer.split %x [64] : tensor<?x?x64xbf16> -> tensor<?x?x64xbf16>
  return %0 : tensor<?x?x64xbf16>
}

// -----

// CHECK-LABEL: func.func @split_into_two
func.func @split_into_two(%x: tensor<?x?x64xbf16>) -> tensor<?x?x16xbf16> {
  // CHECK: %[[PIECES:.*]]:2 = transformer.split
  // CHECK: return %[[PIECES]]#1
  %0:2 = transformer.split %x [48, 16]
    : tensor<?x?x64xbf16> -> tensor<?x?x48xbf16>, tensor<?x?x16xbf16>
  return %0#1 : tensor<?x?x16xbf16>
}

// -----

// CHECK-LABEL: func.func @split_then_merge
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x128xbf16>)
func.func @split_then_merge(%x: tensor<?x?x128xbf16>) -> tensor<?x?x128xbf16> {
  // CHECK-NEXT: return %[[X]]
  %0 = transformer.split_heads %x : tensor<?x?x128xbf16> -> tensor<?x?x4x32xbf16>
  %1 = transformer.merge_heads %0 : tensor<?x?x4x32xbf16> -> tensor<?x?x128xbf16>
  return %1 : tensor<?x?x128xbf16>
}

// -----

// CHECK-LABEL: func.func @merge_then_split
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x4x32xbf16>)
func.func @merge_then_split(%x: tensor<?x?x4x32xbf16>)
    -> tensor<?x?x4x32xbf16> {
  // CHECK-NEXT: return %[[X]]
  %0 = transformer.merge_heads %x : tensor<?x?x4x32xbf16> -> tensor<?x?x128xbf16>
  %1 = transformer.split_heads %0 : tensor<?x?x128xbf16> -> tensor<?x?x4x32xbf16>
  return %1 : tensor<?x?x4x32xbf16>
}

// -----

// Into other heads than before: both ops stay.
// CHECK-LABEL: func.func @other_heads
func.func @other_heads(%x: tensor<?x?x4x32xbf16>) -> tensor<?x?x8x16xbf16> {
  // CHECK: transformer.merge_heads
  // CHECK: transformer.split_heads
  %0 = transformer.merge_heads %x : tensor<?x?x4x32xbf16> -> tensor<?x?x128xbf16>
  %1 = transformer.split_heads %0 : tensor<?x?x128xbf16> -> tensor<?x?x8x16xbf16>
  return %1 : tensor<?x?x8x16xbf16>
}

// -----

!cache = !transformer.latent_cache<layers = 3, kv_lora_rank = 136, rope = 16, bf16>

// A model without dense layers: the range is empty and the values pass through.
// CHECK-LABEL: func.func @no_layers
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x192xbf16>, %[[C:.*]]: !transformer.latent_cache<{{.*}}>)
func.func @no_layers(%x: tensor<?x?x192xbf16>, %c: !cache)
    -> (tensor<?x?x192xbf16>, !cache) {
  // CHECK-NEXT: return %[[X]], %[[C]]
  %0:2 = transformer.layers [0, 0) init(%x, %c) : tensor<?x?x192xbf16>, !cache {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>, %d: !cache):
    %1 = transformer.add %y, %y : tensor<?x?x192xbf16>
    transformer.yield %1, %d : tensor<?x?x192xbf16>, !cache
  }
  return %0#0, %0#1 : tensor<?x?x192xbf16>, !cache
}

// -----

// CHECK-LABEL: func.func @one_layer
func.func @one_layer(%x: tensor<?x?x192xbf16>) -> tensor<?x?x192xbf16> {
  // CHECK: %[[Y:.*]] = transformer.layers [0, 1)
  // CHECK: return %[[Y]]
  %0 = transformer.layers [0, 1) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    %1 = transformer.add %y, %y : tensor<?x?x192xbf16>
    transformer.yield %1 : tensor<?x?x192xbf16>
  }
  return %0 : tensor<?x?x192xbf16>
}

// -----

// What is not used goes, taps stay.
// CHECK-LABEL: func.func @unused
func.func @unused(%x: tensor<?x?x192xbf16>) {
  // CHECK-NOT: transformer.add
  // CHECK: transformer.tap %{{.*}} "embeddings"
  %0 = transformer.add %x, %x : tensor<?x?x192xbf16>
  transformer.tap %x "embeddings" : tensor<?x?x192xbf16>
  return
}

// -----

// A range of layers goes if nothing uses it, unless it holds a tap.
// CHECK-LABEL: func.func @unused_layers
func.func @unused_layers(%x: tensor<?x?x192xbf16>) {
  // CHECK-NOT: transformer.layers [0, 1)
  // CHECK: transformer.layers [1, 3)
  // CHECK: transformer.tap
  %0 = transformer.layers [0, 1) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    transformer.yield %y : tensor<?x?x192xbf16>
  }
  %1 = transformer.layers [1, 3) init(%x) : tensor<?x?x192xbf16> {
  ^bb0(%layer: index, %y: tensor<?x?x192xbf16>):
    transformer.tap %y "layers.{layer}.input" layer %layer : tensor<?x?x192xbf16>
    transformer.yield %y : tensor<?x?x192xbf16>
  }
  return
}

// RUN: not moec-opt %s --vectorize-linalg="lanes=6" 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not moec-opt %s --vectorize-linalg="block=0" 2>&1 | FileCheck %s --check-prefix=BLOCK

// LANES: error: vectorize-linalg expects lanes to be a power of two and block to be positive, found lanes 6 and block 4
// BLOCK: error: vectorize-linalg expects lanes to be a power of two and block to be positive, found lanes 16 and block 0
func.func @nothing() {
  return
}

// What reaches LLVM has neither arithmetic on f8 nor calls of exp, sin or cos:
// codes are bytes there. (The parameters still name their types.)
// RUN: moec compile --quiet --activations=fp8 --emit=llvm %S/../models/tiny-kimi/config.json \
// RUN:   | FileCheck %s --implicit-check-not=math. --implicit-check-not=intr.exp \
// RUN:       --implicit-check-not=intr.sin --implicit-check-not=intr.cos
// RUN: moec compile --quiet --activations=fp8 --emit=llvm %S/../models/tiny-kimi/config.json \
// RUN:   | grep -v transformer. | not grep -E "f8E4M3FN|arith\."
// RUN: moec compile --quiet --activations=fp8 --emit=vector %S/../models/tiny-kimi/config.json \
// RUN:   | FileCheck %s --check-prefix=VECTOR --implicit-check-not=math.exp \
// RUN:       --implicit-check-not=math.sin --implicit-check-not=math.cos

// CHECK-LABEL: llvm.func @moec_step(
// CHECK: llvm.intr.fma

// Moved and reinterpreted at most.
// VECTOR-LABEL: func.func @moec_step(
// VECTOR-NOT: arith.extf {{.*}}f8E4M3FN
// VECTOR-NOT: arith.truncf {{.*}}f8E4M3FN
// VECTOR: return

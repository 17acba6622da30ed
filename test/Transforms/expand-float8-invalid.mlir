// RUN: moec-opt %s --expand-float8 --split-input-file --verify-diagnostics

func.func @widen_to_bf16(%code: f8E4M3FN) -> bf16 {
  // expected-error @below {{'arith.extf' op on f8E4M3FN has no expansion, found 'f8E4M3FN' to 'bf16', expected extf to f32 or truncf from f32}}
  %0 = arith.extf %code : f8E4M3FN to bf16
  return %0 : bf16
}

// -----

func.func @narrow_from_bf16(%x: vector<4xbf16>) -> vector<4xf8E4M3FN> {
  // expected-error @below {{'arith.truncf' op on f8E4M3FN has no expansion, found 'vector<4xbf16>' to 'vector<4xf8E4M3FN>', expected extf to f32 or truncf from f32}}
  %0 = arith.truncf %x : vector<4xbf16> to vector<4xf8E4M3FN>
  return %0 : vector<4xf8E4M3FN>
}

// -----

func.func @sum(%a: f8E4M3FN, %b: f8E4M3FN) -> f8E4M3FN {
  // expected-error @below {{'arith.addf' op on f8E4M3FN has no expansion, found 'f8E4M3FN', 'f8E4M3FN' to 'f8E4M3FN', expected extf to f32 or truncf from f32}}
  %sum = arith.addf %a, %b : f8E4M3FN
  return %sum : f8E4M3FN
}

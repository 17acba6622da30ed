// Runs what expand-math makes of exp, sin and cos, on values whose results are
// known to more digits than an f32 has. @main counts the results that are wrong.
// RUN: moec-opt %s --expand-math --convert-scf-to-cf --convert-vector-to-llvm \
// RUN:   --finalize-memref-to-llvm --convert-math-to-llvm --convert-arith-to-llvm \
// RUN:   --convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// CHECK: {{^0$}}

// Angles in bits: 0, small ones, around the multiples of pi/4, and those of
// positions up to 131072. Their sines and cosines are rounded to nearest from 60
// digits; none may differ in a bit.
memref.global "private" constant @angles : memref<32xi32> = dense<[
    0x00000000, 0x2EDBE6FF, 0x3F000000, 0x3F490FDB, 0x3F490FDC, 0x3F800000, 0x3FC90FDB, 0x3FC90FDA,
    0x40000000, 0x40490FDB, 0x40490FDA, 0x4096CBE4, 0x40C90FDB, 0x41200000, 0x41B00000, 0x42C80000,
    0x43B18000, 0x44000000, 0x447A0000, 0x457FFFD7, 0x461C4000, 0x46800000, 0x47490FDB, 0x477FFF00,
    0x47C35000, 0x47CB1C80, 0x47FDE840, 0x47FFFF80, 0x47FFFFFF, 0x48000000, 0x42040000, 0xBF800000
]>
memref.global "private" constant @sines : memref<32xi32> = dense<[
    0x00000000, 0x2EDBE6FF, 0x3EF57744, 0x3F3504F3, 0x3F3504F4, 0x3F576AA4, 0x3F800000, 0x3F800000,
    0x3F68C7B7, 0xB3BBBD2E, 0x34222169, 0xBF800000, 0x343BBD2E, 0xBF0B44F8, 0xBC110515, 0xBF01A12E,
    0xB7FCDE82, 0x3DA2DA98, 0x3F53AE61, 0xBF1A47EA, 0xBE9C797D, 0xBF0F5821, 0x3ABBBD2A, 0x3F7B3848,
    0x3D126D55, 0xB7A077F0, 0x3F7C194C, 0xBF13430A, 0xBF7FD979, 0xBF7FC5EC, 0x3F7FFA39, 0xBF576AA4
]>
memref.global "private" constant @cosines : memref<32xi32> = dense<[
    0x3F800000, 0x3F800000, 0x3F60A940, 0x3F3504F3, 0x3F3504F2, 0x3F0A5140, 0xB33BBD2E, 0x33A22169,
    0xBED51133, 0xBF800000, 0xBF800000, 0x324CDE2E, 0x3F800000, 0xBF56CD64, 0xBF7FFD6F, 0x3F5CC0EE,
    0xBF800000, 0xBF7F3079, 0x3F0FF813, 0x3F4C499C, 0xBF73C074, 0xBF541AD1, 0x3F7FFFEF, 0x3E44F5D5,
    0xBF7FD61C, 0x3F800000, 0x3E321642, 0xBF51675E, 0x3D0C6D6A, 0x3D2C676B, 0xBC5986B7, 0x3F0A5140
]>

// Exponents and powers from e^-87 to e^88; one unit in the last place is
// allowed.
memref.global "private" constant @exponents : memref<17xi32> = dense<[
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3F000000, 0xBF000000, 0x322BCC77, 0x41200000,
    0xC1200000, 0x41A40000, 0x42490000, 0xC2490000, 0x42A00000, 0x42B00000, 0x42708000, 0xC2A00000,
    0xC2AE0000
]>
memref.global "private" constant @powers : memref<17xi32> = dense<[
    0x3F800000, 0x3F800000, 0x402DF854, 0x3EBC5AB2, 0x3FD3094C, 0x3F1B4598, 0x3F800000, 0x46AC14EE,
    0x383E6BCE, 0x4E3EB628, 0x63B47241, 0x1B35981D, 0x792ABBCE, 0x7EF882B7, 0x6AD615BD, 0x05BFECBA,
    0x00B33687
]>

// -inf, -1000 and -100 give 0 (a masked score, in attention), inf gives inf, 0
// and -0 give 1: exactly.
memref.global "private" constant @edges : memref<7xi32> = dense<[
    0xFF800000, 0xC47A0000, 0xC2C80000, 0x7F800000, 0x42B40000, 0x00000000, 0x80000000]>
memref.global "private" constant @edge_powers : memref<7xi32> = dense<[
    0x00000000, 0x00000000, 0x00000000, 0x7F800000, 0x7F800000, 0x3F800000, 0x3F800000]>

// 1 if the results differ by more than %allowed units in the last place.
func.func private @wrong(%found: f32, %expected: i32, %allowed: i32) -> i32 {
  %bits = arith.bitcast %found : f32 to i32
  %difference = arith.subi %bits, %expected : i32
  %zero = arith.constant 0 : i32
  %negated = arith.subi %zero, %difference : i32
  %distance = arith.maxsi %difference, %negated : i32
  %wrong = arith.cmpi ugt, %distance, %allowed : i32
  %result = arith.extui %wrong : i1 to i32
  return %result : i32
}

func.func private @wrong_powers(%x: i32, %expected: i32, %allowed: i32) -> i32 {
  %value = arith.bitcast %x : i32 to f32
  %scalar = math.exp %value : f32
  %count = call @wrong(%scalar, %expected, %allowed) : (f32, i32, i32) -> i32
  // In a vector, where it would become a library call per lane.
  %lanes = vector.broadcast %value : f32 to vector<8xf32>
  %powers = math.exp %lanes : vector<8xf32>
  %lane = vector.extract %powers[5] : f32 from vector<8xf32>
  %more = call @wrong(%lane, %expected, %allowed) : (f32, i32, i32) -> i32
  %sum = arith.addi %count, %more : i32
  return %sum : i32
}

func.func @main() -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %angle_count = arith.constant 32 : index
  %exponent_count = arith.constant 17 : index
  %angles = memref.get_global @angles : memref<32xi32>
  %sines = memref.get_global @sines : memref<32xi32>
  %cosines = memref.get_global @cosines : memref<32xi32>
  %after_angles = scf.for %number = %c0 to %angle_count step %c1 iter_args(%sum = %zero) -> i32 {
    %bits = memref.load %angles[%number] : memref<32xi32>
    %angle = arith.bitcast %bits : i32 to f32
    %lanes = vector.broadcast %angle : f32 to vector<8xf32>
    %sine = math.sin %angle : f32
    %cosine_lanes = math.cos %lanes : vector<8xf32>
    %cosine = vector.extract %cosine_lanes[3] : f32 from vector<8xf32>
    %expected_sine = memref.load %sines[%number] : memref<32xi32>
    %expected_cosine = memref.load %cosines[%number] : memref<32xi32>
    %w0 = func.call @wrong(%sine, %expected_sine, %zero) : (f32, i32, i32) -> i32
    %w1 = func.call @wrong(%cosine, %expected_cosine, %zero) : (f32, i32, i32) -> i32
    %s0 = arith.addi %w0, %w1 : i32
    %s1 = arith.addi %sum, %s0 : i32
    scf.yield %s1 : i32
  }

  %exponents = memref.get_global @exponents : memref<17xi32>
  %powers = memref.get_global @powers : memref<17xi32>
  %after_powers = scf.for %number = %c0 to %exponent_count step %c1 iter_args(%sum = %after_angles) -> i32 {
    %x = memref.load %exponents[%number] : memref<17xi32>
    %expected = memref.load %powers[%number] : memref<17xi32>
    %w = func.call @wrong_powers(%x, %expected, %one) : (i32, i32, i32) -> i32
    %s = arith.addi %sum, %w : i32
    scf.yield %s : i32
  }

  %edges = memref.get_global @edges : memref<7xi32>
  %edge_powers = memref.get_global @edge_powers : memref<7xi32>
  %after_edges = scf.for %number = %c0 to %c7 step %c1 iter_args(%sum = %after_powers) -> i32 {
    %x = memref.load %edges[%number] : memref<7xi32>
    %expected = memref.load %edge_powers[%number] : memref<7xi32>
    %w = func.call @wrong_powers(%x, %expected, %zero) : (i32, i32, i32) -> i32
    %s = arith.addi %sum, %w : i32
    scf.yield %s : i32
  }

  // NaN gives NaN.
  %nan = arith.constant 0x7FC00000 : f32
  %of_nan = math.exp %nan : f32
  %is_number = arith.cmpf ord, %of_nan, %of_nan : f32
  %count = arith.extui %is_number : i1 to i32
  %all = arith.addi %after_edges, %count : i32
  return %all : i32
}

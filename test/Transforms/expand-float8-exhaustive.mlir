// Runs what expand-float8 makes of widening and narrowing, on every code and at
// every boundary between two codes. @main counts the results that are wrong.
// RUN: moec-opt %s --expand-float8 --convert-scf-to-cf --convert-vector-to-llvm \
// RUN:   --finalize-memref-to-llvm --convert-arith-to-llvm --convert-func-to-llvm \
// RUN:   --convert-cf-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main -entry-point-result=i32 | FileCheck %s
// CHECK: {{^0$}}

// The values of the codes 0 to 127, eight to an exponent; 127 is NaN.
memref.global "private" constant @values : memref<128xf32> = dense<[
    0.0, 0.001953125, 0.00390625, 0.005859375, 0.0078125, 0.009765625, 0.01171875, 0.013671875,
    0.015625, 0.017578125, 0.01953125, 0.021484375, 0.0234375, 0.025390625, 0.02734375, 0.029296875,
    0.03125, 0.03515625, 0.0390625, 0.04296875, 0.046875, 0.05078125, 0.0546875, 0.05859375,
    0.0625, 0.0703125, 0.078125, 0.0859375, 0.09375, 0.1015625, 0.109375, 0.1171875,
    0.125, 0.140625, 0.15625, 0.171875, 0.1875, 0.203125, 0.21875, 0.234375,
    0.25, 0.28125, 0.3125, 0.34375, 0.375, 0.40625, 0.4375, 0.46875,
    0.5, 0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875, 0.9375,
    1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875,
    2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75,
    4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5,
    8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0,
    16.0, 18.0, 20.0, 22.0, 24.0, 26.0, 28.0, 30.0,
    32.0, 36.0, 40.0, 44.0, 48.0, 52.0, 56.0, 60.0,
    64.0, 72.0, 80.0, 88.0, 96.0, 104.0, 112.0, 120.0,
    128.0, 144.0, 160.0, 176.0, 192.0, 208.0, 224.0, 240.0,
    256.0, 288.0, 320.0, 352.0, 384.0, 416.0, 448.0, 0x7FC00000
]>

// What is at 448 and beyond, and other special values, with their codes.
memref.global "private" constant @special_values : memref<14xf32> = dense<[
    448.0, 464.0, 464.000031, 480.0, 3.0e38, 0x7F800000, 0x7FC00000, 0x7F800001,
    0.0, -0.0, 0x00000001, 0x807FFFFF, 0xFF800000, -464.000031]>
memref.global "private" constant @special_codes : memref<14xi8> = dense<[
    0x7E, 0x7E, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F,
    0x00, 0x80, 0x00, 0x80, 0xFF, 0xFF]>

func.func private @narrow(%bits: i32) -> i8 {
  %value = arith.bitcast %bits : i32 to f32
  %code = arith.truncf %value : f32 to f8E4M3FN
  %result = arith.bitcast %code : f8E4M3FN to i8
  return %result : i8
}

// 1 for each of the signs with which %bits does not become %code.
func.func private @wrong_narrowing(%bits: i32, %code: i8) -> i32 {
  %f32_sign = arith.constant 0x80000000 : i32
  %f8_sign = arith.constant 0x80 : i8
  %found = call @narrow(%bits) : (i32) -> i8
  %wrong = arith.cmpi ne, %found, %code : i8
  %negative = arith.ori %bits, %f32_sign : i32
  %negative_code = arith.ori %code, %f8_sign : i8
  %negative_found = call @narrow(%negative) : (i32) -> i8
  %negative_wrong = arith.cmpi ne, %negative_found, %negative_code : i8
  %a = arith.extui %wrong : i1 to i32
  %b = arith.extui %negative_wrong : i1 to i32
  %sum = arith.addi %a, %b : i32
  return %sum : i32
}

// The sixteen codes from %first on: lanes whose value is not the table's.
func.func private @wrong_widening(%first: index) -> i32 {
  %c0 = arith.constant 0 : i32
  %values = memref.get_global @values : memref<128xf32>
  %c128 = arith.constant 128 : index
  %begin = arith.remui %first, %c128 : index
  %positive = vector.load %values[%begin] : memref<128xf32>, vector<16xf32>
  %is_negative = arith.cmpi uge, %first, %c128 : index
  %negative = arith.negf %positive : vector<16xf32>
  %expected = arith.select %is_negative, %negative, %positive : vector<16xf32>

  %first8 = arith.index_cast %first : index to i8
  %from = vector.broadcast %first8 : i8 to vector<16xi8>
  %lane = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi8>
  %bits = arith.addi %from, %lane : vector<16xi8>
  %codes = arith.bitcast %bits : vector<16xi8> to vector<16xf8E4M3FN>
  %found = arith.extf %codes : vector<16xf8E4M3FN> to vector<16xf32>

  // Bits, so that -0 is not 0; any NaN is as good as another.
  %expected_bits = arith.bitcast %expected : vector<16xf32> to vector<16xi32>
  %found_bits = arith.bitcast %found : vector<16xf32> to vector<16xi32>
  %differs = arith.cmpi ne, %found_bits, %expected_bits : vector<16xi32>
  %found_nan = arith.cmpf uno, %found, %found : vector<16xf32>
  %expected_nan = arith.cmpf uno, %expected, %expected : vector<16xf32>
  %both_nan = arith.andi %found_nan, %expected_nan : vector<16xi1>
  %none = arith.constant dense<false> : vector<16xi1>
  %wrong = arith.select %both_nan, %none, %differs : vector<16xi1>, vector<16xi1>
  %count = arith.extui %wrong : vector<16xi1> to vector<16xi32>
  %sum = vector.reduction <add>, %count : vector<16xi32> into i32
  return %sum : i32
}

func.func @main() -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  %c126 = arith.constant 126 : index
  %c256 = arith.constant 256 : index
  %half = arith.constant 0.5 : f32
  %values = memref.get_global @values : memref<128xf32>

  %widened = scf.for %first = %c0 to %c256 step %c16 iter_args(%sum = %zero) -> i32 {
    %wrong = func.call @wrong_widening(%first) : (index) -> i32
    %next = arith.addi %sum, %wrong : i32
    scf.yield %next : i32
  }

  // Each value becomes its own code; halfway to the next one goes to the even
  // code, the f32 before that down and the one after it up.
  %narrowed = scf.for %number = %c0 to %c126 step %c1 iter_args(%sum = %widened) -> i32 {
    %next_number = arith.addi %number, %c1 : index
    %code = arith.index_cast %number : index to i8
    %next_code = arith.index_cast %next_number : index to i8
    %value = memref.load %values[%number] : memref<128xf32>
    %next_value = memref.load %values[%next_number] : memref<128xf32>
    %both = arith.addf %value, %next_value : f32
    %middle = arith.mulf %both, %half : f32
    %value_bits = arith.bitcast %value : f32 to i32
    %middle_bits = arith.bitcast %middle : f32 to i32
    %below = arith.subi %middle_bits, %one : i32
    %above = arith.addi %middle_bits, %one : i32
    %odd = arith.trunci %code : i8 to i1
    %even_code = arith.select %odd, %next_code, %code : i8
    %w0 = func.call @wrong_narrowing(%value_bits, %code) : (i32, i8) -> i32
    %w1 = func.call @wrong_narrowing(%middle_bits, %even_code) : (i32, i8) -> i32
    %w2 = func.call @wrong_narrowing(%below, %code) : (i32, i8) -> i32
    %w3 = func.call @wrong_narrowing(%above, %next_code) : (i32, i8) -> i32
    %s0 = arith.addi %w0, %w1 : i32
    %s1 = arith.addi %w2, %w3 : i32
    %s2 = arith.addi %s0, %s1 : i32
    %s3 = arith.addi %sum, %s2 : i32
    scf.yield %s3 : i32
  }

  %special_values = memref.get_global @special_values : memref<14xf32>
  %special_codes = memref.get_global @special_codes : memref<14xi8>
  %all = scf.for %number = %c0 to %c14 step %c1 iter_args(%sum = %narrowed) -> i32 {
    %value = memref.load %special_values[%number] : memref<14xf32>
    %code = memref.load %special_codes[%number] : memref<14xi8>
    %bits = arith.bitcast %value : f32 to i32
    %found = func.call @narrow(%bits) : (i32) -> i8
    %wrong = arith.cmpi ne, %found, %code : i8
    %count = arith.extui %wrong : i1 to i32
    %next = arith.addi %sum, %count : i32
    scf.yield %next : i32
  }
  return %all : i32
}

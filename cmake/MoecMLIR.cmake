# LLVM and MLIR 22 from the distribution's packages, linked as the two shared
# libraries libLLVM and libMLIR (quick links, small programs).
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "moec needs LLVM and MLIR 22, found ${LLVM_PACKAGE_VERSION}")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# For mlir-tblgen, which takes the directory's include paths.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

add_library(moec_mlir INTERFACE)
target_include_directories(moec_mlir SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(moec_mlir INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}
  ${PROJECT_BINARY_DIR}/include ${PROJECT_BINARY_DIR})
# LLVM's style: no exceptions, no RTTI. Without a time in it, a precompiled
# header is the same for ccache each time it is built.
target_compile_options(moec_mlir INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
target_link_libraries(moec_mlir INTERFACE moec_options MLIR LLVM)

# The headers that every compiler source includes, compiled once.
file(WRITE ${PROJECT_BINARY_DIR}/moec_pch.cpp "")
add_library(moec_pch OBJECT ${PROJECT_BINARY_DIR}/moec_pch.cpp)
target_link_libraries(moec_pch PRIVATE moec_mlir)
target_precompile_headers(moec_pch PRIVATE
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h>
  <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h> <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/Transforms/DialectConversion.h>)

# moec_add_library(name sources... [LINK libraries...]): a part of the compiler.
function(moec_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC moec_mlir ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM moec_pch)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

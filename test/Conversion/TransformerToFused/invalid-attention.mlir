// RUN: moec-opt %s --convert-transformer-to-fused="attention=sparse" --decompose-fused --verify-diagnostics

// expected-error @below {{expects attention to be absorbed or expanded, found 'sparse'}}
module {
}

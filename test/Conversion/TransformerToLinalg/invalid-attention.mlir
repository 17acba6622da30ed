// RUN: moec-opt %s --convert-transformer-to-linalg="attention=sparse" --verify-diagnostics

// expected-error @below {{expects attention to be absorbed or expanded, found 'sparse'}}
module {
}

# lit: tests that run moec's tools and check what they print with FileCheck.
import os

import lit.formats

config.name = "moec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["models", "EndToEnd", "bench"]
config.test_source_root = config.moec_source_dir + "/test"
config.test_exec_root = config.moec_build_dir + "/test"

tools = [config.moec_build_dir + "/bin", config.llvm_tools_dir]
config.environment["PATH"] = os.pathsep.join(tools + [config.environment["PATH"]])
if "ASAN_OPTIONS" in os.environ:
    config.environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
config.substitutions.append(("%moec_models", config.moec_source_dir + "/test/models"))
config.substitutions.append(("%llvm_lib", os.path.dirname(config.llvm_tools_dir) + "/lib"))

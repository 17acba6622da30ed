# Compile options of all of moec's own targets: warnings are errors, optional
# sanitizers. `moec_options` is linked by every target.
add_library(moec_options INTERFACE)
target_compile_options(moec_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror -Wno-unused-parameter>)
target_include_directories(moec_options INTERFACE
  ${PROJECT_SOURCE_DIR}/runtime/include)

if(MOEC_SANITIZE)
  target_compile_options(moec_options INTERFACE
    -fsanitize=${MOEC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(moec_options INTERFACE -fsanitize=${MOEC_SANITIZE})
endif()

# Coverage for the fuzzers, in everything that they link.
if(MOEC_BUILD_FUZZERS)
  target_compile_options(moec_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

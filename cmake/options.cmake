# Compiler flags that every target shares.
add_compile_options(-Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local> -Wno-missing-field-initializers -fno-math-errno -ffp-contract=off)

if(NXRT_SANITIZE)
  string(REPLACE ";" "," sanitizers "${NXRT_SANITIZE}")
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
endif()

if(NXRT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage for libFuzzer
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the source folder: two checkouts share one cache. The sloppiness is what precompiled headers need.
  set(ccache_settings CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1)
  if(NXRT_PCH)
    list(APPEND ccache_settings CCACHE_SLOPPINESS=pch_defines,time_macros)
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
      add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
    else()
      add_compile_options(-fpch-preprocess)
    endif()
  endif()
  set(launcher ${CMAKE_COMMAND} -E env ${ccache_settings} ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

find_package(Threads REQUIRED)

# The headers nearly every C++ file includes, compiled once per target. The sanitizer builds use it; the others prove
# that each file includes what it needs.
function(nxrt_precompile target header)
  if(NXRT_PCH)
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${CMAKE_SOURCE_DIR}/cmake/${header}>)
  endif()
endfunction()

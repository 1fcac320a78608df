# How everything is compiled: the flags hold for all targets, `rulerun_warnings` is for our own.
include(CheckLinkerFlag)
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# -O2, not CMake's -O3: g++ -O3 spills the registers of the kernels' tiles.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g -D_GLIBCXX_ASSERTIONS")
# Results are promised to the last bit: a*b + c stays two roundings unless the source asks for one.
add_compile_options(-ffp-contract=off)

if(RULERUN_SANITIZE)
  add_compile_options(-fsanitize=${RULERUN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RULERUN_SANITIZE})
endif()
if(RULERUN_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With paths from the clone's root, another clone gets the same hits.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;${CCACHE_PROGRAM}"
  )
endif()

# A faster linker where there is one.
foreach(linker IN ITEMS mold lld)
  check_linker_flag(CXX -fuse-ld=${linker} RULERUN_HAS_${linker})
  if(RULERUN_HAS_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

add_library(rulerun_warnings INTERFACE)
target_compile_options(rulerun_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(RULERUN_WERROR)
  target_compile_options(rulerun_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # These depend on what the optimizer could prove, and g++ 12 to 14 get them wrong in the standard library's own code.
  target_compile_options(
    rulerun_warnings
    INTERFACE -Wno-restrict -Wno-error=maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow
              -Wno-error=stringop-overread -Wno-error=free-nonheap-object
  )
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(rulerun_warnings INTERFACE -Wno-error=dangling-reference)
  endif()
else()
  target_compile_options(rulerun_warnings INTERFACE -Wno-sign-conversion) # g++'s -Wconversion is without it
endif()

# Everything that others wrote. scripts/setup installs it; here it is only found.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Before ONNX, whose package needs its targets; Debian's protobuf comes without a CMake package.
find_package(Protobuf MODULE QUIET)
find_package(ONNX 1.23 CONFIG QUIET)
find_package(hwy 1.2.0 CONFIG QUIET)
find_package(yaml-cpp CONFIG QUIET)
find_package(nlohmann_json CONFIG QUIET)
find_package(valijson CONFIG QUIET)
find_package(CLI11 CONFIG QUIET)
set(wanted Protobuf ONNX hwy yaml-cpp nlohmann_json valijson CLI11)
if(RULERUN_TESTS)
  find_package(GTest CONFIG QUIET)
  list(APPEND wanted GTest)
endif()
find_package(benchmark CONFIG QUIET) # optional

foreach(package IN LISTS wanted)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found, or is too old. Run scripts/setup, then configure again.")
  endif()
endforeach()

if(NOT TARGET yaml-cpp::yaml-cpp) # 0.7 has the plain name only
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

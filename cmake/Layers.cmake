# One static library per layer, from every .cc file in its folder; a layer without one yet is an interface.
#
#   rulerun_layer(NAME [EXCLUDE file.cc...] [PUBLIC target...] [PRIVATE target...])
#
# PUBLIC: what its headers include. PRIVATE: what only its .cc files include.
# Includes are written from the root of the repository: #include "engine/graph/graph.h".
function(rulerun_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCLUDE;PUBLIC;PRIVATE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  foreach(file IN LISTS arg_EXCLUDE)
    list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} rulerun_warnings)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} INTERFACE ${arg_PUBLIC})
  endif()
endfunction()

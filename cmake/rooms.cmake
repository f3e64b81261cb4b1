# A room is a folder of src/: its sources are a static library `ratel_<room>`, its `*_test.cpp` one test program
# `<room>_test`, its `*_fuzz.cpp` a fuzz target each. A new file needs no line here.

find_package(date REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # headers only: Asio, Beast, Unordered
if(RATEL_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

set(RATEL_ROOMS base limit wire store redis gate rules observe serve net lib app)

if(RATEL_FUZZ)
  add_custom_target(fuzzers)
endif()

function(ratel_resolve out)
  set(result)
  foreach(dep ${ARGN})
    if(dep IN_LIST RATEL_ROOMS)
      list(APPEND result ratel_${dep})
    elseif(dep STREQUAL "date-tz")
      list(APPEND result date::date-tz)
    elseif(dep STREQUAL "simdjson")
      list(APPEND result simdjson::simdjson)
    elseif(dep STREQUAL "fmt")
      list(APPEND result fmt::fmt)
    else()
      list(APPEND result ${dep})
    endif()
  endforeach()
  set(${out} ${result} PARENT_SCOPE)
endfunction()

# Unit tests run where a sanitizer watches: all of them in `debug`, those of the rooms with threads in `tsan`. Other
# presets can build the programs by name, and `all` leaves them alone.
set(RATEL_TSAN_ROOMS store net lib)

# Where the tests find their data. In a source of its own rather than in a flag, so that the compiler's cache is of use
# to a clone in another folder.
set(RATEL_SOURCE_DIR_FILE ${PROJECT_BINARY_DIR}/generated/source_dir.cpp)
file(CONFIGURE OUTPUT ${RATEL_SOURCE_DIR_FILE} CONTENT
  "namespace ratel {
extern const char* const kSourceDir;
const char* const kSourceDir = \"${PROJECT_SOURCE_DIR}\";
}  // namespace ratel
")

function(ratel_unit_tests room files)
  set(watched FALSE)
  set(prefix "${room}/")
  set(label unit)
  if(RATEL_SANITIZE STREQUAL "thread")
    set(prefix "tsan/${room}/")
    set(label tsan)
    if(room IN_LIST RATEL_TSAN_ROOMS)
      set(watched TRUE)
    endif()
  elseif(RATEL_SANITIZE)
    set(watched TRUE)
  endif()

  add_executable(${room}_test ${files} ${RATEL_SOURCE_DIR_FILE})
  target_link_libraries(${room}_test PRIVATE ratel_${room} ${ARGN}
    rapidcheck GTest::gtest GTest::gmock GTest::gtest_main)
  if(watched)
    gtest_discover_tests(${room}_test TEST_PREFIX ${prefix} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${label} TIMEOUT 300)
  else()
    set_target_properties(${room}_test PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endfunction()

# Runs a fuzz target for a while, from the corpus kept in tests/corpus/<target>; what it finds goes to the build folder.
function(ratel_fuzz_test target)
  set(kept ${PROJECT_SOURCE_DIR}/tests/corpus/${target})
  set(found ${PROJECT_BINARY_DIR}/corpus/${target})
  file(MAKE_DIRECTORY ${found})
  if(NOT IS_DIRECTORY ${kept})
    set(kept)
  endif()
  add_test(NAME fuzz/${target}
    COMMAND ${target} -max_total_time=${RATEL_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
      ${found} ${kept})
  set_tests_properties(fuzz/${target} PROPERTIES LABELS fuzz TIMEOUT 600)
endfunction()

function(ratel_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;TEST_DEPS" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(fuzzers ${sources})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|/main)\\.cpp$")
  ratel_resolve(deps ${ROOM_DEPS})
  ratel_resolve(test_deps ${ROOM_TEST_DEPS})

  if(sources)
    add_library(ratel_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(ratel_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(ratel_${name} ${scope} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(ratel_${name} ${scope} ${deps})

  if(RATEL_TESTS AND tests)
    ratel_unit_tests(${name} "${tests}" ${test_deps})
  endif()

  if(RATEL_FUZZ)
    foreach(file ${fuzzers})
      get_filename_component(target ${file} NAME_WE)
      add_executable(${target} ${file})
      target_link_libraries(${target} PRIVATE ratel_${name})
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      ratel_fuzz_test(${target})
      add_dependencies(fuzzers ${target})
    endforeach()
  endif()
endfunction()

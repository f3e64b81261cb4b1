# Joins the Lua fragments of src/redis/script/ into the one text that Redis is given, without comments and indentation,
# and writes it as a C++ source together with its SHA-1, by which EVALSHA calls it.
#
#   cmake -DSCRIPTS=<folder> -DOUT=….cpp -P join_script.cmake

cmake_minimum_required(VERSION 3.25)

set(script)
function(append text)
  string(REGEX REPLACE "(^|\n)[ ]+" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)--[^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "\n\n+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  set(script "${script}${text}" PARENT_SCOPE)
endfunction()

# The part of an algorithm's fragment below `--@ <part>`.
function(append_part name part)
  file(READ ${SCRIPTS}/${name}.lua text)
  if(text MATCHES "--@ ${part}\n")
    string(REGEX REPLACE "^.*--@ ${part}\n" "" text "${text}")
    string(REGEX REPLACE "--@.*$" "" text "${text}")
    append("${text}")
    set(script "${script}" PARENT_SCOPE)
  endif()
endfunction()

set(algorithms gcra fixed_window calendar_window sliding_window sliding_log concurrency)
file(READ ${SCRIPTS}/head.lua text)
append("${text}")
foreach(name ${algorithms})
  append_part(${name} read)
endforeach()
file(READ ${SCRIPTS}/judge.lua text)
append("${text}")
foreach(name ${algorithms})
  append_part(${name} write)
endforeach()
file(READ ${SCRIPTS}/tail.lua text)
append("${text}")

string(SHA1 sha1 "${script}")
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT "// Made of src/redis/script/ at build time.
#include \"redis/script.h\"

namespace ratel {

const Script& decision_script() {
  static constexpr Script kScript{.text = R\"lua(@script@)lua\", .sha1 = \"@sha1@\"};
  return kScript;
}

}  // namespace ratel
")

# Run at each build: writes the header with the revision, and touches it only when the revision is another one, so that
# a commit rebuilds one source file.
#
#   cmake -DSOURCE=… -DOUT=….h -DVERSION=0.1.0 [-DREVISION=…] -P revision.cmake

cmake_minimum_required(VERSION 3.25)

if(NOT REVISION)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty=-changed --abbrev=9 --exclude=*
    OUTPUT_VARIABLE REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(REVISION "unknown")  # built from an archive, or without git
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once
#define RATEL_VERSION \"@VERSION@\"
#define RATEL_REVISION \"@REVISION@\"
" @ONLY)

# What `cmake --install` puts where: the library with its package for find_package(ratel), and the server.
#
#   cmake --install build/release --prefix /usr/local [--component library | --component server]

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ratel)

install(TARGETS ratel_ratel EXPORT ratelTargets COMPONENT library
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT ratelTargets NAMESPACE ratel:: DESTINATION ${package} COMPONENT library)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ratelConfig.cmake.in ${PROJECT_BINARY_DIR}/ratelConfig.cmake
  INSTALL_DESTINATION ${package})
# Before 1.0 each minor version may break the one before.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ratelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ratelConfig.cmake ${PROJECT_BINARY_DIR}/ratelConfigVersion.cmake
  DESTINATION ${package} COMPONENT library)

install(TARGETS ratel RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server)

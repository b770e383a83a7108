# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the headers and the library with what finds them (component development), and the
# programs.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(kgate_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kgate)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kgate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
set_target_properties(kgate_gate PROPERTIES EXPORT_NAME gate)
install(TARGETS kgate_headers kgate_gate EXPORT kgateTargets ARCHIVE COMPONENT development)
install(EXPORT kgateTargets NAMESPACE kgate:: DESTINATION ${kgate_cmake_dir} COMPONENT development)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kgateConfig.cmake.in ${PROJECT_BINARY_DIR}/kgateConfig.cmake
                              INSTALL_DESTINATION ${kgate_cmake_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change what users see.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kgateConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/kgateConfig.cmake ${PROJECT_BINARY_DIR}/kgateConfigVersion.cmake
        DESTINATION ${kgate_cmake_dir} COMPONENT development)

# Paths relative to the file itself, so that the tree may be moved and `cmake --install --prefix` may choose another.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE kgate_pc_includedir)
get_target_property(kgate_pc_library kgate_gate NAME)
configure_file(${CMAKE_CURRENT_LIST_DIR}/kgate.pc.in ${PROJECT_BINARY_DIR}/kgate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kgate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

foreach(tool kgate_tool kgate-lab)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME COMPONENT programs)
  endif()
endforeach()

# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the headers and the library with what finds them (component development), the shared
# library of the C interface (libraries), and the programs.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(kgate_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kgate)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kgate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
set_target_properties(kgate_gate PROPERTIES EXPORT_NAME gate)
install(TARGETS kgate_headers kgate_gate EXPORT kgateTargets ARCHIVE COMPONENT development LIBRARY COMPONENT development)
if(TARGET kgate_cluster)
  set_target_properties(kgate_cluster PROPERTIES EXPORT_NAME cluster)
  install(TARGETS kgate_cluster EXPORT kgateTargets ARCHIVE COMPONENT development LIBRARY COMPONENT development)
endif()
set_target_properties(kgate_c PROPERTIES EXPORT_NAME c)
install(TARGETS kgate_c EXPORT kgateTargets LIBRARY COMPONENT libraries NAMELINK_COMPONENT development)
install(EXPORT kgateTargets NAMESPACE kgate:: DESTINATION ${kgate_cmake_dir} COMPONENT development)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kgateConfig.cmake.in ${PROJECT_BINARY_DIR}/kgateConfig.cmake
                              INSTALL_DESTINATION ${kgate_cmake_dir} NO_SET_AND_CHECK_MACRO)
# Semantic versioning: what a major version offers, its later ones offer too.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kgateConfigVersion.cmake COMPATIBILITY SameMajorVersion
                                 ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/kgateConfig.cmake ${PROJECT_BINARY_DIR}/kgateConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/kgate_lab.cmake
        DESTINATION ${kgate_cmake_dir} COMPONENT development)

# Paths relative to the file itself, so that the tree may be moved and `cmake --install --prefix` may choose another.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE kgate_pc_includedir)
get_target_property(kgate_pc_library kgate_gate NAME)
configure_file(${CMAKE_CURRENT_LIST_DIR}/kgate.pc.in ${PROJECT_BINARY_DIR}/kgate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kgate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

configure_file(${CMAKE_CURRENT_LIST_DIR}/libkgate.pc.in ${PROJECT_BINARY_DIR}/libkgate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/libkgate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# A program with its manual pages and what its shells complete.
if(TARGET kgate_tool)
  install(TARGETS kgate_tool RUNTIME COMPONENT programs)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/kgate*.1)
  list(FILTER pages EXCLUDE REGEX "kgate-lab")
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs)
  install(FILES ${PROJECT_SOURCE_DIR}/man/kgate.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT programs)
  install(FILES ${PROJECT_SOURCE_DIR}/completions/kgate.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME kgate COMPONENT programs)
  install(FILES ${PROJECT_SOURCE_DIR}/completions/_kgate DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
          COMPONENT programs)
  install(FILES ${PROJECT_SOURCE_DIR}/completions/kgate.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          COMPONENT programs)
endif()
if(TARGET kgate-cluster)
  install(TARGETS kgate-cluster RUNTIME COMPONENT programs)
endif()
if(TARGET kgate-lab)
  install(TARGETS kgate-lab RUNTIME COMPONENT programs)
  install(FILES ${PROJECT_SOURCE_DIR}/man/kgate-lab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT programs)
endif()

# The Python package, where a distribution keeps such: below the prefix, so it must be said.
set(KGATE_PYTHON_DIR "" CACHE STRING "Where the Python package is installed, relative to the prefix; empty: nowhere")
if(TARGET kgate_python AND KGATE_PYTHON_DIR)
  install(TARGETS kgate_python LIBRARY DESTINATION ${KGATE_PYTHON_DIR}/kgate COMPONENT python)
  if(TARGET kgate_python_cluster)
    install(TARGETS kgate_python_cluster LIBRARY DESTINATION ${KGATE_PYTHON_DIR}/kgate COMPONENT python)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/bindings/python/src/kgate/__init__.py
                ${PROJECT_SOURCE_DIR}/bindings/python/src/kgate/_asyncio.py
                ${PROJECT_SOURCE_DIR}/bindings/python/src/kgate/_cluster.pyi
                ${PROJECT_SOURCE_DIR}/bindings/python/src/kgate/_machines.py
                ${PROJECT_SOURCE_DIR}/bindings/python/src/kgate/_native.pyi
                ${PROJECT_SOURCE_DIR}/bindings/python/src/kgate/py.typed
          DESTINATION ${KGATE_PYTHON_DIR}/kgate COMPONENT python)
endif()

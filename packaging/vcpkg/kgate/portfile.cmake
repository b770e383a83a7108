# SPDX-License-Identifier: Apache-2.0
# A port for an overlay: vcpkg install kgate --overlay-ports=packaging/vcpkg. The sources are those of the tree that the port
# lies in; KGATE_SOURCE in the environment names others.
if(DEFINED ENV{KGATE_SOURCE})
  set(SOURCE_PATH "$ENV{KGATE_SOURCE}")
else()
  get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
endif()

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS FEATURES tools KGATE_TOOLS)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DKGATE_LAB=OFF -DKGATE_TESTS=OFF -DKGATE_BENCH=OFF -DKGATE_PYTHON=OFF -DKGATE_CLUSTER=OFF -DKGATE_INSTALL=ON
          ${FEATURE_OPTIONS})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME kgate CONFIG_PATH lib/cmake/kgate)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES kgate AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

# The man page, completion of bash and zsh, `make install` and `make deb`.
include(GNUInstallDirs)
set(documents ${CMAKE_BINARY_DIR}/documents)
set(sources ${CMAKE_CURRENT_LIST_DIR})
find_program(GZIP gzip REQUIRED)
file(MAKE_DIRECTORY ${documents})

# Completions ask the program when they are used; the scripts that read its help are put into them.
foreach(script options commands)
  string(TOUPPER HELP_${script} variable)
  file(READ ${sources}/help_${script}.awk ${variable})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources}/help_${script}.awk)
endforeach()
configure_file(${sources}/iotrace.bash.in ${documents}/iotrace.bash @ONLY)
configure_file(${sources}/_iotrace.in ${documents}/_iotrace @ONLY)

# The page's date is the last commit's, so that one commit gives one page.
execute_process(COMMAND git log -1 --format=%cs WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT date)
  string(TIMESTAMP date "%Y-%m-%d" UTC)
endif()
file(WRITE ${documents}/changelog.new
     "iotrace (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * See the README and the commits.\n\n"
     " -- iotrace <iotrace@localhost>  Tue, 01 Dec 2026 00:00:00 +0000\n")
add_custom_command(
  OUTPUT ${documents}/iotrace.1 ${documents}/iotrace.1.gz ${documents}/changelog.gz
  COMMAND ${sources}/make_man $<TARGET_FILE:iotrace> ${sources}/iotrace.1.in ${date} > ${documents}/iotrace.1
  COMMAND ${GZIP} -9nkf ${documents}/iotrace.1
  COMMAND ${GZIP} -9nc ${documents}/changelog.new > ${documents}/changelog.gz
  DEPENDS iotrace ${sources}/make_man ${sources}/iotrace.1.in ${sources}/help_commands.awk
          ${sources}/help_options.awk ${sources}/options_roff.awk
  COMMENT "man page"
  VERBATIM)
add_custom_target(documents ALL DEPENDS ${documents}/iotrace.1.gz)

set(fleet ${CMAKE_SOURCE_DIR}/userspace/attach/fleet)
set(shared ${CMAKE_INSTALL_DATAROOTDIR})
install(TARGETS iotrace RUNTIME DESTINATION bin)
install(FILES ${documents}/iotrace.1.gz DESTINATION ${shared}/man/man1)
install(FILES ${documents}/iotrace.bash DESTINATION ${shared}/bash-completion/completions RENAME iotrace)
install(FILES ${sources}/copyright ${documents}/changelog.gz ${CMAKE_SOURCE_DIR}/README.md
        DESTINATION ${shared}/doc/iotrace)
install(FILES ${sources}/lintian-overrides DESTINATION ${shared}/lintian/overrides RENAME iotrace)
install(FILES ${CMAKE_SOURCE_DIR}/analysis/record.schema.json DESTINATION ${shared}/iotrace)
install(FILES ${fleet}/grafana-dashboard.json ${fleet}/iotrace.rules.yml ${fleet}/prometheus.yml ${fleet}/README.md
        DESTINATION ${shared}/iotrace/fleet)
# What differs by prefix is decided when it is installed: `make deb` installs to /usr whatever was configured.
install(CODE [[
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(IOTRACE_ZSH share/zsh/vendor-completions)
  else()
    set(IOTRACE_ZSH share/zsh/site-functions)
  endif()]])
install(FILES ${documents}/_iotrace DESTINATION "\${IOTRACE_ZSH}")
install(CODE "file(READ \"${fleet}/iotrace-attach@.service\" unit)")
install(CODE [[
  string(REPLACE /usr/local/bin/iotrace "${CMAKE_INSTALL_PREFIX}/bin/iotrace" unit "${unit}")
  file(WRITE "${CMAKE_CURRENT_LIST_DIR}/documents/iotrace-attach@.service" "${unit}")]])
install(FILES ${documents}/iotrace-attach@.service DESTINATION lib/systemd/system)

# The binary is static: it needs nothing but a kernel.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME iotrace)
set(CPACK_PACKAGE_CONTACT "iotrace <iotrace@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measures ways of reading a file and says why one is faster")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Reads a file by mmap with and without madvise, pread, O_DIRECT and io_uring, in
proven states of the page cache, and counts with eBPF what the kernel did for
each: refused hints, page faults by what they waited for, pages read ahead,
faults under mmap_lock. Watches running processes in the same way.")
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "fio, prometheus-node-exporter")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)

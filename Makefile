# make            build ./iotrace
# make run        install what is missing (apt), build, run a quick look
# make test       install what is missing, build, run every test
# make test-kernels  the in-place tests and a short run in QEMU on Debian's 6.1 and 6.12 (minutes)
# make kernels    one iotrace command on several Debian kernels in QEMU, in turns, compared:
#                 make kernels KERNELS="6.1 6.12" ARGS="run --case cold" CPUS=2 MEMORY=2G DISK=4G SESSIONS=2
# make unit       the pure parts under ASan and UBSan
# make install    the program, its man page and completions, below PREFIX (/usr/local) and DESTDIR; make uninstall
# make deb        a Debian package of the same, in build/
# make overhead   what observing costs, against fio, other tools and no observer (20 minutes)
#
# Works as root and as a user with sudo.

BUILD     ?= build
SUDO      := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
ARGS      ?=
PREFIX    ?= /usr/local

KERNELS   ?= 6.1 6.12
CPUS      ?= 2
MEMORY    ?= 2G
DISK      ?= 4G
SESSIONS  ?= 2
RECORDS   ?= $(BUILD)/kernels

BUILD_PACKAGES := cmake ninja-build g++ clang llvm bpftool pkg-config libbpf-dev libelf-dev zlib1g-dev \
                  libfmt-dev libcli11-dev nlohmann-json3-dev libboost-dev libboost-math-dev liburing-dev libjs-chart.js
TEST_PACKAGES  := catch2 fio libvalijson-dev util-linux procps python3 python3-six prometheus \
                  prometheus-node-exporter liblmdb-dev sqlite3 liblucene8-java openjdk-17-jdk-headless systemd mandoc \
                  zsh
# Other sources of node bring npm along, and Debian's npm would take them away.
BROWSER_PACKAGES := chromium $(shell command -v npm >/dev/null || echo nodejs npm)
OVERHEAD_PACKAGES := fio python3 util-linux strace linux-perf bpftrace libbpf-tools liblmdb-dev liblucene8-java \
                     openjdk-17-jdk-headless
KERNELS_PACKAGES  := qemu-system-x86 busybox-static cpio kmod binutils e2fsprogs xfsprogs python3

.PHONY: all run test test-kernels kernels unit overhead clean install uninstall deb install-build install-test

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD) --target iotrace

run: install-build
	@$(MAKE) --no-print-directory all
	$(SUDO) ./iotrace run $(ARGS)

test: install-build install-test
	@$(MAKE) --no-print-directory all
	@tests/run $(BUILD)

test-kernels: install-build install-test
	@tests/install $(KERNELS_PACKAGES)
	@cmake -S . -B $(BUILD) -G Ninja -DIOTRACE_TESTS=ON >/dev/null
	@cmake --build $(BUILD) --target iotrace in_place_tests
	@tests/kernels/run ./iotrace $(BUILD)/in_place_tests $(ARGS)

kernels: install-build
	@tests/install $(KERNELS_PACKAGES)
	@$(MAKE) --no-print-directory all
	@tests/kernels/side_by_side ./iotrace --kernels "$(KERNELS)" --sessions $(SESSIONS) --cpus $(CPUS) \
		--memory $(MEMORY) --disk $(DISK) --records $(RECORDS) -- $(or $(ARGS),run)

unit: install-build install-test
	@tests/sanitized $(BUILD)-sanitized

overhead: install-build install-test
	@tests/install $(OVERHEAD_PACKAGES)
	@cmake -S . -B $(BUILD) -G Ninja -DIOTRACE_TESTS=ON >/dev/null
	@$(MAKE) --no-print-directory all
	@cmake --build $(BUILD) --target bpf_time fault_storm lmdb_reader
	$(SUDO) tests/overhead/run ./iotrace $(BUILD) $(ARGS)

install: all
	@cmake --build $(BUILD) --target documents
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)
	@mv $(BUILD)/install_manifest.txt $(BUILD)/installed  # for uninstall

uninstall:
	@sed 's,^,$(DESTDIR),' $(BUILD)/installed | tr '\n' '\0' | xargs -0 rm -fv

deb: install-build
	@$(MAKE) --no-print-directory all
	@cmake --build $(BUILD) --target documents
	@cd $(BUILD) && cpack -G DEB -B $(abspath $(BUILD))

install-build:
	@tests/install $(BUILD_PACKAGES)

install-test:
	@tests/install $(TEST_PACKAGES)
	@tests/install $(BROWSER_PACKAGES) || echo "the tests of the HTML report will be skipped"

$(BUILD)/build.ninja: CMakeLists.txt tests/tests.cmake
	@cmake -S . -B $(BUILD) -G Ninja -DIOTRACE_TESTS=$(if $(wildcard /usr/lib/cmake/Catch2),ON,OFF) >/dev/null

clean:
	rm -rf $(BUILD) $(BUILD)-sanitized iotrace

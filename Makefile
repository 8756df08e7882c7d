# make            build ./iotrace
# make run        install what is missing (apt), build, run a quick look
# make test       install what is missing, build, run every test
# make test-kernels  the in-place tests and a short run in QEMU on Debian's 6.1 and 6.12 (minutes)
# make unit       the pure parts under ASan and UBSan
# make overhead   what observing costs, against fio, other tools and no observer (20 minutes)
#
# Works as root and as a user with sudo.

BUILD     ?= build
SUDO      := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
ARGS      ?=

BUILD_PACKAGES := cmake ninja-build g++ clang llvm bpftool pkg-config libbpf-dev libelf-dev zlib1g-dev \
                  libfmt-dev libcli11-dev nlohmann-json3-dev libboost-dev libboost-math-dev liburing-dev
TEST_PACKAGES  := catch2 fio libvalijson-dev util-linux procps python3 prometheus prometheus-node-exporter \
                  liblmdb-dev sqlite3 liblucene8-java openjdk-17-jdk-headless systemd
OVERHEAD_PACKAGES := fio python3 util-linux strace linux-perf bpftrace libbpf-tools
KERNELS_PACKAGES  := qemu-system-x86 busybox-static cpio kmod binutils e2fsprogs xfsprogs python3

.PHONY: all run test test-kernels unit overhead clean install-build install-test

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

unit: install-build install-test
	@tests/sanitized $(BUILD)-sanitized

overhead: install-build
	@tests/install $(OVERHEAD_PACKAGES)
	@$(MAKE) --no-print-directory all
	@cmake --build $(BUILD) --target bpf_time fault_storm
	$(SUDO) tests/overhead/run ./iotrace $(BUILD) $(ARGS)

install-build:
	@tests/install $(BUILD_PACKAGES)

install-test:
	@tests/install $(TEST_PACKAGES)

$(BUILD)/build.ninja: CMakeLists.txt tests/tests.cmake
	@cmake -S . -B $(BUILD) -G Ninja -DIOTRACE_TESTS=$(if $(wildcard /usr/lib/cmake/Catch2),ON,OFF) >/dev/null

clean:
	rm -rf $(BUILD) $(BUILD)-sanitized iotrace

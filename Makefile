# `make help` lists the targets. Everything is built below .build and dist.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BUILD := .build
DIST := dist
TOOLCHAIN = $(shell dirname "$$(readlink -f "$$(command -v swiftc)")")
PYTHON := /usr/bin/python3
PYTEST := $(PYTHON) -B -m pytest -p no:cacheprovider -q
# Tests of the command line, and of the harnesses, wait most of the time.
WAITING := -n 8
STATIC := $(CURDIR)/$(DIST)/gighive-upload-x86_64

# What building and testing need beyond Swift and make; installed if they are missing.
PACKAGES := libssl-dev zlib1g-dev openssl curl python3 python3-pytest python3-pytest-xdist binutils

# What the C sources and the OpenSSL headers that Swift imports are compiled with: 64-bit file sizes and times on every
# architecture; a section a function, so that the linker can leave out what nobody calls.
C_FLAGS := -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -ffunction-sections -fdata-sections

BOARDS := aarch64 armv7 armv6
ARCHITECTURES := x86_64 $(BOARDS)

# What each architecture is called by the compiler (triple), and what its C compiler and linker want besides.
TRIPLE_x86_64 := x86_64-unknown-linux-gnu
TRIPLE_aarch64 := aarch64-none-none-elf
TRIPLE_armv7 := armv7-none-none-eabi
TRIPLE_armv6 := armv6-none-none-eabi
SYSROOT := $(CURDIR)/$(BUILD)/sysroot
TARGET_aarch64 := --target=aarch64-linux-gnu --sysroot=$(SYSROOT)/arm64
TARGET_armv7 := --target=armv7-linux-gnueabi -mfloat-abi=soft --sysroot=$(SYSROOT)/armel
TARGET_armv6 := --target=armv6-linux-gnueabi -mfloat-abi=soft --sysroot=$(SYSROOT)/armel
LIBRARIES_armv7 := -latomic
LIBRARIES_armv6 := -latomic

# $(call embedded_build,architecture,product)
define embedded_build
	EMBEDDED=1 swift build -c release --product $(2) --triple $(TRIPLE_$(1)) --scratch-path $(BUILD)/embedded-$(1) \
	  $(foreach flag,$(C_FLAGS) $(TARGET_$(1)),-Xcc $(flag)) -Xswiftc -use-ld=lld \
	  $(foreach flag,-static -Wno-unused-command-line-argument $(TARGET_$(1)),-Xswiftc -Xclang-linker -Xswiftc $(flag)) \
	  $(foreach flag,--gc-sections -L$(TOOLCHAIN)/../lib/swift/embedded/$(TRIPLE_$(1)) -lswiftUnicodeDataTables,-Xlinker $(flag)) \
	  $(foreach flag,$(LIBRARIES_$(1)),-Xlinker $(flag))
endef

# $(call static_binary,architecture)
define static_binary
	$(call embedded_build,$(1),gighive-upload)
	@mkdir -p $(DIST)
	$(TOOLCHAIN)/llvm-objcopy --strip-all $(BUILD)/embedded-$(1)/release/gighive-upload $(DIST)/gighive-upload-$(1)
	@ls -l $(DIST)/gighive-upload-$(1)
endef

.PHONY: help
help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s%s\n", $$1, $$2}'

.PHONY: setup
setup: ## install the Debian packages that are missing (needs root or sudo); without dpkg: nothing
	@command -v dpkg-query >/dev/null || exit 0; missing=""; for package in $(PACKAGES); do \
	  [[ "$$(dpkg-query -W -f '$${Status}' $$package 2>/dev/null)" == *"ok installed" ]] || missing+=" $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  echo "installing:$$missing"; \
	  as_root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$as_root apt-get update -qq; \
	  $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	fi

.PHONY: demo
demo: static ## upload a generated recording over HTTPS to a receiver on this machine
	@$(PYTHON) -B Tests/demo.py $(STATIC)

.PHONY: build debug replay
build: static debug replay ## everything that `make test` runs
debug: setup
	swift build --build-tests
replay: setup
	$(PYTHON) -B Tests/Fuzz --build

# What differs between the two builds: Swift's strings and numbers, the libraries, their trust and names, memory, the end of the
# process. What an upload does is the same code, and the unit tests run it in the ordinary build. What is large is `make memcap`'s.
ORDINARY := ciphers connecting credentials delivery file_names help input_files interruption json_output library list \
  memory_ceiling names output password_bytes readme text_output tls tls_clients usage

.PHONY: test
test: build ## all tests that need no real server; of the ordinary build, what it may do otherwise than the static one
	swift test --skip-build
	$(PYTEST) $(WAITING) Tests/HiveStub Tests/MemoryCap Tests/Chaos Tests/Fuzz Tests/CallFailures Tests/Bench
	GIGHIVE_UPLOAD=$(CURDIR)/$(BUILD)/debug/gighive-upload $(PYTEST) $(WAITING) $(ORDINARY:%=Tests/CLITests/test_%.py)
	GIGHIVE_UPLOAD=$(STATIC) $(PYTEST) $(WAITING) Tests/CLITests -m "not large"

.PHONY: interop
interop: static ## tests against Apache, ModSecurity, PHP and nginx from Debian's packages, and a tus server from PyPI
	Tests/Interop/setup
	cd Tests/Interop && GIGHIVE_UPLOAD=$(STATIC) $(PYTEST) -n 3

.PHONY: static
static: setup ## dist/gighive-upload-x86_64: one static file, Embedded Swift
	$(call static_binary,x86_64)

.PHONY: memcap
memcap: static ## prove the memory ceiling and write docs/memory.md; QUICK=1: what CI runs, without writing it
	$(PYTHON) -B Tests/MemoryCap --binary $(STATIC) $(if $(QUICK),--quick,--write-docs)

.PHONY: chaos
chaos: static ## 200 rounds of cuts, stalls and kills; QUICK=1: what CI runs
	$(PYTHON) -B Tests/Chaos --binary $(STATIC) $(if $(QUICK),--quick)

# The engine on a simulated machine: the C sources of Tests/Simulation in the place of Sources/CShims.
# Without Swift's checks for overlapping accesses, which the unit tests have: a seventh of the time.
SEEDS := 100000
FIRST := 1
.PHONY: simulate simulator
simulator: setup
	SIMULATION=1 swift build -c release --product simulate --scratch-path $(BUILD)/simulation \
	  -Xswiftc -enforce-exclusivity=unchecked
simulate: simulator ## 100,000 seeds of the engine on a simulated network, clock and disk; SEEDS=N FIRST=N: others
	$(BUILD)/simulation/release/simulate --seeds $(FIRST) $(SEEDS) --jobs 2

.PHONY: callfailures dynamic
dynamic: setup
	swift build -c release --product gighive-upload --scratch-path $(BUILD)/dynamic
callfailures: dynamic ## every call fails once
	$(PYTHON) -B Tests/CallFailures --binary $(BUILD)/dynamic/release/gighive-upload --quick

.PHONY: fuzz
fuzz: ## every parser under libFuzzer; SECONDS=N for each (30), SEED=N for the same choices again
	$(PYTHON) -B Tests/Fuzz --seconds $(or $(SECONDS),30) --seed $(or $(SEED),0)

.PHONY: sanitize
sanitize: setup ## the unit tests under the address sanitizer, those with threads under the thread sanitizer
	swift test --disable-xctest --sanitize=address --scratch-path $(BUILD)/address
	THREADS=1 swift test --disable-xctest --sanitize=thread --scratch-path $(BUILD)/thread

.PHONY: bench
bench: static ## measure the speed beside other clients and write docs/performance.md (twenty minutes)
	$(PYTHON) -B Tests/Bench --write-docs

# Debian's own packages for the other architectures, unpacked and not installed. APT is given lists and a cache of its own,
# so that the machine's stay as they are.
SYSROOT_PACKAGES := libc6-dev linux-libc-dev libssl-dev zlib1g-dev
$(BUILD)/sysroot/%/.unpacked: | setup
	@rm -rf $(@D) && mkdir -p $(@D)/apt/lists/partial $(@D)/apt/cache/archives/partial && touch $(@D)/apt/status
	@cd $(@D)/apt && own="-o APT::Architecture=$* -o APT::Architectures=$* -o APT::Sandbox::User=root \
	  -o Dir::State::Lists=$$PWD/lists -o Dir::State::Status=$$PWD/status -o Dir::Cache=$$PWD/cache"; \
	apt-get $$own update -qq; \
	gcc=$$(apt-cache $$own pkgnames libgcc- | grep -E '^libgcc-[0-9]+-dev$$' | sort -V | tail -n 1); \
	apt-get $$own download -qq $(SYSROOT_PACKAGES) $$gcc; \
	for package in *.deb; do dpkg -x $$package ..; done; \
	cd .. && rm -r apt
	@touch $@

.PHONY: sysroots
sysroots: setup $(BUILD)/sysroot/arm64/.unpacked $(BUILD)/sysroot/armel/.unpacked

.PHONY: arm
arm: $(BOARDS:%=arm-%) ## static binaries for aarch64, armv7 and armv6
arm-%: sysroots
	$(call static_binary,$*)

# The processors that the boards have, emulated. 32-bit programs and the machine's own kernel: 64-bit sizes are at stake.
QEMU_aarch64 := qemu-aarch64-static -cpu cortex-a53
QEMU_armv7 := qemu-arm-static -cpu cortex-a7
QEMU_armv6 := qemu-arm-static -cpu arm1176

.PHONY: qemu
qemu: setup
	@$(MAKE) --no-print-directory setup PACKAGES=qemu-user-static

.PHONY: abi
abi: abi-x86_64 $(BOARDS:%=abi-%) ## do Swift and C agree on their structs, on every architecture?
abi-%: sysroots qemu
	$(call embedded_build,$*,abi-check)
	$(QEMU_$*) $(BUILD)/embedded-$*/release/abi-check

# $(call emulated_tests,architecture,pytest's choice of tests)
emulated_tests = GIGHIVE_UPLOAD=$(CURDIR)/$(DIST)/gighive-upload-$(1) GIGHIVE_UPLOAD_EMULATOR="$(QEMU_$(1))" \
  $(PYTEST) -n 4 Tests/CLITests $(2)

.PHONY: armsmoke
armsmoke: arm abi $(BOARDS:%=smoke-%) ## a choice of the command line's tests on each emulated board
smoke-%: arm qemu
	$(call emulated_tests,$*,-m "not native and not large" -k "delivery or (tls and not clients and not refusals)")

.PHONY: armtest
armtest: arm abi $(BOARDS:%=test-%) ## all of them, and a 5 GB upload on each (some 15 minutes)
test-%: arm qemu
	$(call emulated_tests,$*,-m "not native")

.PHONY: dist
dist: static arm $(ARCHITECTURES:%=archive-%) ## all four binaries as tar.gz with README and licences, and SHA-256 sums
	cd $(DIST) && sha256sum $(foreach a,$(ARCHITECTURES),gighive-upload-$(a) gighive-upload-$(a).tar.gz) | tee SHA256SUMS

# The same binary gives the same archive, byte for byte.
archive-%: static arm
	rm -rf $(BUILD)/package && mkdir -p $(BUILD)/package/gighive-upload
	install -m 0755 $(DIST)/gighive-upload-$* $(BUILD)/package/gighive-upload/gighive-upload
	install -m 0644 README.md LICENSE $(BUILD)/package/gighive-upload/
	cp -R docs $(BUILD)/package/gighive-upload/
	chmod -R u=rwX,go=rX $(BUILD)/package/gighive-upload/docs
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C $(BUILD)/package -c gighive-upload \
	  | gzip -n -9 > $(DIST)/gighive-upload-$*.tar.gz

.PHONY: lint
lint: ## formatter and linter, silent when all is well
	swift format lint --strict --recursive --parallel Package.swift Sources Tests

.PHONY: install
install: static ## install the static binary to PREFIX (default: /usr/local)
	install -D -m 0755 $(STATIC) $(DESTDIR)$(or $(PREFIX),/usr/local)/bin/gighive-upload

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD) $(DIST)

# `make help` lists the targets. Everything is built below .build and dist.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BUILD := .build
# What Swift leaves there holds the path, and fails elsewhere in ways that nobody understands.
ifneq ($(filter-out clean help help-all install uninstall lint,$(MAKECMDGOALS)),)
ifneq ($(wildcard $(BUILD)/made-in),)
ifneq ($(shell cat $(BUILD)/made-in),$(CURDIR))
$(error $(BUILD) was made in another directory, $(shell cat $(BUILD)/made-in): run "make clean" first)
endif
endif
endif
DIST := dist
TOOLCHAIN = $(shell dirname "$$(readlink -f "$$(command -v swiftc)")")
PYTHON := /usr/bin/python3
PYTEST := $(PYTHON) -m pytest -p no:cacheprovider -q
# Compiled tests are kept, but not beside their sources: each process of pytest would compile them all, which takes two seconds.
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(BUILD)/pycache
export PYTHONDONTWRITEBYTECODE :=
STATIC := $(CURDIR)/$(DIST)/gighive-upload-x86_64

# Packages needed for building and testing besides Swift and make. They are installed if missing.
PACKAGES := libssl-dev zlib1g-dev openssl curl python3 python3-pytest python3-pytest-xdist python3-jsonschema python3-pyte binutils dpkg-dev perl strace e2fsprogs xfsprogs btrfs-progs dosfstools rclone

BOARDS := aarch64 armv7 armv6
ARCHITECTURES := x86_64 $(BOARDS)

# OpenSSL, built from Debian 13's source package. OPENSSL=system: libssl-dev of this machine, for x86_64 only. That is also the
# fallback where the source cannot be fetched; what was fetched must build. One build serves both 32-bit architectures.
OPENSSL_DIRECTORY := $(CURDIR)/$(BUILD)/openssl
OPENSSL_PACKAGING := $(wildcard Sources/Packaging/openssl/*)
OPENSSL_TARGET_aarch64 = $(shell Sources/Packaging/embedded aarch64 --target)
OPENSSL_TARGET_arm = $(filter-out -mthumb,$(shell Sources/Packaging/embedded armv6 --target))

$(OPENSSL_DIRECTORY)/version: $(OPENSSL_PACKAGING)
	Sources/Packaging/openssl/fetch $(@D)
$(OPENSSL_DIRECTORY)/x86_64/version: $(OPENSSL_DIRECTORY)/version
$(OPENSSL_DIRECTORY)/aarch64/version: $(BUILD)/sysroot/arm64/versions $(OPENSSL_PACKAGING) | openssl
$(OPENSSL_DIRECTORY)/arm/version: $(BUILD)/sysroot/armel/versions $(OPENSSL_PACKAGING) | openssl
$(OPENSSL_DIRECTORY)/%/version:
	Sources/Packaging/openssl/build $(OPENSSL_DIRECTORY) $* $(TOOLCHAIN) $(OPENSSL_TARGET_$*)

.PHONY: openssl
openssl: setup
ifneq ($(OPENSSL),system)
	@missing=$(OPENSSL_DIRECTORY)/missing; \
	if [ -e $$missing ] && [ -z "$$(find $(OPENSSL_PACKAGING) -newer $$missing)" ]; then \
	  echo "OpenSSL: this machine's libssl-dev, because Debian 13's source package could not be fetched; rm $$missing to try again" >&2; \
	elif $(MAKE) --no-print-directory $(OPENSSL_DIRECTORY)/version; then \
	  $(MAKE) --no-print-directory $(OPENSSL_DIRECTORY)/x86_64/version; \
	elif [ ! -e $$missing ]; then \
	  exit 1; \
	else \
	  rm -rf $(OPENSSL_DIRECTORY)/x86_64; \
	  echo "Debian 13's source package of OpenSSL could not be fetched: the static binary gets this machine's libssl-dev" >&2; \
	fi
endif

.PHONY: opensslversion
opensslversion: ## name Debian 13's newest OpenSSL in Sources/Packaging/openssl/version
	Sources/Packaging/openssl/fetch $(OPENSSL_DIRECTORY) --newest
	cp $(OPENSSL_DIRECTORY)/version Sources/Packaging/openssl/version

# The functions of an upload in the order of their first use: side by side, they map fewer pages (decision 0009).
FIRST_USE := Sources/Packaging/first-use.txt
.PHONY: firstuse
firstuse: static arm qemu ## find the order of first use of the functions on the emulated processors and write it to Sources/Packaging
	$(PYTHON) -B Tests/FirstUse/first_use.py \
	  $(foreach a,$(ARCHITECTURES),'$(QEMU_$(a))' $(BUILD)/embedded-$(a)/release/gighive-upload) > $(BUILD)/first-use.txt
	mv $(BUILD)/first-use.txt $(FIRST_USE)

# $(call embedded_build,architecture,product[,where to put it])
embedded_build = OPENSSL=$(OPENSSL) Sources/Packaging/embedded $(1) $(2) $(3)
static_binary = $(call embedded_build,$(1),gighive-upload,$(DIST)/gighive-upload-$(1))

# What most people need.
HELP := demo test static arm install uninstall packages reference lint interop clean help-all
.PHONY: help help-all
help:
	@for target in $(HELP); do \
	  sed -n "s/^$$target:.*## \([^;]*\).*/  make $$target|\1/p" $(MAKEFILE_LIST); \
	done | awk -F '|' '{printf "%-18s%s\n", $$1, $$2}'
help-all: ## show every target
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-20s%s\n", $$1, $$2}'

.PHONY: setup
setup: ## install missing Debian packages (needs root or sudo); without dpkg: nothing
	@mkdir -p $(BUILD); echo "$(CURDIR)" > $(BUILD)/made-in
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
demo: static ## upload a generated recording over HTTPS to a local receiver
	@$(PYTHON) -B Tests/demo.py $(STATIC)

.PHONY: testbuild debug replay fuzzer mutantfinder pycache
testbuild: static debug replay mutantfinder pycache ## build everything that `make test` runs
debug: setup
	swift build --build-tests
replay fuzzer: setup
	$(PYTHON) -B Tests/Fuzz --build $@
mutantfinder: setup
	$(PYTHON) -B Tests/Mutants --build
pycache: setup
	GIGHIVE_UPLOAD=$(SHELL) $(PYTEST) --collect-only Tests/CLITests >/dev/null

# Tests of what differs between the two builds: Swift's strings and numbers, the libraries with their trust store and name lookup,
# memory, and the end of the process. The code of an upload is the same, and the unit tests run it in the ordinary build. Large
# files are tested by `make memcap`.
ORDINARY := ciphers delivery file_names help interruption json_output library list memory_ceiling names password_bytes text_output \
  tls usage

# They wait most of the time, so they run at once. Each process of pytest first reads all of its tests, which takes a second: more
# processes than the waiting tests can use would only cost time.
SUITES := unittest harnesstest ordinarytest statictest
.PHONY: test $(SUITES)
test: testbuild ## run all tests that need no real server; for the ordinary build, those that may differ from the static one
	$(MAKE) --no-print-directory -j4 -O $(SUITES)
unittest:
	swift test --skip-build
.PHONY: transcripts
transcripts: debug ## play the conversations of an upload (Tests/UploadCoreTests/Transcripts) and compare every error's text; UPDATE=1: write what they are now
	$(if $(UPDATE),UPDATE_TRANSCRIPTS=1) swift test --skip-build --filter 'TranscriptTests|ErrorTests' 
harnesstest:
	$(PYTEST) -n 2 Tests/HiveStub Tests/MemoryCap Tests/Support Tests/Station Tests/Fuzz Tests/CallFailures Tests/Bench \
	  Tests/Board Tests/Mutants Tests/FirstUse/test_variants.py
ordinarytest:
	GIGHIVE_UPLOAD=$(CURDIR)/$(BUILD)/debug/gighive-upload $(PYTEST) -n 4 $(ORDINARY:%=Tests/CLITests/test_%.py) -m "not tls_matrix"
statictest:
	GIGHIVE_UPLOAD=$(STATIC) $(PYTEST) -n 14 Tests/CLITests -m "not large and not tls_matrix"

.PHONY: tls
tls: static ## test the whole TLS matrix, of which `make test` runs one row of each kind
	GIGHIVE_UPLOAD=$(STATIC) $(PYTEST) -n 4 $(addprefix Tests/CLITests/test_,tls*.py ciphers.py key_exchange.py)

.PHONY: interop
interop: static ## test against Apache, PHP, nginx, and tus and S3 servers, from Debian's packages and PyPI; QUICK=1: without 2 GiB, as CI does
	Tests/Interop/setup
	cd Tests/Interop && GIGHIVE_UPLOAD=$(STATIC) $(PYTEST) -n 3 $(if $(QUICK),-m "not large")

.PHONY: consumer
consumer: setup ## build a package of somebody else, which uses the library, and test its server
	$(PYTEST) Tests/Consumer

.PHONY: static
static: openssl ## build dist/gighive-upload-x86_64, one static file; it is Embedded Swift
	$(call static_binary,x86_64)

.PHONY: memcap
memcap: static ## test the memory ceiling and write docs/measured/memory.md; QUICK=1: what CI runs, without writing it
	$(PYTHON) -B Tests/MemoryCap --binary $(STATIC) $(if $(QUICK),--quick,--write-docs)

.PHONY: station
station: static ## 200 rounds of cuts, stalls and kills; in 40 of them a watcher delivers 1,600 recordings, 240 while they are made; QUICK=1: what CI runs
	$(PYTHON) -B Tests/Station --binary $(STATIC) $(if $(QUICK),--quick)

# The engine on a simulated machine: the C sources of Tests/Simulation replace Sources/CShims. Three things make it faster: no checks
# for exclusivity, which the unit tests have, counts of references for the one thread that there is, and Swift's library in the program.
SEEDS := 100000
FIRST := 1
.PHONY: simulate simulator
simulator: setup
	SIMULATION=1 swift build -c release --product simulate --scratch-path $(BUILD)/simulation \
	  -Xswiftc -enforce-exclusivity=unchecked -Xswiftc -Xfrontend -Xswiftc -assume-single-threaded --static-swift-stdlib
simulate: simulator ## 100,000 seeds of the engine on a simulated network, clock and disk; SEEDS=N FIRST=N: others
	$(BUILD)/simulation/release/simulate --prove --jobs 2
	$(BUILD)/simulation/release/simulate --seeds $(FIRST) $(SEEDS) --jobs 2

.PHONY: parts
parts: setup ## 100,000 seeds of uploads in parts to each of four servers, half of them live; SEEDS=N FIRST=N: others
	PARTS_SEEDS=$(SEEDS) PARTS_FIRST=$(FIRST) swift test -c release -Xswiftc -enable-testing --scratch-path $(BUILD)/release-tests --filter PartsFuzz

.PHONY: simulate-sanitized
simulate-sanitized: setup ## 3,000 seeds with the address sanitizer, which also finds leaks; SEEDS=N FIRST=N: others
	SIMULATION=1 swift build -c release --product simulate --scratch-path $(BUILD)/simulation-address --sanitize=address
	$(BUILD)/simulation-address/release/simulate --seeds $(FIRST) $(or $(filter-out 100000,$(SEEDS)),3000) --jobs 2

.PHONY: callfailures
callfailures: debug ## every call fails once; QUICK=1: what CI runs, those of a removal and a sample of the others (SEED=N); LONG=1: also every allocation
	$(PYTHON) -B Tests/CallFailures $(if $(QUICK),--share quick) $(if $(LONG),--share all) $(if $(SEED),--seed $(SEED))

.PHONY: mutants
mutants: static ## change one thing at a time, of which a test must fail; SEED=N COUNT=N AREAS="removal state": others, AGAIN=1: survivors, too
	@$(MAKE) --no-print-directory setup PACKAGES="$(PACKERS) $(PACKAGE_TESTERS)"
	$(PYTHON) -B Tests/Mutants $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) $(if $(AREAS),--areas $(AREAS)) \
	  $(if $(AGAIN),--again)

.PHONY: fuzz
fuzz: ## fuzz every parser with libFuzzer; SECONDS=N for each (30), SEED=N to repeat a run
	$(PYTHON) -B Tests/Fuzz --seconds $(or $(SECONDS),30) --seed $(or $(SEED),0)

SANITIZERS := address thread
.PHONY: sanitize sanitizers
sanitizers: $(SANITIZERS:%=sanitizer-%)
sanitizer-%: setup
	SANITIZER=$* swift build --build-tests --sanitize=$* --scratch-path $(BUILD)/$*
sanitize: $(SANITIZERS:%=sanitize-%) ## run the tests of the library with the address and the thread sanitizer
sanitize-%: sanitizer-%
	SANITIZER=$* swift test --skip-build --disable-xctest --sanitize=$* --scratch-path $(BUILD)/$*

.PHONY: bench
bench: static ## compare the speed with other clients and write docs/measured/performance.md (twenty minutes)
	$(PYTHON) -B Tests/Bench --write-docs

.PHONY: s3bench
s3bench: static ## compare with rclone and the AWS CLI on one S3 server and write docs/measured/s3.md (five minutes)
	$(PYTHON) -B Tests/Bench/s3 --binary $(STATIC) --write-docs

.PHONY: livebench
livebench: static ## send what ffmpeg, GStreamer and others record, while they record it, print how soon it arrives, and draw docs/live.svg (ten minutes)
	$(PYTHON) -B Tests/Bench/live --binary $(STATIC) --picture docs/live.svg

# Debian's packages for the other architectures, unpacked but not installed.
$(BUILD)/sysroot/%/versions: | setup
	Sources/Packaging/sysroot $(@D) $* $(BUILD)/debian

.PHONY: sysroots
sysroots: $(BUILD)/sysroot/arm64/versions $(BUILD)/sysroot/armel/versions

# The libraries that static binaries link.
.PHONY: libraries-x86_64 libraries-aarch64 libraries-armv7 libraries-armv6
libraries-x86_64: openssl
libraries-aarch64: $(OPENSSL_DIRECTORY)/aarch64/version
libraries-armv7 libraries-armv6: $(OPENSSL_DIRECTORY)/arm/version

.PHONY: arm
arm: $(BOARDS:%=arm-%) ## build static binaries for aarch64, armv7 and armv6
arm-%: libraries-%
	$(call static_binary,$*)

# The boards' processors, emulated. 32-bit programs run on the machine's own kernel, which tests 64-bit sizes.
QEMU_x86_64 := qemu-x86_64-static
QEMU_aarch64 := qemu-aarch64-static -cpu cortex-a53
QEMU_armv7 := qemu-arm-static -cpu cortex-a7
QEMU_armv6 := qemu-arm-static -cpu arm1176

.PHONY: qemu
qemu: setup
	@$(MAKE) --no-print-directory setup PACKAGES=qemu-user-static

.PHONY: abi
abi: abi-x86_64 $(BOARDS:%=abi-%) ## check that Swift and C agree on shared structs, on every architecture
abi-%: libraries-% qemu
	$(call embedded_build,$*,abi-check)
	$(QEMU_$*) $(BUILD)/embedded-$*/release/abi-check

# $(call emulated_tests,architecture,tests for pytest)
emulated_tests = GIGHIVE_UPLOAD=$(CURDIR)/$(DIST)/gighive-upload-$(1) GIGHIVE_UPLOAD_EMULATOR="$(QEMU_$(1))" \
  $(PYTEST) -n 4 $(2)

# What a processor can break: forms, tus, TLS and disks, without what only the core decides. pytest reads the named files only.
SMOKE := delivery tls tls_refusals tus full_disks
SMOKE_TESTS := test_delivery or test_tls.py or arrives_whole or needs_no_close_notify or spoils_no_delivery

.PHONY: armsmoke
armsmoke: arm abi neon $(BOARDS:%=smoke-%) ## run some of the command-line tests on each emulated board
smoke-%: arm qemu
	$(call emulated_tests,$*,-m "not native and not large and not tls_matrix" $(SMOKE:%=Tests/CLITests/test_%.py) -k "$(SMOKE_TESTS)")

.PHONY: neon
neon: arm qemu
	$(PYTEST) -n 2 Tests/FirstUse

.PHONY: armtest
armtest: arm abi $(BOARDS:%=test-%) ## run all of them, and a 5 GB upload on each (some 15 minutes)
test-%: arm qemu
	$(call emulated_tests,$*,-m "not native" Tests/CLITests)

# Boards that boot: Debian's kernels and busybox, unpacked as the sysroots are, and for x86_64 what its guest runs. A kernel's name
# has its version, so it is looked up.
BOARD_KERNEL_arm64 := cloud-arm64
BOARD_KERNEL_armhf := armmp
BOARD_KERNEL_amd64 := cloud-amd64
BOARD_PROGRAMS_amd64 := python3 iproute2 curl libc-bin
.PHONY: boardtools
boardtools: setup
	@$(MAKE) --no-print-directory setup PACKAGES="qemu-system-arm qemu-system-x86 cpio kmod e2fsprogs dosfstools f2fs-tools"
$(BUILD)/board/%/.unpacked: | boardtools
	@rm -rf $(@D) && mkdir -p $(@D)/apt/lists/partial $(@D)/apt/cache/archives/partial && touch $(@D)/apt/status
	@cd $(@D)/apt && own="-o APT::Architecture=$* -o APT::Architectures=$* -o APT::Sandbox::User=root -o Debug::NoLocking=1 \
	  -o Dir::State=$$PWD -o Dir::State::Lists=$$PWD/lists -o Dir::State::Status=$$PWD/status -o Dir::Cache=$$PWD/cache"; \
	apt-get $$own update -qq || echo "$*: continuing with the lists that could be read"; \
	kernel=$$(apt-cache $$own pkgnames linux-image- | grep -E '^linux-image-[0-9.]+-[0-9]+-$(BOARD_KERNEL_$*)$$' \
	  | sort -V | tail -n 1); \
	apt-get $$own download -qq $$kernel busybox-static; \
	for package in *.deb; do dpkg -x $$package ../kernel; done; \
	if [ -n "$(BOARD_PROGRAMS_$*)" ]; then \
	  apt-get $$own install -qq -y --download-only --no-install-recommends $(BOARD_PROGRAMS_$*) >/dev/null; \
	  for package in cache/archives/*.deb; do dpkg -x $$package ../programs; done; \
	fi; \
	cd .. && rm -r apt && depmod -b kernel $$(ls kernel/lib/modules)
	@touch $@

.PHONY: board boards
boards: $(BUILD)/board/arm64/.unpacked $(BUILD)/board/armhf/.unpacked $(BUILD)/board/amd64/.unpacked
board: static arm $(if $(QUICK),$(BUILD)/board/armhf/.unpacked $(BUILD)/board/amd64/.unpacked,boards) ## boot Debian's kernels in an emulator: memory, power cuts, lossy links; QUICK=1: what CI runs
	$(PYTHON) -B Tests/Board $(if $(QUICK),--quick,--write-docs)

# Man pages, completions and docs/reference.md, from the program's help.
REFERENCE := $(BUILD)/reference
.PHONY: reference
reference: static ## write man pages, completions and docs/reference.md; from the program's help
	$(PYTHON) -B Sources/Packaging/reference $(STATIC) $(REFERENCE)
	cp $(REFERENCE)/reference.md docs/reference.md

.PHONY: picture
picture: static ## draw docs/terminal.svg: an upload, a power cut and a resume in a real terminal
	$(PYTHON) -B Tests/picture.py $(STATIC) docs/terminal.svg

.PHONY: dist
dist: ## build all four static binaries, each with its SPDX document
	$(MAKE) --no-print-directory -j3 -O static arm
	for a in $(ARCHITECTURES); do \
	  Sources/Packaging/sbom $(DIST)/gighive-upload-$$a $(BUILD)/components/$$a > $(DIST)/gighive-upload-$$a.spdx.json; \
	done

# What makes the packages.
PACKERS := debhelper rpm
PACKAGE_TESTERS := lintian mandoc zsh fish python3-pyte busybox-static debootstrap

.PHONY: packages
packages: dist reference ## pack .deb, .rpm, .ipk and tar.gz for all processors; with SHA-256 sums
	@$(MAKE) --no-print-directory setup PACKAGES="$(PACKERS)"
	$(PYTHON) -B Sources/Packaging/packages $(DIST) $(BUILD)/components $(REFERENCE) $(ARCHITECTURES)

# In two directories whose names differ in length, from the last commit.
.PHONY: reproducible
reproducible: setup ## build and pack the x86_64 binary in two directories, and compare the bytes
	rm -rf $(BUILD)/reproducible
	for directory in one another/directory; do \
	  git clone -q . $(BUILD)/reproducible/$$directory; \
	  $(MAKE) -C $(BUILD)/reproducible/$$directory packages ARCHITECTURES=x86_64 BOARDS=; \
	done
	cd $(BUILD)/reproducible && diff one/dist/SHA256SUMS another/directory/dist/SHA256SUMS

.PHONY: packagetest
packagetest: static ## test the packages of the binaries in dist, man pages and completions; LONG=1: lintian and packing again for every architecture
	@$(MAKE) --no-print-directory setup PACKAGES="$(PACKERS) $(PACKAGE_TESTERS)"
	$(if $(LONG),LONG=1) $(PYTEST) -n 2 Tests/Packaging -m "not roots or short"

.PHONY: roottest
roottest: static arm-aarch64 arm-armv7 qemu ## install the packages in fresh roots: Debian 12 and 13, arm64, armhf, BusyBox, and one that boots; deliver, upgrade, purge
	@$(MAKE) --no-print-directory setup PACKAGES="$(PACKERS) busybox-static debootstrap systemd-container"
	$(PYTEST) Tests/Packaging/test_roots.py Tests/Packaging/test_booted.py

.PHONY: lint
lint: ## run formatter and linter, which print only problems
	swift format lint --strict --recursive --parallel Package.swift Sources Tests

.PHONY: build
build: ## build the program with the libraries of this machine (swift build), for make install
	swift build -c release --product gighive-upload

.PHONY: install uninstall
install: ## install the program to PREFIX (/usr/local); dist's binary or else that of make build, with man pages and completions; SYSTEMD=yes or no: with the service or not
	SYSTEMD=$(SYSTEMD) Sources/Packaging/install $(DIST) $(BUILD) "$(DESTDIR)" $(or $(PREFIX),/usr/local)
uninstall: ## remove what make install has installed
	Sources/Packaging/install --remove "$(DESTDIR)" $(or $(PREFIX),/usr/local)

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(BUILD) $(DIST)

# `make help` lists the targets. Everything is built below .build and dist.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BUILD := .build
DIST := dist
TOOLCHAIN = $(shell dirname "$$(readlink -f "$$(command -v swiftc)")")
PYTHON := /usr/bin/python3
PYTEST := $(PYTHON) -B -m pytest -p no:cacheprovider -q
STATIC := $(CURDIR)/$(DIST)/gighive-upload-x86_64

# What building and testing need beyond Swift and make; installed if they are missing.
PACKAGES := libssl-dev zlib1g-dev openssl curl python3 python3-pytest binutils

# What the C sources and the OpenSSL headers that Swift imports are compiled with: 64-bit file sizes and times on every
# architecture; a section a function, so that the linker can leave out what nobody calls.
C_FLAGS := -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -ffunction-sections -fdata-sections

# $(call embedded_build,architecture,triple,C flags,linker flags)
define embedded_build
	mkdir -p $(DIST)
	EMBEDDED=1 swift build -c release --product gighive-upload --triple $(2) --scratch-path $(BUILD)/embedded-$(1) \
	  $(foreach flag,$(C_FLAGS) $(3),-Xcc $(flag)) \
	  -Xswiftc -use-ld=lld -Xswiftc -Xclang-linker -Xswiftc -static \
	  -Xswiftc -Xclang-linker -Xswiftc -Wno-unused-command-line-argument $(foreach flag,$(3),-Xswiftc -Xclang-linker -Xswiftc $(flag)) \
	  -Xlinker --gc-sections -Xlinker -L$(TOOLCHAIN)/../lib/swift/embedded/$(2) -Xlinker -lswiftUnicodeDataTables \
	  $(foreach flag,$(4),-Xlinker $(flag))
	$(TOOLCHAIN)/llvm-objcopy --strip-all $(BUILD)/embedded-$(1)/release/gighive-upload $(DIST)/gighive-upload-$(1)
	@ls -l $(DIST)/gighive-upload-$(1)
endef

.PHONY: help
help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s%s\n", $$1, $$2}'

.PHONY: setup
setup: ## install the Debian packages that are missing (needs root or sudo)
	@missing=""; for package in $(PACKAGES); do \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q "ok installed" || missing+=" $$package"; \
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

.PHONY: test
test: static ## all tests that need no real server, of the ordinary and of the static build
	swift build --build-tests
	swift test --skip-build
	$(PYTEST) Tests/HiveStub
	GIGHIVE_UPLOAD=$(CURDIR)/$(BUILD)/debug/gighive-upload $(PYTEST) Tests/CLITests
	GIGHIVE_UPLOAD=$(STATIC) $(PYTEST) Tests/CLITests

.PHONY: interop
interop: static ## tests against Apache, ModSecurity, PHP and nginx from Debian's packages
	Tests/Interop/setup
	cd Tests/Interop && GIGHIVE_UPLOAD=$(STATIC) $(PYTEST)

.PHONY: static
static: setup ## dist/gighive-upload-x86_64: one static file, Embedded Swift
	$(call embedded_build,x86_64,x86_64-unknown-linux-gnu,,)

# Debian's own packages for the other architectures, unpacked and not installed. APT is given lists and a cache of its own,
# so that the machine's stay as they are.
SYSROOT_PACKAGES := libc6-dev linux-libc-dev libssl-dev zlib1g-dev
$(BUILD)/sysroot/%/.unpacked:
	@rm -rf $(@D) && mkdir -p $(@D)/apt/lists/partial $(@D)/apt/cache/archives/partial && touch $(@D)/apt/status
	@cd $(@D)/apt && own="-o APT::Architecture=$* -o APT::Architectures=$* -o APT::Sandbox::User=root \
	  -o Dir::State::Lists=$$PWD/lists -o Dir::State::Status=$$PWD/status -o Dir::Cache=$$PWD/cache"; \
	apt-get $$own update -qq; \
	gcc=$$(apt-cache $$own pkgnames libgcc- | grep -E '^libgcc-[0-9]+-dev$$' | sort -V | tail -n 1); \
	apt-get $$own download -qq $(SYSROOT_PACKAGES) $$gcc; \
	for package in *.deb; do dpkg -x $$package ..; done; \
	cd .. && rm -r apt
	@touch $@

ARM32 := -mfloat-abi=soft --sysroot=$(CURDIR)/$(BUILD)/sysroot/armel

.PHONY: arm
arm: $(BUILD)/sysroot/arm64/.unpacked $(BUILD)/sysroot/armel/.unpacked ## static binaries for aarch64, armv7 and armv6
	$(call embedded_build,aarch64,aarch64-none-none-elf,--target=aarch64-linux-gnu --sysroot=$(CURDIR)/$(BUILD)/sysroot/arm64,)
	$(call embedded_build,armv7,armv7-none-none-eabi,--target=armv7-linux-gnueabi $(ARM32),-latomic)
	$(call embedded_build,armv6,armv6-none-none-eabi,--target=armv6-linux-gnueabi $(ARM32),-latomic)

.PHONY: lint
lint: ## formatter and linter, silent when all is well
	swift format lint --strict --recursive --parallel Package.swift Sources Tests

.PHONY: install
install: static ## install the static binary to PREFIX (default: /usr/local)
	install -D -m 0755 $(STATIC) $(DESTDIR)$(or $(PREFIX),/usr/local)/bin/gighive-upload

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BUILD) $(DIST)

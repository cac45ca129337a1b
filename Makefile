# make help lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BUILD := .build
DIST := dist
PYTEST := /usr/bin/python3 -m pytest -p no:cacheprovider

# What the C sources and the OpenSSL headers that Swift imports are compiled with: 64-bit file sizes and times on every
# architecture; a section a function, so that the linker can leave out what nobody calls.
C_FLAGS := -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -DSHIM_STATIC -ffunction-sections -fdata-sections
SWIFT_LIBRARIES = $(shell dirname "$$(readlink -f "$$(command -v swiftc)")")/../lib/swift/embedded

# $(call embedded_build,architecture,triple,C flags,linker flags)
define embedded_build
	mkdir -p $(DIST)
	EMBEDDED=1 swift build -c release --product gighive-upload --triple $(2) --scratch-path $(BUILD)/embedded-$(1) \
	  $(foreach flag,$(C_FLAGS) $(3),-Xcc $(flag)) \
	  -Xswiftc -use-ld=lld -Xswiftc -Xclang-linker -Xswiftc -static $(foreach flag,$(3),-Xswiftc -Xclang-linker -Xswiftc $(flag)) \
	  -Xlinker --gc-sections -Xlinker -L$(SWIFT_LIBRARIES)/$(2) -Xlinker -lswiftUnicodeDataTables $(foreach flag,$(4),-Xlinker $(flag))
	llvm-objcopy --strip-all $(BUILD)/embedded-$(1)/release/gighive-upload $(DIST)/gighive-upload-$(1)
	@ls -l $(DIST)/gighive-upload-$(1)
endef

.PHONY: help
help: ## This list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: static
static: ## dist/gighive-upload-x86_64: the static binary, Embedded Swift
	$(call embedded_build,x86_64,x86_64-unknown-linux-gnu,,)

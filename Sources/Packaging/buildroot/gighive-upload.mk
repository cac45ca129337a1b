################################################################################
#
# gighive-upload
#
################################################################################

# GIGHIVE_UPLOAD_SITE is the directory, or the address, with a release's archives. Their SHA-256 is in its SHA256SUMS: copy those lines
# to gighive-upload.hash as "sha256  SUM  FILE".
GIGHIVE_UPLOAD_VERSION = 0.1.0
GIGHIVE_UPLOAD_SITE = $(call qstrip,$(BR2_PACKAGE_GIGHIVE_UPLOAD_SITE))
GIGHIVE_UPLOAD_LICENSE = Apache-2.0
GIGHIVE_UPLOAD_LICENSE_FILES = share/doc/gighive-upload/LICENSE

ifeq ($(BR2_x86_64),y)
GIGHIVE_UPLOAD_BINARY = x86_64
else ifeq ($(BR2_aarch64),y)
GIGHIVE_UPLOAD_BINARY = aarch64
else ifeq ($(BR2_ARM_CPU_ARMV7A),y)
GIGHIVE_UPLOAD_BINARY = armv7
else
GIGHIVE_UPLOAD_BINARY = armv6
endif
GIGHIVE_UPLOAD_SOURCE = gighive-upload-$(GIGHIVE_UPLOAD_VERSION)-$(GIGHIVE_UPLOAD_BINARY).tar.gz

define GIGHIVE_UPLOAD_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/bin/gighive-upload $(TARGET_DIR)/usr/bin/gighive-upload
endef

$(eval $(generic-package))

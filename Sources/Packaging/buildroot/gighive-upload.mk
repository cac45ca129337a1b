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

# With BR2_INIT_SYSTEMD. The units of the archive are for /usr/local. Enable gighive-upload-watch, once its configuration is there.
define GIGHIVE_UPLOAD_INSTALL_INIT_SYSTEMD
	for unit in gighive-upload-watch.service gighive-upload-watch@.service; do \
		$(INSTALL) -D -m 0644 $(@D)/lib/systemd/system/$$unit $(TARGET_DIR)/usr/lib/systemd/system/$$unit && \
		$(SED) 's,/usr/local/bin,/usr/bin,' $(TARGET_DIR)/usr/lib/systemd/system/$$unit || exit 1; \
	done
	$(INSTALL) -D -m 0644 $(@D)/lib/tmpfiles.d/gighive-upload.conf $(TARGET_DIR)/usr/lib/tmpfiles.d/gighive-upload.conf
endef

ifeq ($(BR2_INIT_SYSTEMD),y)
define GIGHIVE_UPLOAD_USERS
	gighive-upload -1 gighive-upload -1 * /var/lib/gighive-upload - - Upload of recordings
endef
endif

$(eval $(generic-package))

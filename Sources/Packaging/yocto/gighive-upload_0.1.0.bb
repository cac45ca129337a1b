SUMMARY = "Uploads recordings of any size to a GigHive server"
DESCRIPTION = "Delivers multi-gigabyte recordings, unattended, in a few megabytes of memory: to a GigHive server, or to any other \
endpoint that speaks tus or accepts multipart/form-data. A static binary from the release's archive."
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/Apache-2.0;md5=89aea4e17d99a7cacdbeed46a0096b10"

# GIGHIVE_UPLOAD_MIRROR is the address of a release's archives (file:///srv/releases, for example); set it and the checksums from its
# SHA256SUMS in local.conf.
GIGHIVE_UPLOAD_MIRROR ?= "file:///srv/gighive-upload"
ARCHIVE = "gighive-upload-${PV}-${BINARY}"
BINARY:x86-64 = "x86_64"
BINARY:aarch64 = "aarch64"
BINARY:armv7a = "armv7"
BINARY:armv7ve = "armv7"
BINARY:armv6 = "armv6"
SRC_URI = "${GIGHIVE_UPLOAD_MIRROR}/${ARCHIVE}.tar.gz"
SRC_URI[sha256sum] = "${GIGHIVE_UPLOAD_SHA256}"
S = "${WORKDIR}/${ARCHIVE}"

RRECOMMENDS:${PN} = "ca-certificates"
INSANE_SKIP:${PN} = "already-stripped ldflags"
COMPATIBLE_HOST = "(x86_64|aarch64|arm).*-linux"

do_install() {
    install -D -m 0755 ${S}/bin/gighive-upload ${D}${bindir}/gighive-upload
}

SUMMARY = "Uploads large recordings to a GigHive server"
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

# The service, where the distribution has systemd: enable it once its configuration is there.
inherit systemd useradd
SYSTEMD_SERVICE:${PN} = "gighive-upload-watch.service"
SYSTEMD_AUTO_ENABLE:${PN} = "disable"
USERADD_PACKAGES = "${PN}"
USERADD_PARAM:${PN} = "--system --user-group --no-create-home --home-dir ${localstatedir}/lib/gighive-upload --shell /sbin/nologin gighive-upload"
HAS_SYSTEMD = "${@bb.utils.contains('DISTRO_FEATURES', 'systemd', 'true', 'false', d)}"
FILES:${PN} += "${systemd_system_unitdir} ${nonarch_libdir}/tmpfiles.d"

# The units of the archive are for /usr/local.
do_install() {
    install -D -m 0755 ${S}/bin/gighive-upload ${D}${bindir}/gighive-upload
    if ${HAS_SYSTEMD}; then
        for unit in gighive-upload-watch.service gighive-upload-watch@.service; do
            install -D -m 0644 ${S}/lib/systemd/system/$unit ${D}${systemd_system_unitdir}/$unit
            sed -i 's,/usr/local/bin,${bindir},' ${D}${systemd_system_unitdir}/$unit
        done
        install -D -m 0644 ${S}/lib/tmpfiles.d/gighive-upload.conf ${D}${nonarch_libdir}/tmpfiles.d/gighive-upload.conf
    fi
}

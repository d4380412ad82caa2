# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that try things in a minimal Debian 12 of their own, made by debootstrap; after packages.sh.

# make_fresh_root DIRECTORY: creates a root, or uses an existing one if it is complete.
make_fresh_root() {
    local fresh=$1 mirror
    [ ! -e "$fresh" ] || [ -O "$fresh" ] || die "$fresh belongs to somebody else, and is not to be trusted; remove it"
    [ ! -e "$fresh/ready" ] || return 0
    mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\(http[^ ]*\).*/\2/p' \
        /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -n 1 || true)
    remove_fresh_root "$fresh"
    quietly "Making a minimal Debian 12 in $fresh" \
        debootstrap --variant=minbase bookworm "$fresh" "${mirror:-http://deb.debian.org/debian}"
    # How this machine fetches packages.
    rm -f "$fresh/etc/apt/sources.list"
    cp -r /etc/apt/. "$fresh/etc/apt/"
    cp -r /usr/share/keyrings/. "$fresh/usr/share/keyrings/"
    cp /etc/resolv.conf /etc/hosts "$fresh/etc/"
    [ ! -e /etc/gitconfig ] || cp /etc/gitconfig "$fresh/etc/gitconfig"
    touch "$fresh/ready"
}

# remove_fresh_root DIRECTORY: removes a root, which counts as incomplete from the beginning of that.
remove_fresh_root() {
    rm -f "$1/ready"
    rm -rf --one-file-system "$1"
}

# inside DIRECTORY COMMAND…: runs a command with a fresh root as its root, in a mount namespace of its own, with which
# all mounts disappear. Not a chroot, in which the kernel forbids creating namespaces as the demo and the tests do.
# $SHOWN names directories of this machine that are also there, read-only, and $EXTRA_PATH what to put before the usual
# PATH.
inside() {
    unshare --mount --propagation private bash -euc '
        fresh=$1
        shift
        mount --bind "$fresh" "$fresh"
        for place in /dev /proc /sys; do mount --rbind "$place" "$fresh$place"; done
        mount -t tmpfs tmpfs "$fresh/run"
        for place in ${SHOWN-}; do
            mkdir -p "$fresh$place"
            mount --bind -o ro "$place" "$fresh$place"
        done
        mkdir -p "$fresh/.outside"
        cd "$fresh"
        pivot_root . .outside
        cd /
        umount -l /.outside
        exec env -i HOME=/root TERM="${TERM-dumb}" ${CI:+CI="$CI"} \
            PATH="${EXTRA_PATH:+$EXTRA_PATH:}/usr/sbin:/usr/bin:/sbin:/bin" "$@"
    ' - "$@"
}

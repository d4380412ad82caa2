# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts: what they need from apt and of Swift, and how to report what is missing.

# The packages of each group. `build` has what `swift build` itself needs where only Swift is installed.
packages_of() {
    case $1 in
    build) echo ca-certificates git g++ binutils pkg-config tzdata libuv1-dev libcurl4-openssl-dev ;;
    compression) echo zlib1g-dev ;;
    pictures) echo libchafa-dev libglib2.0-dev libpng-dev ;;
    store) echo libsqlite3-dev ;;
    demo) echo iproute2 util-linux ;;
    test) echo iproute2 util-linux openssl procps nginx-light ;;
    c-library) echo abigail-tools iproute2 mandoc valgrind ;;
    fresh) echo debootstrap ;;
    docs) echo python3-minimal ;;
    libraries) echo cmake libssl-dev zlib1g-dev ;;
    fuzz) echo iproute2 python3-minimal util-linux ;;
    comparison) echo aria2 curl python3-minimal ;;
    picture-of-demo) echo tmux python3-pil fonts-dejavu-core ;;
    *) die "scripts/lib/packages.sh knows no packages called \`$1\`" ;;
    esac
}

say() { printf '%s\n' "$*" >&2; }

die() {
    say "Error: $*"
    exit 1
}

# need_packages GROUP…: installs what is missing from the groups, as root or with sudo, without asking.
need_packages() {
    local group package missing=()
    for group in "$@"; do
        for package in $(packages_of "$group"); do
            dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
        done
    done
    [ ${#missing[@]} -eq 0 ] && return
    command -v apt-get >/dev/null ||
        die "there is no apt-get here; install what corresponds to Debian's ${missing[*]}, with dpkg-query"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "not root, and no sudo; have root run: apt-get install ${missing[*]}"
        sudo -n true 2>/dev/null || [ -t 0 ] || die "sudo asks for a password; run first: sudo apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "Installing ${missing[*]} …"
    local log
    log=$(mktemp)
    if ! install_quietly "${missing[@]}" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "apt-get could not install ${missing[*]}; the reason stands above"
    fi
    rm -f "$log"
}

# Nothing of the user's is removed: libcurl4-openssl-dev excludes the other variants of libcurl's.
# Old package lists often still work, and a machine without a network may have the packages cached.
install_quietly() {
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y --no-remove -o Dpkg::Use-Pty=0)
    "${apt[@]}" install --no-install-recommends "$@" || {
        "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@"
    }
}

# need_swift MAJOR.MINOR: checks that there is a Swift of that version or a newer one.
need_swift() {
    local version
    command -v swift >/dev/null ||
        die "there is no \`swift\` in PATH; install Swift $1 or newer from https://www.swift.org/install/linux/"
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
    [ -n "$version" ] || die "\`swift --version\` does not work; is the toolchain complete?"
    [ "$(printf '%s\n%s\n' "$1" "$version" | sort -V | head -n 1)" = "$1" ] ||
        die "Swift is $version here; install $1 or newer from https://www.swift.org/install/linux/"
}

# swift_tool NAME: prints the path of a tool that comes with Swift. `swiftc` in PATH may only call another one, as
# swiftly's does; that one says where it is: …/usr/lib/swift.
swift_tool() {
    local toolchain
    toolchain=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)\/lib\/swift".*/\1/p')
    [ -x "$toolchain/bin/$1" ] || die "there is no $1 beside the swiftc in PATH; is the toolchain complete?"
    printf '%s\n' "$toolchain/bin/$1"
}

# quietly WORDS COMMAND…: prints what is done, and shows the command's output only when it fails, or lines of it that
# begin with `Skipped:` or `Note:`.
quietly() {
    local words=$1 log start=$SECONDS
    shift
    log=$(mktemp)
    say "$words …"
    if ! "$@" >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        rm -f "$log"
        die "\`$*\` failed; its last lines stand above"
    fi
    grep -E '^(Skipped|Note): ' "$log" >&2 || true
    rm -f "$log"
    say "$words: done in $((SECONDS - start)) s"
}

# meanwhile WORDS COMMAND…: runs it in the background, on the processor time that what follows leaves idle; `finished`
# waits for it.
meanwhile() {
    beside_words=$1 beside_log=$(mktemp)
    shift
    say "$beside_words, meanwhile …"
    # In a session of its own, so that all it starts can be ended: stop_beside.
    setsid chrt --idle 0 "$@" >"$beside_log" 2>&1 &
    beside=$!
}

# stop_beside: ends it, if it still runs.
stop_beside() { [ -z "${beside:-}" ] || kill -- "-$beside" 2>/dev/null || true; }

finished() {
    if ! wait "$beside"; then
        tail -n 60 "$beside_log" >&2
        die "$beside_words: that failed; its last lines stand above"
    fi
    beside=
    rm -f "$beside_log"
    say "$beside_words: done"
}

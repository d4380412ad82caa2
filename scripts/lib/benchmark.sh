# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that measure, after packages.sh: a server on loopback, and the page of the figures.

# start_nginx DIRECTORY: starts an nginx that serves the directory's files; sets `port`, and `nginx` to its process,
# which the caller kills.
start_nginx() {
    local directory=$1
    chmod 755 "$directory" # nginx's workers are not root
    local tries
    for tries in $(seq 10); do
        port=$((RANDOM % 10000 + 20000))
        write_nginx_configuration "$directory"
        nginx -p "$directory" -c "$directory/nginx.conf" 2>"$directory/nginx.log" &
        nginx=$!
        # It writes its process id when it listens; if another program listens there, it ends.
        while kill -0 "$nginx" 2>/dev/null; do
            [ ! -s "$directory/pid" ] || return 0
            sleep 0.1
        done
    done
    die "nginx does not start: $(cat "$directory/nginx.log")"
}

write_nginx_configuration() {
    local directory=$1
    cat >"$directory/nginx.conf" <<CONFIGURATION
daemon off;
pid $directory/pid;
error_log stderr;
worker_rlimit_nofile 4096;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on; # a small answer in one piece
    keepalive_requests 1000000000;
    server {
        listen 127.0.0.1:$port;
        root $directory;
    }
}
CONFIGURATION
}

# circumstances COMMAND: prints a sentence that says where and when it was measured.
circumstances() {
    local processor memory
    processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    memory=$(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
    printf '`%s` on %s, %d × %s, %d GiB, Linux %s, %s; load average after: %s.\n' "$1" "$(date -u +%F)" "$(nproc)" \
        "$processor" "$memory" "$(uname -r)" \
        "$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/Swift \1/p' | head -n 1)" \
        "$(cut -d ' ' -f 1 /proc/loadavg)"
}

# write_part PAGE NAME FILE: puts the text of the file between the page's two marks for that name.
write_part() {
    local begin="<!-- $2: written by scripts/benchmark -->" end="<!-- $2: end -->"
    { grep -qxF "$begin" "$1" && grep -qxF "$end" "$1"; } || die "$1 has no place for $2, between \`$begin\` and \`$end\`"
    awk -v begin="$begin" -v end="$end" -v part="$3" '
        $0 == end { skips = 0 }
        !skips { print }
        $0 == begin {
            print ""
            while ((getline line < part) > 0) print line
            print ""
            skips = 1
        }' "$1" >"$3.page"
    cat "$3.page" >"$1"
}

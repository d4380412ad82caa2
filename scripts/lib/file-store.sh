# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that show `uplink files`; after packages.sh.

# make_file_store PROGRAM DIRECTORY: fills a folder to serve, and starts a server for it: $server is its process. $files
# then has the command to start the program with, including settings of its own.
make_file_store() {
    local program=$1 place=$2
    mkdir -p "$place/served/Pictures" "$place/served/Letters"
    cp "$root"/docs/pictures/*.png "$place/served/Pictures"
    cp "$root/README.md" "$place/served/README.md"
    printf 'Dear reader,\n\nthis letter can be read without a network once it was read with one.\n' \
        >"$place/served/Letters/first.txt"
    (umask 077 && head -c 18 /dev/urandom | base64 >"$place/password")
    serve_file_store "$program" "$place" 0
    url=$(head -n 1 "$place/url")
    files=(
        env "XDG_CONFIG_HOME=$place/settings" "XDG_STATE_HOME=$place/state"
        "$program" files --server "$url" --user demo --password-file "$place/password"
    )
}

# serve_file_store PROGRAM DIRECTORY PORT: starts only the server.
serve_file_store() {
    : >"$2/url"
    "$1" files serve "$2/served" --port "$3" --password-file "$2/password" >"$2/url" </dev/null &
    server=$!
    until [ -s "$2/url" ]; do
        kill -0 "$server" 2>/dev/null || die "the file server did not start; its reason stands above"
        sleep 0.05
    done
}

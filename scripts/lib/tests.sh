# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts/test: runs the tests, and again the few that failed.

# run_tests SCRATCH-PATH ARGUMENTS…: runs the tests that were built there, one after the other.
#
# Many tests run on a real kernel, a real clock and a machine that others use, and may fail because they were held up.
# Up to three that failed are run again, and named at the end, because each is a fault to be fixed, in the test or in
# the code. More of them, a crash, or a second failure fail the run.
run_tests() {
    local results failed=() again=() test status=0
    local program=("$1/debug/uplinkPackageTests.xctest" --testing-library swift-testing --no-parallel)
    shift
    results=$(mktemp -d)
    watched "${program[@]}" --xunit-output "$results/tests.xml" "$@" || status=$?
    [ "$status" -eq 0 ] || mapfile -t failed < <(failed_tests "$results"/*.xml)
    rm -rf "$results"
    [ "$status" -ne 0 ] || return 0
    [ "$status" -lt 128 ] || return "$status"
    { [ ${#failed[@]} -gt 0 ] && [ ${#failed[@]} -le 3 ]; } || return "$status"
    for test in "${failed[@]}"; do
        say "Failed, and run once more: $test"
        again+=(--filter "^$(printf '%s' "$test" | sed 's/[][().*^$+?{}|\\]/\\&/g')")
    done
    watched "${program[@]}" "$@" "${again[@]}" || return $?
    unsteady+=("${failed[@]}")
}

# watched PROGRAM ARGUMENTS…: runs it as `running`, and kills it when it has printed nothing for ten minutes: a test's
# own time limit cancels it, which a test that hangs may ignore. Then shows where its threads are, if gdb is installed.
# If the runtime has found a continuation resumed twice, or never, the run fails whatever the tests say, and is not
# repeated. (The positive control is a test: PositiveControl.)
watched() {
    local log status=0
    log=$(mktemp)
    # As in the foreground: otherwise interrupts would be ignored, also by everything that the tests start.
    env --default-signal=INT,QUIT NO_COLOR=1 "$@" >"$log" 2>&1 &
    running=$!
    tail -n +1 --follow --pid="$running" "$log" &
    while kill -0 "$running" 2>/dev/null; do
        sleep 1
        [ $(($(date +%s) - $(stat -c %Y "$log"))) -gt 600 ] || continue
        say "Nothing was said for ten minutes: the last test that began hangs."
        ! command -v gdb >/dev/null || gdb -p "$running" -batch -ex 'thread apply all backtrace 24' >&2 || true
        kill -KILL "$running"
        break
    done
    wait "$running" || status=$?
    running=
    wait $! || true
    if grep -F 'SWIFT TASK CONTINUATION MISUSE' "$log" >&2; then status=128; fi
    rm -f "$log"
    return "$status"
}

# The tests that passed only when they were run again.
unsteady=()

# failed_tests FILE…: which tests failed, of files in JUnit's form: Module.Suite/name(of:)
failed_tests() {
    awk '
    /<testcase / {
        suite = $0; sub(/.*classname="/, "", suite); sub(/".*/, "", suite)
        name = $0; sub(/.* name="/, "", name); sub(/".*/, "", name)
        test = suite "/" name
    }
    /<failure/ && test != "" {
        print test
        test = ""
    }' "$@"
}

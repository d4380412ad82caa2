# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts/test: runs the tests, and once more the few that failed.

# run_tests ARGUMENTS…: `swift test` of what is built, one test after the other.
#
# Many tests run on a real kernel, a real clock and a machine that others use, and may fail because they were held up. Up
# to three that failed are run once more, and named at the end, for each is a fault to be mended, in the test or in the
# code. More of them, a crash, or a second failure fail the run.
run_tests() {
    local results failed=() again=() test status=0
    results=$(mktemp -d)
    swift test --skip-build --no-parallel --xunit-output "$results/tests.xml" "$@" || status=$?
    [ "$status" -eq 0 ] || mapfile -t failed < <(failed_tests "$results"/*.xml)
    rm -rf "$results"
    [ "$status" -ne 0 ] || return 0
    { [ ${#failed[@]} -gt 0 ] && [ ${#failed[@]} -le 3 ]; } || return "$status"
    for test in "${failed[@]}"; do
        say "Failed, and run once more: $test"
        again+=(--filter "^$(printf '%s' "$test" | sed 's/[][().*^$+?{}|\\]/\\&/g')")
    done
    swift test --skip-build --no-parallel "$@" "${again[@]}" || return $?
    unsteady+=("${failed[@]}")
}

# The tests that passed only when they were run once more.
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

// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import UplinkMonitor

@Suite(.timeLimit(.minutes(1)))
struct RouteExpiryTests {
    private let start = SuspendingClock.now

    @Test func theRouteIsAskedAboutAfterItsEnd() {
        var expiry = RouteExpiry()
        #expect(expiry.asked(timeToExpiry: .seconds(10), at: start) == .milliseconds(10_020))
        #expect(expiry.asked(timeToExpiry: .seconds(4), at: start + .seconds(6)) == .milliseconds(4020))
        #expect(expiry.asked(timeToExpiry: nil, at: start + .milliseconds(10_020)) == nil)
    }

    @Test func aRouteWithoutAnEndIsNotAskedAbout() {
        var expiry = RouteExpiry()
        #expect(expiry.asked(timeToExpiry: nil, at: start) == nil)
    }

    @Test func whatSeemsEndlessInItsLastMomentIsAskedAboutNevertheless() {
        var expiry = RouteExpiry()
        _ = expiry.asked(timeToExpiry: .seconds(1), at: start)
        #expect(expiry.asked(timeToExpiry: nil, at: start + .milliseconds(995)) == .milliseconds(25))
    }

    @Test func anotherRouteThatExpiresLaterDoesNotTakeItsPlace() {
        var expiry = RouteExpiry()
        _ = expiry.asked(timeToExpiry: .seconds(1), at: start)
        #expect(expiry.asked(timeToExpiry: .seconds(3600), at: start + .milliseconds(995)) == .milliseconds(25))
        #expect(expiry.asked(timeToExpiry: .seconds(3600), at: start + .seconds(2)) == .milliseconds(3_600_020))
    }

    @Test func aRouteThatLostItsEndLongBeforeIsNotAskedAbout() {
        var expiry = RouteExpiry()
        _ = expiry.asked(timeToExpiry: .seconds(10), at: start)
        #expect(expiry.asked(timeToExpiry: nil, at: start + .seconds(5)) == nil)
        #expect(expiry.asked(timeToExpiry: nil, at: start + .seconds(10)) == nil)
    }
}

// SPDX-License-Identifier: Apache-2.0
#if Store
public import Foundation
public import GRDB
public import HTTPTypes
import Uplink
public import UplinkCore
public import UplinkHTTP

extension StoreSync {
    /// A sync of JSON over HTTP, with conditional requests (RFC 9110, section 13).
    ///
    /// `ETag` and `Last-Modified` are kept with the data, in the same transaction, for this key, this URL and these
    /// `Accept…` fields, and sent with the next request; the answer 304 means "no news", unless redirects have led to
    /// another URL than before: then all is fetched. They are removed with the data when it is cleared through the
    /// store, and after a migration; if you erase the data in another way, the answer is 304 until it changes on the
    /// server. A `Last-Modified` that is less than a minute older than the answer's `Date` is not kept, because the
    /// data may change again in the same second.
    ///
    /// - Parameters:
    ///   - key: What is synced; include the user if the answer depends on who asks.
    ///   - client: The client that asks the server. Its timeouts limit the fetch.
    ///   - url: An absolute URL, percent-encoded.
    ///   - headers: Fields to send beside the conditional ones.
    ///   - type: The type that the JSON decodes to.
    ///   - maximum: The most bytes of a body to accept. It has to be in UTF-8, with at most 512 levels of nesting.
    ///   - networkLimit: How long to wait for the network.
    ///   - requirement: What the fetch needs of the network.
    ///   - minimumInterval: For how long after a sync no other is needed.
    ///   - decoder: Makes the decoder; called for each answer.
    ///   - write: Writes the data, in one transaction with the validators.
    ///   - erase: Removes the data from the database; what ``Store/clear(_:)`` calls.
    public static func json<Fetched: Decodable & Sendable>(
        _ key: String, client: HTTPClient, url: String, headers: HTTPFields = [:], as type: Fetched.Type = Fetched.self,
        upTo maximum: Int = 10 << 20, networkLimit: Duration = .seconds(30),
        requiring requirement: NetworkRequirement = .internet, minimumInterval: Duration = .zero,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() },
        write: @escaping @Sendable (Database, Fetched) throws -> Void,
        erase: (@Sendable (Database) throws -> Void)? = nil
    ) -> Self {
        let asked = Fingerprint.of(headers.wording(for: url))
        let shown = (try? HTTPRequest(parsing: url))?.redactedURL ?? "the server"
        return Self(
            key: key, networkLimit: networkLimit, requirement: requirement, minimumInterval: minimumInterval,
            erase: erase
        ) { validators in
            let known = validators?.url == asked ? validators : nil
            var response = try await client.get(url, headers: headers.asking(whetherChangedSince: known))
            if response.head.status == .notModified, let known {
                if Fingerprint.of(response.url) == known.answeredBy { return nil }
                // Another resource may have the same tag, or be older.
                response = try await client.get(url, headers: headers)
            }
            // What is called a part is not the whole, though nobody has asked for a part.
            guard response.head.status.kind == .successful, response.head.status != .partialContent else {
                throw StoreError(
                    .unexpectedResponse,
                    message: "\(shown) answered \(response.head.status); the data stays as it was")
            }
            let fields = response.head.headerFields
            let body = try await response.collected(upTo: maximum).body
            if let objection = JSONText.objection(to: body) {
                throw StoreError(
                    .decodeFailed, message: "what \(shown) answered is refused: \(objection); the data stays as it was")
            }
            let fetched: Fetched
            do {
                fetched = try decoder().decode(type, from: Data(body))
            } catch {
                throw StoreError(
                    .decodeFailed, message: "what \(shown) answered is not \(type): \(error); the data stays as it was",
                    underlyingError: error)
            }
            let etag = fields[.eTag]
            let date = LastModified.strong(in: fields)
            let validators = SyncValidators(
                url: asked, answeredBy: Fingerprint.of(response.url), etag: etag, lastModified: date)
            return News(validators: etag == nil && date == nil ? nil : validators) { db in try write(db, fetched) }
        }
    }
}

extension HTTPFields {
    /// These fields with the conditional ones.
    fileprivate func asking(whetherChangedSince known: SyncValidators?) -> Self {
        var fields = self
        if let etag = known?.etag { fields[.ifNoneMatch] = etag }
        if let date = known?.lastModified { fields[.ifModifiedSince] = date }
        return fields
    }
}
#endif

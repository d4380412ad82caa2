// SPDX-License-Identifier: Apache-2.0
import Foundation
import UplinkHTTP

/// The contract's JSON. Unknown keys are ignored, and keys may come in any order.
enum FilesJSON {
    static func user(from bytes: [UInt8]) throws -> User { try decode(bytes) }

    /// An item, which may come as an array of one.
    static func item(from bytes: [UInt8]) throws -> Item {
        try decode(bytes, as: OneItem.self).item
    }

    /// A listing in order. A malformed item does not hide the others.
    static func listing(from bytes: [UInt8]) throws -> Listing {
        let all = try decode(bytes, as: [Attempt].self).map(\.item)
        return Listing(items: ItemOrder.sorted(all.compactMap(\.self)), malformed: all.count { $0 == nil })
    }

    /// The name in `{"name":"x"}`.
    static func newFolderName(from bytes: [UInt8]) throws -> String {
        try decode(bytes, as: NewFolder.self).name
    }

    static func newFolder(named name: String) throws -> [UInt8] { try encode(NewFolder(name: name)) }

    /// Keys in alphabetical order, so that output is the same every time.
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    private static func decode<Value: Decodable>(_ bytes: [UInt8], as type: Value.Type = Value.self) throws -> Value {
        if let objection = JSONText.objection(to: bytes) {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: objection))
        }
        return try JSONDecoder().decode(type, from: Data(bytes))
    }

    private struct NewFolder: Codable { let name: String }

    /// An item, or nil if it is something else.
    private struct Attempt: Decodable {
        let item: Item?
        init(from decoder: any Decoder) { item = try? Item(from: decoder) }
    }

    private struct OneItem: Decodable {
        let item: Item

        init(from decoder: any Decoder) throws {
            guard var array = try? decoder.unkeyedContainer() else {
                item = try Item(from: decoder)
                return
            }
            item = try array.decode(Item.self)
            guard array.isAtEnd else {
                throw DecodingError.dataCorruptedError(in: array, debugDescription: "more than one item")
            }
        }
    }
}

extension Item: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, name, modificationDate, size, contentType
        case parentID = "parentId"
        case isFolder = "isDir"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func checked<Value>(_ key: CodingKeys, _ value: Value?) throws -> Value {
            guard let value else {
                throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: "not as agreed")
            }
            return value
        }
        id = try checked(.id, ItemID(try values.decode(String.self, forKey: .id)))
        let parent = try values.decode(String.self, forKey: .parentID)
        parentID = parent.isEmpty ? nil : try checked(.parentID, ItemID(parent))
        isFolder = try values.decode(Bool.self, forKey: .isFolder)
        let name = try values.decode(String.self, forKey: .name)
        // A root may have no name; any other invalid name could not be asked for, or would upset a terminal.
        self.name = try checked(.name, ItemName.isValid(name) || parentID == nil && name.isEmpty ? name : nil)
        let date = try values.decode(String.self, forKey: .modificationDate)
        modificationDate = try checked(.modificationDate, Timestamp(date))
        let size = try values.decodeIfPresent(Int64.self, forKey: .size)
        self.size = try checked(.size, size ?? 0 >= 0 ? .some(size) : nil)
        contentType = try values.decodeIfPresent(String.self, forKey: .contentType)
    }

    /// As in the contract: unknown values are left out.
    func encode(to encoder: any Encoder) throws { try encode(to: encoder, withNulls: false) }

    /// - Parameter withNulls: Whether unknown values are written as null.
    func encode(to encoder: any Encoder, withNulls: Bool) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id.text, forKey: .id)
        try values.encode(parentID?.text ?? "", forKey: .parentID)
        try values.encode(name, forKey: .name)
        try values.encode(isFolder, forKey: .isFolder)
        try values.encode(modificationDate.description, forKey: .modificationDate)
        if size != nil || withNulls { try values.encode(size, forKey: .size) }
        if contentType != nil || withNulls { try values.encode(contentType, forKey: .contentType) }
    }
}

// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// One part of a form (`multipart/form-data`, RFC 7578).
public struct HTTPFormPart: Sendable {
    /// The field's name.
    public let name: String
    /// The file's name as the server is told, if it is to be one.
    public let filename: String?
    /// What the field contains; its `contentType` is the part's.
    public let body: HTTPRequestBody

    /// A part of any body.
    public init(name: String, filename: String? = nil, body: HTTPRequestBody) {
        self.name = name
        self.filename = filename
        self.body = body
    }

    /// A field with a text, in UTF-8 and without a type, as browsers send it.
    public static func field(_ name: String, _ value: String) -> Self {
        Self(name: name, body: .text(value, contentType: nil))
    }

    /// A regular file; see ``HTTPRequestBody/file(_:contentType:)``. Without a `filename` it has its own.
    public static func file(
        _ name: String, _ path: FilePath, filename: String? = nil, contentType: String = "application/octet-stream"
    ) -> Self {
        Self(
            name: name, filename: filename ?? path.lastComponent?.string ?? "file",
            body: .file(path, contentType: contentType))
    }

    /// Bytes as a file.
    public static func bytes(
        _ name: String, _ bytes: [UInt8], filename: String, contentType: String = "application/octet-stream"
    ) -> Self {
        Self(name: name, filename: filename, body: .bytes(bytes, contentType: contentType))
    }
}

extension HTTPRequestBody {
    /// A form with these parts, in order (`multipart/form-data`, RFC 7578).
    ///
    /// Nothing is held in memory but what was given as bytes. The length is announced when that of every part is
    /// known, and the form can be sent again when every part can.
    public static func multipart(_ parts: [HTTPFormPart]) -> Self {
        let form = MultipartForm(parts)
        return Self(.stream(form.stream), contentType: "multipart/form-data; boundary=\(form.boundary)")
    }
}

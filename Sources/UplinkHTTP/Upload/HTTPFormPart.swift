// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// One part of a form (`multipart/form-data`, RFC 7578).
public struct HTTPFormPart: Sendable {
    /// The field's name.
    public let name: String
    /// The file name that the server is told, if the part is to be a file.
    public let filename: String?
    /// The field's content; its `contentType` is that of the part.
    public let body: HTTPRequestBody

    /// Makes a part with any body.
    public init(name: String, filename: String? = nil, body: HTTPRequestBody) {
        self.name = name
        self.filename = filename
        self.body = body
    }

    /// Makes a field with text, in UTF-8 and without a type, as browsers send it.
    public static func field(_ name: String, _ value: String) -> Self {
        Self(name: name, body: .text(value, contentType: nil))
    }

    /// Makes a part from a regular file; see ``HTTPRequestBody/file(_:contentType:)``. Without a `filename`, the file's
    /// own name is sent, with U+FFFD for what is not UTF-8 in it.
    public static func file(
        _ name: String, _ path: FilePath, filename: String? = nil, contentType: String = "application/octet-stream"
    ) -> Self {
        Self(
            name: name, filename: filename ?? path.lastComponent?.string ?? "file",
            body: .file(path, contentType: contentType))
    }

    /// Makes a file part from bytes.
    public static func bytes(
        _ name: String, _ bytes: [UInt8], filename: String, contentType: String = "application/octet-stream"
    ) -> Self {
        Self(name: name, filename: filename, body: .bytes(bytes, contentType: contentType))
    }
}

extension HTTPRequestBody {
    /// A form with these parts, in order (`multipart/form-data`, RFC 7578).
    ///
    /// Nothing is held in memory except what was given as bytes. The length is announced if that of every part is
    /// known, and the form can be sent again if every part can.
    public static func multipart(_ parts: [HTTPFormPart]) -> Self {
        let form = MultipartForm(parts)
        return Self(.stream(form.stream), contentType: "multipart/form-data; boundary=\(form.boundary)")
    }
}

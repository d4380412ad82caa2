// SPDX-License-Identifier: Apache-2.0

/// Combines texts, strings, optionals and arrays, with `if`, `switch` and `for`.
///
/// Two at a time (`buildPartialBlock`), so that long screens type-check quickly.
@resultBuilder
enum TextBuilder {
    static func buildExpression(_ text: Text) -> Text { text }
    static func buildExpression(_ characters: String) -> Text { Text(characters) }
    static func buildExpression(_ text: Text?) -> Text { text ?? Text() }
    static func buildExpression(_ characters: String?) -> Text { Text(characters ?? "") }
    static func buildExpression(_ texts: [Text]) -> Text { buildArray(texts) }
    static func buildExpression(_ strings: [String]) -> Text { buildArray(strings.map { Text($0) }) }
    static func buildBlock() -> Text { Text() }
    static func buildPartialBlock(first: Text) -> Text { first }
    static func buildPartialBlock(accumulated: Text, next: Text) -> Text { accumulated + next }
    static func buildOptional(_ text: Text?) -> Text { text ?? Text() }
    static func buildEither(first text: Text) -> Text { text }
    static func buildEither(second text: Text) -> Text { text }
    static func buildArray(_ texts: [Text]) -> Text { texts.reduce(Text(), +) }
    static func buildLimitedAvailability(_ text: Text) -> Text { text }
}

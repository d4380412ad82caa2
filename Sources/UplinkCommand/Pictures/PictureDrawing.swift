// SPDX-License-Identifier: Apache-2.0
#if Pictures
import CChafa

/// Draws pictures for the current terminal with libchafa: kitty's or sixel graphics, otherwise half-blocks.
enum PictureDrawing {
    /// The picture in the terminal's format, and the size it takes there.
    struct Result {
        var sequence: String
        var rows: Int
    }

    /// Draws a picture to fit into this many cells; returns nil if there are no pixels or no room.
    static func draw(_ picture: Picture, in size: TerminalSize, withColors: Bool) -> Result? {
        guard let pixels = picture.pixels, size.columns > 0, size.rows > 0 else { return nil }
        let environment = g_get_environ()
        defer { g_strfreev(environment) }
        guard let terminal = chafa_term_db_detect(chafa_term_db_get_default(), environment) else { return nil }
        defer { chafa_term_info_unref(terminal) }

        let ability = Ability(of: terminal, withColors: withColors)
        let (cellWidth, cellHeight) = cell(of: size)
        var (columns, rows) = (gint(size.columns), gint(size.rows))
        let (width, height) = (gint(picture.info.width), gint(picture.info.height))
        let cellRatio = Float(size.cellWidth) / Float(size.cellHeight)
        chafa_calc_canvas_geometry(width, height, &columns, &rows, cellRatio, 1, 0)
        guard columns > 0, rows > 0 else { return nil }

        guard let symbols = chafa_symbol_map_new(), let config = chafa_canvas_config_new() else { return nil }
        defer {
            chafa_symbol_map_unref(symbols)
            chafa_canvas_config_unref(config)
        }
        chafa_symbol_map_add_by_tags(symbols, ability.symbols)
        chafa_canvas_config_set_symbol_map(config, symbols)
        chafa_canvas_config_set_pixel_mode(config, ability.pixelMode)
        chafa_canvas_config_set_canvas_mode(config, ability.canvasMode)
        chafa_canvas_config_set_geometry(config, columns, rows)
        chafa_canvas_config_set_cell_geometry(config, gint(cellWidth), gint(cellHeight))
        guard let canvas = chafa_canvas_new(config) else { return nil }
        defer { chafa_canvas_unref(canvas) }
        chafa_canvas_draw_all_pixels(canvas, CHAFA_PIXEL_RGBA8_UNASSOCIATED, pixels, width, height, width * 4)
        guard let drawn = chafa_canvas_print(canvas, terminal) else { return nil }
        defer { g_string_free(drawn, 1) }
        return Result(sequence: String(cString: drawn.pointee.str), rows: Int(rows))
    }

    /// The most pixels to draw: those of a screen of 3840 × 2160.
    private static let maximumPixels = 8_294_400.0

    /// The pixels of a cell, fewer than it has if all cells together would have too many.
    private static func cell(of size: TerminalSize) -> (width: Int, height: Int) {
        let pixels = Double(size.columns * size.cellWidth) * Double(size.rows * size.cellHeight)
        let scale = min(1, (maximumPixels / pixels).squareRoot())
        return (max(1, Int(Double(size.cellWidth) * scale)), max(1, Int(Double(size.cellHeight) * scale)))
    }
}

/// What a terminal can show, as far as the environment tells.
private struct Ability {
    let pixelMode: ChafaPixelMode
    let canvasMode: ChafaCanvasMode
    let symbols: ChafaSymbolTags

    init(of terminal: OpaquePointer, withColors: Bool) {
        func has(_ sequence: ChafaTermSeq) -> Bool { chafa_term_info_have_seq(terminal, sequence) != 0 }
        pixelMode =
            if !withColors {
                CHAFA_PIXEL_MODE_SYMBOLS
            } else if has(CHAFA_TERM_SEQ_BEGIN_KITTY_IMMEDIATE_IMAGE_V1) {
                CHAFA_PIXEL_MODE_KITTY
            } else if has(CHAFA_TERM_SEQ_BEGIN_SIXELS) {
                CHAFA_PIXEL_MODE_SIXELS
            } else {
                CHAFA_PIXEL_MODE_SYMBOLS
            }
        canvasMode =
            if !withColors {
                CHAFA_CANVAS_MODE_FGBG
            } else if has(CHAFA_TERM_SEQ_SET_COLOR_FGBG_DIRECT) {
                CHAFA_CANVAS_MODE_TRUECOLOR
            } else if has(CHAFA_TERM_SEQ_SET_COLOR_FGBG_256) {
                CHAFA_CANVAS_MODE_INDEXED_240
            } else if has(CHAFA_TERM_SEQ_SET_COLOR_FGBG_16) {
                CHAFA_CANVAS_MODE_INDEXED_16
            } else {
                CHAFA_CANVAS_MODE_FGBG
            }
        // Without colours, more shapes show more than half-blocks do.
        symbols =
            canvasMode == CHAFA_CANVAS_MODE_FGBG
            ? ChafaSymbolTags(CHAFA_SYMBOL_TAG_SPACE.rawValue | CHAFA_SYMBOL_TAG_BLOCK.rawValue)
            : ChafaSymbolTags(CHAFA_SYMBOL_TAG_SPACE.rawValue | CHAFA_SYMBOL_TAG_VHALF.rawValue)
    }
}
#endif

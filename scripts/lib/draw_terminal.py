# SPDX-License-Identifier: Apache-2.0
"""Draws a terminal's screen, as `tmux capture-pane -ep` gives it, as a PNG file with a window's frame."""

import argparse
import re
import sys
import unicodedata

from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono{}.ttf"
SIZE, WIDTH, HEIGHT = 15, 9, 18
MARGIN, BAR = 14, 34
BACKGROUND, FOREGROUND, FRAME = (24, 22, 34), (222, 220, 230), (44, 41, 58)
PALETTE = [
    (40, 38, 50), (237, 105, 105), (120, 205, 130), (235, 200, 110),
    (110, 160, 240), (200, 130, 220), (110, 210, 220), (222, 220, 230),
]


def indexed(number):
    """The colour of xterm's 256 with this number."""
    if number < 8:
        return PALETTE[number]
    if number < 16:
        return tuple(min(255, part + 30) for part in PALETTE[number - 8])
    if number < 232:
        levels = (0, 95, 135, 175, 215, 255)
        number -= 16
        return levels[number // 36], levels[number // 6 % 6], levels[number % 6]
    return (8 + 10 * (number - 232),) * 3


class Style:
    """What the escape sequences so far say of the next character."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.foreground, self.background = FOREGROUND, BACKGROUND
        self.bold = self.dim = self.underline = self.inverse = False

    def apply(self, codes):
        codes = [int(code or 0) for code in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                if codes.pop(0) == 2:
                    color, codes = tuple(codes[:3]), codes[3:]
                else:
                    color = indexed(codes.pop(0))
                if code == 38:
                    self.foreground = color
                else:
                    self.background = color
            elif code == 0:
                self.reset()
            elif code in (1, 2, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 4: "underline", 7: "inverse"}[code], True)
            elif 30 <= code <= 37:
                self.foreground = PALETTE[code - 30]
            elif 40 <= code <= 47:
                self.background = PALETTE[code - 40]
            elif code == 39:
                self.foreground = FOREGROUND
            elif code == 49:
                self.background = BACKGROUND

    def colors(self):
        foreground, background = self.foreground, self.background
        if self.dim:
            foreground = tuple((a * 6 + b * 4) // 10 for a, b in zip(foreground, BACKGROUND))
        return (background, foreground) if self.inverse else (foreground, background)


def width(character):
    """How many cells a character takes."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cells(lines):
    """Every character with its place and style; a style goes on until it is changed, over lines as well."""
    style = Style()
    for row, line in enumerate(lines):
        column = 0
        for codes, character in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b])", line):
            if character:
                yield row, column, character, style
                column += width(character)
            else:
                style.apply(codes)


def draw(lines, title):
    texts = (re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines)
    columns = max((sum(map(width, text)) for text in texts), default=1)
    size = columns * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN + BAR
    image = Image.new("RGB", size, BACKGROUND)
    canvas = ImageDraw.Draw(image)
    fonts = [ImageFont.truetype(FONT.format(weight), SIZE) for weight in ("", "-Bold")]
    canvas.rectangle((0, 0, size[0], BAR), fill=FRAME)
    for index, color in enumerate((PALETTE[1], PALETTE[3], PALETTE[2])):
        x = MARGIN + 20 * index
        canvas.ellipse((x, BAR // 2 - 6, x + 12, BAR // 2 + 6), fill=color)
    canvas.text((size[0] / 2, BAR / 2), title, font=fonts[0], fill=FOREGROUND, anchor="mm")
    for row, column, character, style in cells(lines):
        x, y = MARGIN + column * WIDTH, BAR + MARGIN + row * HEIGHT
        foreground, background = style.colors()
        if width(character) > 0:
            canvas.rectangle((x, y, x + width(character) * WIDTH - 1, y + HEIGHT - 1), fill=background)
        if character == "▄":
            canvas.rectangle((x, y + HEIGHT // 2, x + WIDTH - 1, y + HEIGHT - 1), fill=foreground)
        elif character == "▀":
            canvas.rectangle((x, y, x + WIDTH - 1, y + HEIGHT // 2 - 1), fill=foreground)
        elif character != " ":
            canvas.text((x, y), character, font=fonts[style.bold], fill=foreground)
        if style.underline:
            canvas.line((x, y + HEIGHT - 2, x + WIDTH - 1, y + HEIGHT - 2), fill=foreground)
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--title", default="")
    parser.add_argument("target")
    arguments = parser.parse_args()
    lines = sys.stdin.read().rstrip("\n").split("\n")
    draw(lines, arguments.title).save(arguments.target, optimize=True)


main()

// SPDX-License-Identifier: Apache-2.0
import Glibc
@main struct M { static func main() { 
  var out = DemoPicture.file
  write(1, &out, out.count)
#if Pictures
   var t = Array(PictureDrawing.draw(try! Picture(file: out), in: TerminalSize(), withColors: true)!.sequence.utf8); write(2, &t, t.count)
#endif
} }

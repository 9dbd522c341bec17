package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/draw"
	"image/gif"
	"slices"

	"palmares/internal/problem"
)

const (
	gifExtension  = 0x21
	gifImage      = 0x2c
	gifTrailer    = 0x3b
	gifControl    = 0xf9
	gifPlainText  = 0x01
	gifProfile    = "\x0bICCRGBG1012"
	gifHeaderSize = 13

	// A minute and a half at the 50 frames per second that browsers show at most.
	maxFrames = 5000
)

// gifFile is a GIF cut into the parts that matter. Comments, XMP and the like are in
// none of them.
type gifFile struct {
	header  []byte     // with the global colour table
	profile []byte     // ICC, may be empty
	frames  []gifFrame // at most maxFrames
	count   int        // of frames
	pixels  int        // in all frames
	length  int        // with the trailer
}

type gifFrame struct {
	control []byte // the graphic control extension, may be empty
	image   []byte
}

// decodeGIF decodes every frame as a GIF of its own, so that one is in memory at a time.
// It returns the last one, in the full size of the picture: the one frame of a still GIF
// may be smaller.
func decodeGIF(file []byte) (image.Image, error) {
	g, err := splitGIF(file)
	if err != nil {
		return nil, err
	}
	var frame image.Image
	for _, f := range g.frames {
		frame, err = gif.Decode(bytes.NewReader(slices.Concat(g.header, f.control, f.image, []byte{gifTrailer})))
		if err != nil {
			return nil, err
		}
	}
	width, height := gifSize(file)
	screen := image.Rect(0, 0, width, height)
	if frame.Bounds() == screen {
		return frame, nil
	}
	whole := image.NewNRGBA(screen)
	draw.Draw(whole, frame.Bounds(), frame, frame.Bounds().Min, draw.Src)
	return whole, nil
}

func gifSize(file []byte) (width, height int) {
	return int(binary.LittleEndian.Uint16(file[6:])), int(binary.LittleEndian.Uint16(file[8:]))
}

// parseGIF copies a still GIF without what browsers do not show. An animation is kept
// as it is up to its end.
func parseGIF(file []byte, lim limits) (*parsed, error) {
	if len(file) < gifHeaderSize {
		return nil, errCutOff
	}
	p := &parsed{}
	p.width, p.height = gifSize(file)
	if err := lim.check(p.width, p.height); err != nil {
		return nil, err
	}
	g, err := splitGIF(file)
	if err != nil {
		return nil, err
	}
	if len(g.frames) == 0 {
		return nil, damaged(problem.New("no-picture-in-it"))
	}
	p.animated = len(g.frames) > 1
	if p.animated {
		p.bytes = bytes.Clone(file[:g.length])
		return p, g.check(lim)
	}
	p.bytes = slices.Concat(g.header, g.profile, g.frames[0].control, g.frames[0].image, []byte{gifTrailer})
	return p, nil
}

func (g *gifFile) check(lim limits) error {
	if g.count > maxFrames || g.pixels > lim.framePixels {
		return problem.New("animation-too-large",
			g.count, float64(g.pixels)/1e6, maxFrames, float64(lim.framePixels)/1e6)
	}
	return nil
}

func splitGIF(file []byte) (*gifFile, error) {
	g := &gifFile{length: gifHeaderSize + colourTable(file[10])}
	if g.length > len(file) {
		return nil, errCutOff
	}
	g.header = file[:g.length]
	var control []byte
	for g.length < len(file) {
		rest := file[g.length:]
		var part []byte
		var err error
		switch rest[0] {
		case gifTrailer:
			g.length++
			return g, nil
		case gifExtension:
			part, err = gifBlocks(rest, 2)
			switch {
			case err != nil:
			case part[1] == gifControl:
				control = part
			case part[1] == gifPlainText:
				control = nil // it belonged to the text, which no browser shows
			case g.profile == nil && bytes.HasPrefix(part[2:], []byte(gifProfile)):
				g.profile = part
			}
		case gifImage:
			var pixels int
			part, pixels, err = gifImagePart(rest)
			if g.count++; g.count <= maxFrames {
				g.frames = append(g.frames, gifFrame{control, part})
			}
			g.pixels += pixels
			control = nil
		default:
			err = damaged(problem.New("unknown-gif-block"))
		}
		if err != nil {
			return nil, err
		}
		g.length += len(part)
	}
	return nil, errCutOff
}

// gifImagePart returns the frame that rest starts with: a descriptor, a colour table, a
// code size and blocks of data.
func gifImagePart(rest []byte) (part []byte, pixels int, err error) {
	if len(rest) < 11 {
		return nil, 0, errCutOff
	}
	width, height := int(binary.LittleEndian.Uint16(rest[5:])), int(binary.LittleEndian.Uint16(rest[7:]))
	part, err = gifBlocks(rest, 10+colourTable(rest[9])+1)
	return part, width * height, err
}

// gifBlocks returns rest up to the end of the data blocks that start at the given index.
func gifBlocks(rest []byte, start int) ([]byte, error) {
	for start < len(rest) {
		n := int(rest[start])
		start += 1 + n
		if n == 0 {
			return rest[:start], nil
		}
	}
	return nil, errCutOff
}

// colourTable returns the size in bytes of the colour table that the flags announce.
func colourTable(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (1 + flags&7)
}

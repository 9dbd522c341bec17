package picture

import (
	"bytes"
	"encoding/binary"
	"image"

	"golang.org/x/image/webp"

	"palmares/internal/problem"
)

// Flags of a VP8X chunk.
const (
	webpAnimation = 1 << 1
	webpAlpha     = 1 << 4
	webpProfile   = 1 << 5
)

// decodeWebP returns luma and chroma from 0 to 255, as all other code expects them. The
// decoder passes them on as WebP stores them: 16 to 235 and 16 to 240, as in video.
func decodeWebP(file []byte) (image.Image, error) {
	img, err := webp.Decode(bytes.NewReader(file))
	switch m := img.(type) {
	case *image.YCbCr:
		stretch(m)
	case *image.NYCbCrA:
		stretch(&m.YCbCr)
	}
	return img, err
}

func stretch(m *image.YCbCr) {
	for i, v := range m.Y {
		m.Y[i] = clamped((int(v) - 16) * 255 / 219)
	}
	for i := range m.Cb {
		m.Cb[i] = clamped(128 + (int(m.Cb[i])-128)*255/224)
		m.Cr[i] = clamped(128 + (int(m.Cr[i])-128)*255/224)
	}
}

func clamped(v int) uint8 { return uint8(min(max(v, 0), 255)) }

// parseWebP collects the chunks that make up a still picture and writes a new container
// around them, in the order that the format prescribes.
func parseWebP(file []byte, lim limits) (*parsed, error) {
	size := binary.LittleEndian.Uint32(file[4:])
	if uint64(size)+8 > uint64(len(file)) {
		return nil, errCutOff
	}
	chunks, kind, err := webpChunks(file[12 : 8+max(size, 4)])
	if err != nil {
		return nil, err
	}
	p := &parsed{}
	extended, isExtended := chunks["VP8X"]
	if isExtended && len(extended) != 10 {
		return nil, damaged(problem.New("wrong-header", "WebP"))
	}
	if _, hasFrames := chunks["ANMF"]; hasFrames || isExtended && extended[0]&webpAnimation != 0 {
		return nil, animationRefused("WebP")
	}
	p.width, p.height, err = webpSize(kind, chunks[kind])
	if err != nil {
		return nil, err
	}
	if err := lim.check(p.width, p.height); err != nil {
		return nil, err
	}
	if orientationOf(bytes.TrimPrefix(chunks["EXIF"], []byte(exifPrefix))) > 1 {
		p.warnings = append(p.warnings, problem.New(turned))
	}

	p.bytes = append(make([]byte, 0, len(file)+1), "RIFF\x00\x00\x00\x00WEBP"...)
	if isExtended {
		width, height := uint24(extended[4:])+1, uint24(extended[7:])+1
		if width != p.width || height != p.height {
			return nil, damaged(problem.New("webp-two-sizes"))
		}
		p.extend(chunks, kind, extended)
	}
	p.webpChunk(kind, chunks[kind])
	binary.LittleEndian.PutUint32(p.bytes[4:], uint32(len(p.bytes)-8))
	return p, nil
}

// extend writes what comes before the picture data in an extended file, with flags that
// say what is there.
func (p *parsed) extend(chunks map[string][]byte, kind string, header []byte) {
	flags := header[0] & webpProfile
	profile, hasProfile := chunks["ICCP"]
	if !hasProfile {
		flags = 0
	}
	alpha, hasAlpha := chunks["ALPH"]
	hasAlpha = hasAlpha && kind == "VP8 "
	if hasAlpha || kind == "VP8L" && header[0]&webpAlpha != 0 {
		flags |= webpAlpha
	}
	p.webpChunk("VP8X", append([]byte{flags, 0, 0, 0}, header[4:]...))
	if flags&webpProfile != 0 {
		p.webpChunk("ICCP", profile)
		p.colour.profile = profile
	}
	if hasAlpha {
		p.webpChunk("ALPH", alpha)
	}
}

func (p *parsed) webpChunk(kind string, body []byte) {
	p.bytes = append(p.bytes, kind...)
	p.bytes = binary.LittleEndian.AppendUint32(p.bytes, uint32(len(body)))
	p.bytes = append(p.bytes, body...)
	if len(body)%2 == 1 {
		p.bytes = append(p.bytes, 0)
	}
}

// webpChunks returns the first chunk of each kind that matters, and the kind of the picture
// data. Like decoders, it ignores transparency after the data, and damage.
func webpChunks(rest []byte) (chunks map[string][]byte, data string, err error) {
	chunks = map[string][]byte{}
	for len(rest) > 0 {
		n := uint64(0)
		if len(rest) >= 8 {
			n = uint64(binary.LittleEndian.Uint32(rest[4:]))
		}
		if 8+n > uint64(len(rest)) {
			if data == "" {
				err = errCutOff
			}
			return chunks, data, err
		}
		kind, wanted := string(rest[:4]), false
		switch kind {
		case "VP8X", "ICCP", "EXIF", "ANMF":
			wanted = true
		case "ALPH":
			wanted = data == ""
		case "VP8 ", "VP8L":
			wanted = data == ""
			if wanted {
				data = kind
			}
		}
		if _, repeated := chunks[kind]; wanted && !repeated {
			chunks[kind] = rest[8 : 8+n]
		}
		rest = rest[min(8+n+n%2, uint64(len(rest))):]
	}
	return chunks, data, nil
}

// webpSize reads the size from the picture data itself, because decoders go by that.
func webpSize(kind string, data []byte) (width, height int, err error) {
	if kind == "VP8L" {
		if len(data) < 5 || data[0] != 0x2f {
			return 0, 0, damaged(problem.New("wrong-header", "WebP"))
		}
		bits := binary.LittleEndian.Uint32(data[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	}
	// A frame tag of three bytes whose lowest bit is 0 for a key frame, a start code, the size.
	if len(data) < 10 || data[0]&1 != 0 || string(data[3:6]) != "\x9d\x01\x2a" {
		return 0, 0, damaged(problem.New("wrong-header", "WebP"))
	}
	return int(binary.LittleEndian.Uint16(data[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[8:]) & 0x3fff), nil
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

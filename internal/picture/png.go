package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"slices"

	"palmares/internal/problem"
)

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	pngHeaderEnd = len(pngSignature) + 12 + 13 // after IHDR

	// Real profiles take a few kilobytes, those of printers a few hundred. A profile is
	// compressed a thousandfold at most, so a 10 kB chunk could claim 10 MB.
	maxProfile = 4 << 20

	// A deflate stream cannot expand further than this.
	maxDeflateRatio = 1032

	// The values that older programs write instead of an sRGB chunk.
	gammaOfSRGB     = "\x00\x00\xb1\x8f"
	primariesOfSRGB = "\x00\x00\x7a\x26\x00\x00\x80\x84\x00\x00\xfa\x00\x00\x00\x80\xe8\x00\x00\x75\x30\x00\x00\xea\x60\x00\x00\x3a\x98\x00\x00\x17\x70"
)

func decodePNG(file []byte) (image.Image, error) { return png.Decode(bytes.NewReader(file)) }

// pngCleaner walks the chunks of a PNG and copies the ones that matter.
type pngCleaner struct {
	parsed
	lim      limits
	seen     map[string]bool
	rowBytes int  // of decompressed data
	data     int  // bytes of compressed data
	unusual  bool // gamma or primaries other than those of sRGB
}

func parsePNG(file []byte, lim limits) (*parsed, error) {
	c := &pngCleaner{lim: lim, seen: map[string]bool{}}
	c.bytes = append(make([]byte, 0, len(file)), pngSignature...)
	for rest := file[len(pngSignature):]; !c.seen["IEND"]; {
		if len(rest) < 12 {
			return nil, errCutOff
		}
		n := binary.BigEndian.Uint32(rest)
		if uint64(n)+12 > uint64(len(rest)) {
			return nil, errCutOff
		}
		chunk := rest[:n+12]
		rest = rest[n+12:]
		if err := c.chunk(string(chunk[4:8]), chunk[8:8+n], chunk); err != nil {
			return nil, err
		}
	}
	if c.data*maxDeflateRatio < (c.rowBytes+1)*c.height {
		return nil, errCutOff
	}
	c.colour.pngOnly = c.seen["cICP"] || c.unusual && c.colour.profile == nil && !c.seen["sRGB"]
	return &c.parsed, nil
}

func (c *pngCleaner) chunk(kind string, body, whole []byte) error {
	if kind != "IHDR" && !c.seen["IHDR"] {
		return damaged(problem.New("png-without-header"))
	}
	repeated := c.seen[kind]
	c.seen[kind] = true
	switch kind {
	case "IHDR":
		if err := c.header(body, repeated); err != nil {
			return err
		}
	case "IDAT":
		c.data += len(body)
	case "PLTE", "tRNS", "IEND":
	case "acTL":
		return animationRefused("PNG")
	case "eXIf":
		if orientationOf(body) > 1 && !repeated {
			c.warnings = append(c.warnings, problem.New(turned))
		}
		return nil
	case "iCCP", "sRGB", "gAMA", "cHRM", "cICP":
		if repeated || c.seen["IDAT"] {
			return nil
		}
		if kind == "iCCP" && !c.readProfile(body) {
			return nil
		}
		c.unusual = c.unusual || kind == "gAMA" && string(body) != gammaOfSRGB ||
			kind == "cHRM" && string(body) != primariesOfSRGB
		c.colour.pngChunks = append(c.colour.pngChunks, whole...)
	default:
		delete(c.seen, kind) // there may be any number of kinds
		if kind[0]&0x20 == 0 {
			return damaged(problem.New("png-critical-part"))
		}
		return nil
	}
	c.bytes = append(c.bytes, whole...)
	return nil
}

func (c *pngCleaner) header(body []byte, repeated bool) error {
	if len(body) != 13 || repeated {
		return damaged(problem.New("wrong-header", "PNG"))
	}
	width, height := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
	if width > 1<<31-1 || height > 1<<31-1 {
		return damaged(problem.New("wrong-header", "PNG"))
	}
	c.width, c.height = int(width), int(height)
	if err := c.lim.check(c.width, c.height); err != nil {
		return err
	}
	samples := 1 // per pixel
	switch body[9] {
	case 2:
		samples = 3
	case 4:
		samples = 2
	case 6:
		samples = 4
	}
	c.rowBytes = c.width * samples * int(body[8]) / 8
	return nil
}

// readProfile reports whether the profile can be decompressed, and keeps it for JPEG
// variants. A browser would ignore one that cannot.
func (c *pngCleaner) readProfile(body []byte) bool {
	name, compressed, found := bytes.Cut(body, []byte{0})
	if found && len(name) < 80 && len(compressed) > 1 {
		z, err := zlib.NewReader(bytes.NewReader(compressed[1:]))
		if err == nil {
			profile, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
			if err == nil && len(profile) <= maxProfile {
				c.colour.profile = profile
				return true
			}
		}
	}
	c.warnings = append(c.warnings, problem.New("profile-removed"))
	return false
}

// animationRefused is the sentence for animated PNG and WebP files. The decoders read
// the first frame at most, so the others cannot be checked; serving only the first
// would silently lose the animation.
func animationRefused(format string) error {
	return problem.New("animated", format)
}

// encodePNG writes the chunks that describe colour right after the header.
func encodePNG(img image.Image, level png.CompressionLevel, colourChunks []byte) ([]byte, error) {
	var encoded bytes.Buffer
	e := png.Encoder{CompressionLevel: level}
	if err := e.Encode(&encoded, img); err != nil {
		return nil, err
	}
	return slices.Insert(encoded.Bytes(), pngHeaderEnd, colourChunks...), nil
}

func profileChunk(profile []byte) []byte {
	var body bytes.Buffer
	body.WriteString("iCCPicc\x00\x00")
	z := zlib.NewWriter(&body)
	z.Write(profile) // a bytes.Buffer never fails
	z.Close()
	chunk := binary.BigEndian.AppendUint32(nil, uint32(body.Len()-4))
	chunk = append(chunk, body.Bytes()...)
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body.Bytes()))
}

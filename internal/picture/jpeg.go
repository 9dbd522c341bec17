package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"strings"

	"palmares/internal/problem"
)

const (
	markerSOF0 = 0xc0
	markerSOF2 = 0xc2
	markerDHT  = 0xc4
	markerRST0 = 0xd0
	markerRST7 = 0xd7
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerDQT  = 0xdb
	markerDRI  = 0xdd
	markerAPP0 = 0xe0
	markerCOM  = 0xfe

	app1, app2, app14, app15 = markerAPP0 + 1, markerAPP0 + 2, markerAPP0 + 14, markerAPP0 + 15

	exifPrefix    = "Exif\x00\x00"
	profilePrefix = "ICC_PROFILE\x00"

	// Every scan visits every block of the picture, so a small file with thousands of
	// scans takes minutes to decode. Encoders write about ten in a progressive file, and
	// one per component otherwise.
	maxScans           = 50
	maxSequentialScans = 4

	turnedQuality = 90

	maxSideOfJPEG       = 1<<16 - 1
	maxProfileInSegment = 65533 - len(profilePrefix) - 2
)

func decodeJPEG(file []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(file)) }

// jpegCleaner walks the segments of a JPEG and copies the ones that matter.
type jpegCleaner struct {
	parsed
	lim         limits
	rest        []byte // not yet read
	progressive bool
	scans       int
	seenJFIF    bool
	profile     map[byte][]byte // parts by number, from 1
	parts       byte
}

func parseJPEG(file []byte, lim limits) (*parsed, error) {
	c := &jpegCleaner{lim: lim, rest: file[2:], profile: map[byte][]byte{}}
	c.bytes = append(make([]byte, 0, len(file)), 0xff, markerSOI)
	for {
		marker, body, ok := c.next()
		if !ok {
			return nil, errCutOff
		}
		if marker == markerEOI {
			break
		}
		if err := c.segment(marker, body); err != nil {
			return nil, err
		}
	}
	if c.width == 0 {
		return nil, damaged(problem.New("no-picture-in-it"))
	}
	c.bytes = append(c.bytes, 0xff, markerEOI)
	for i := byte(1); i <= c.parts; i++ {
		part, ok := c.profile[i]
		if !ok {
			c.colour.profile = nil
			break
		}
		c.colour.profile = append(c.colour.profile, part...)
	}
	return &c.parsed, nil
}

// next returns the next segment. Like other decoders it skips what is between segments.
func (c *jpegCleaner) next() (marker byte, body []byte, ok bool) {
	for {
		i := bytes.IndexByte(c.rest, 0xff)
		if i < 0 {
			return 0, nil, false
		}
		c.rest = skipFill(c.rest[i:])
		if len(c.rest) == 0 {
			return 0, nil, false
		}
		marker, c.rest = c.rest[0], c.rest[1:]
		if marker != 0 && !isRestart(marker) {
			break
		}
	}
	if marker == markerEOI {
		return marker, nil, true
	}
	if len(c.rest) < 2 {
		return 0, nil, false
	}
	n := int(binary.BigEndian.Uint16(c.rest))
	if n < 2 || n > len(c.rest) {
		return 0, nil, false
	}
	body, c.rest = c.rest[2:n], c.rest[n:]
	return marker, body, true
}

// skipFill skips the 0xff before a marker, of which there may be any number.
func skipFill(b []byte) []byte {
	for len(b) > 0 && b[0] == 0xff {
		b = b[1:]
	}
	return b
}

func isRestart(marker byte) bool { return marker >= markerRST0 && marker <= markerRST7 }

func (c *jpegCleaner) segment(marker byte, body []byte) error {
	switch {
	case marker == markerDHT || marker == markerDQT || marker == markerDRI:
		c.write(marker, body)
	case marker == markerSOS:
		return c.scan(body)
	case marker >= markerSOF0 && marker <= 0xcf:
		return c.frame(marker, body)
	case marker >= markerAPP0 && marker <= app15:
		c.application(marker, body)
	case marker == markerCOM:
	default:
		return damaged(problem.New("unknown-jpeg-segment"))
	}
	return nil
}

func (c *jpegCleaner) write(marker byte, body []byte) {
	c.bytes = append(c.bytes, 0xff, marker)
	c.bytes = binary.BigEndian.AppendUint16(c.bytes, uint16(len(body)+2))
	c.bytes = append(c.bytes, body...)
}

func (c *jpegCleaner) frame(marker byte, body []byte) error {
	if marker > markerSOF2 {
		return problem.New("jpeg-kind")
	}
	if len(body) < 6 || c.width != 0 {
		return damaged(problem.New("unexpected-jpeg-frame"))
	}
	if body[0] != 8 {
		return problem.New("jpeg-bits")
	}
	// Browsers convert print colours to screen colours each in its own way, and a
	// conversion without the profile of the press would be visibly wrong.
	if body[5] == 4 {
		return problem.New("jpeg-cmyk")
	}
	c.height, c.width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	c.progressive = marker == markerSOF2
	c.write(marker, body)
	return c.lim.check(c.width, c.height)
}

// scan copies a scan header and the compressed data after it, which ends at the next
// marker that is neither a stuffed 0xff nor a restart.
func (c *jpegCleaner) scan(header []byte) error {
	c.scans++
	if c.scans > maxScans || c.scans > maxSequentialScans && !c.progressive {
		return damaged(problem.New("jpeg-scans"))
	}
	c.write(markerSOS, header)
	end := 0
	for {
		i := bytes.IndexByte(c.rest[end:], 0xff)
		if i < 0 {
			return errCutOff
		}
		end += i
		next := skipFill(c.rest[end:])
		if len(next) == 0 {
			return errCutOff
		}
		if next[0] != 0 && !isRestart(next[0]) {
			break
		}
		end = len(c.rest) - len(next) + 1
	}
	c.bytes = append(c.bytes, c.rest[:end]...)
	c.rest = c.rest[end:]
	return nil
}

// application keeps what says how the numbers become colours: JFIF and Adobe headers,
// cut to their fixed length so that no thumbnail stays, and the ICC profile.
func (c *jpegCleaner) application(marker byte, body []byte) {
	starts := func(prefix string, length int) bool {
		return len(body) >= length && strings.HasPrefix(string(body[:length]), prefix)
	}
	switch {
	case marker == markerAPP0 && starts("JFIF\x00", 14) && !c.seenJFIF:
		c.seenJFIF = true
		header := bytes.Clone(body[:14])
		header[12], header[13] = 0, 0 // size of the thumbnail
		c.write(marker, header)
	case marker == app14 && starts("Adobe", 12):
		c.write(marker, body[:12])
	case marker == app1 && starts(exifPrefix, len(exifPrefix)) && c.orientation == 0 && c.scans == 0:
		c.orientation = orientationOf(body[len(exifPrefix):])
	case marker == app2 && starts(profilePrefix, len(profilePrefix)+2):
		c.write(marker, body)
		part := body[len(profilePrefix):]
		c.profile[part[0]], c.parts = part[2:], part[1]
	}
}

// turnJPEG replaces a picture that its EXIF data turns by one that is stored upright.
func turnJPEG(in *parsed) error {
	stored, err := decodeJPEG(in.bytes)
	if err != nil {
		return damaged(err)
	}
	upright := turn(stored, in.orientation)
	in.bytes, err = encodeJPEG(upright, turnedQuality, in.colour.profile)
	in.width, in.height = upright.Bounds().Dx(), upright.Bounds().Dy()
	return err
}

// encodeJPEG writes the profile right after the start, in as many segments as it needs.
func encodeJPEG(img image.Image, quality int, profile []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	encoded := b.Bytes()
	parts := (len(profile) + maxProfileInSegment - 1) / maxProfileInSegment
	if parts == 0 || parts > 255 {
		return encoded, nil
	}
	c := &jpegCleaner{}
	c.bytes = append(make([]byte, 0, len(encoded)+len(profile)+parts*18), 0xff, markerSOI)
	for i := range parts {
		part := profile[i*maxProfileInSegment : min((i+1)*maxProfileInSegment, len(profile))]
		c.write(app2, append([]byte(profilePrefix+string([]byte{byte(i + 1), byte(parts)})), part...))
	}
	return append(c.bytes, encoded[2:]...), nil
}

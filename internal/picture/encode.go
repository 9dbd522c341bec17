package picture

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/bits"
)

const (
	maxSideOfJPEG       = 1<<16 - 1
	maxProfileInSegment = 65533 - len(profilePrefix) - 2
)

// encodeJPEG writes the profile right after the start, in as many segments as it needs.
func encodeJPEG(img image.Image, quality int, profile []byte) ([]byte, error) {
	encoded, err := encodeBare(img, quality)
	if err != nil {
		return nil, err
	}
	parts := (len(profile) + maxProfileInSegment - 1) / maxProfileInSegment
	if parts == 0 || parts > 255 {
		return encoded, nil
	}
	c := &jpegCopy{}
	c.bytes = append(make([]byte, 0, len(encoded)+len(profile)+parts*18), 0xff, markerSOI)
	for i := range parts {
		part := profile[i*maxProfileInSegment : min((i+1)*maxProfileInSegment, len(profile))]
		c.write(app2, append([]byte(profilePrefix+string([]byte{byte(i + 1), byte(parts)})), part...))
	}
	return append(c.bytes, encoded[2:]...), nil
}

func encodeBare(img image.Image, quality int) ([]byte, error) {
	if m, ok := img.(*image.YCbCr); ok && m.SubsampleRatio == image.YCbCrSubsampleRatio420 {
		return encodePlanes(rasterOf(m, false), quality)
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

// jpegWriter encodes luma and chroma planes as a JPEG, with the tables of image/jpeg. That
// package takes more than twice as long for it, which was a third of the time of a
// publication with many photographs.
type jpegWriter struct {
	out      []byte
	bits     uint64 // not yet written, in the lowest count bits
	count    uint
	codes    [2][2][256]huffmanCode // of luma and chroma, of the first and the other coefficients
	divisors [2][64]int64           // in the order of the file, inverted, with divisorBits of fraction
}

type huffmanCode struct{ code, bits uint16 }

const (
	divisorBits = 32
	sampleBits  = 3 // of fraction, while samples are transformed
)

// encodePlanes returns a JPEG of three planes, of which chroma has half the size.
func encodePlanes(r *raster, quality int) ([]byte, error) {
	w, err := newJPEGWriter(r.width, r.height, quality)
	if err != nil {
		return nil, err
	}
	var last [3]int
	for y := 0; y < r.height; y += 16 {
		for x := 0; x < r.width; x += 16 {
			for i := range 4 {
				last[0] = w.block(r.planes[0], x+i%2*8, y+i/2*8, 0, last[0])
			}
			last[1] = w.block(r.planes[1], x/2, y/2, 1, last[1])
			last[2] = w.block(r.planes[2], x/2, y/2, 1, last[2])
		}
	}
	w.put(0x7f, 7) // fills the last byte
	return append(w.out, 0xff, markerEOI), nil
}

// newJPEGWriter takes tables and header from a tiny picture that image/jpeg encodes.
func newJPEGWriter(width, height, quality int) (*jpegWriter, error) {
	var tiny bytes.Buffer
	err := jpeg.Encode(&tiny, image.NewYCbCr(image.Rect(0, 0, 1, 1), image.YCbCrSubsampleRatio420), &jpeg.Options{Quality: quality})
	if err != nil {
		return nil, err
	}
	w := &jpegWriter{}
	in, out := &jpegCopy{rest: tiny.Bytes()[2:]}, &jpegCopy{}
	out.bytes = append(make([]byte, 0, width*height/4), 0xff, markerSOI)
	for {
		marker, body, ok := in.next()
		if !ok {
			return nil, errCutOff
		}
		switch marker {
		case markerSOF0:
			body = bytes.Clone(body)
			body[1], body[2], body[3], body[4] = byte(height>>8), byte(height), byte(width>>8), byte(width)
		case markerDQT:
			w.setDivisors(body)
		case markerDHT:
			w.setCodes(body)
		}
		out.write(marker, body)
		if marker == markerSOS {
			w.out = out.bytes
			return w, nil
		}
	}
}

// scaleOfDCT is by how much the results of transform are too large, in 1/2^14: the square
// root of two times the cosine of k·π/16, except for k = 0.
var scaleOfDCT = [8]int64{16384, 22725, 21407, 19266, 16384, 12873, 8867, 4520}

// zigzag is the place in a block of each coefficient in a file.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

func (w *jpegWriter) setDivisors(tables []byte) {
	for ; len(tables) >= 65; tables = tables[65:] {
		for i, at := range zigzag {
			divisor := int64(tables[1+i]) * scaleOfDCT[at/8] * scaleOfDCT[at%8] << (3 + sampleBits)
			w.divisors[tables[0]&1][i] = (1<<(divisorBits+28) + divisor/2) / divisor
		}
	}
}

func (w *jpegWriter) setCodes(tables []byte) {
	for len(tables) > 17 {
		codes := &w.codes[tables[0]&1][tables[0]>>4&1]
		lengths, values := tables[1:17], tables[17:]
		code := uint16(0)
		for i, n := range lengths {
			for range n {
				codes[values[0]] = huffmanCode{code, uint16(i + 1)}
				values = values[1:]
				code++
			}
			code <<= 1
		}
		tables = values
	}
}

// put writes the lowest n bits. A byte of ones is followed by a zero, so that it is not
// taken for a marker.
func (w *jpegWriter) put(bits uint64, n uint) {
	w.bits = w.bits<<n | bits
	for w.count += n; w.count >= 8; {
		w.count -= 8
		b := byte(w.bits >> w.count)
		w.out = append(w.out, b)
		if b == 0xff {
			w.out = append(w.out, 0)
		}
	}
}

// putValue writes a code for symbol and the size of v, then v. Negative numbers are
// written as one less in two's complement.
func (w *jpegWriter) putValue(codes *[256]huffmanCode, zeros, v int) {
	size := uint(bits.Len(uint(max(v, -v))))
	if v < 0 {
		v--
	}
	c := codes[uint(zeros)<<4|size]
	w.put(uint64(c.code)<<size|uint64(v)&(1<<size-1), uint(c.bits)+size)
}

// block writes 8 × 8 samples and returns the first coefficient, of which the next block
// writes the difference.
func (w *jpegWriter) block(p plane, x, y, kind, last int) int {
	var b [64]int
	load(&b, p, x, y)
	for i := 0; i < 64; i += 8 {
		transform(&b, i, 1)
	}
	for i := range 8 {
		transform(&b, i, 8)
	}
	divisors, codes := &w.divisors[kind], &w.codes[kind][1]
	zeros := 0
	first := quantise(b[0], divisors[0])
	w.putValue(&w.codes[kind][0], 0, first-last)
	for i := 1; i < 64; i++ {
		v := quantise(b[zigzag[i]&63], divisors[i])
		if v == 0 {
			zeros++
			continue
		}
		for ; zeros > 15; zeros -= 16 {
			w.put(uint64(codes[0xf0].code), uint(codes[0xf0].bits))
		}
		w.putValue(codes, zeros, v)
		zeros = 0
	}
	if zeros > 0 {
		w.put(uint64(codes[0].code), uint(codes[0].bits)) // the rest is zero
	}
	return first
}

// quantise divides by an inverted divisor, rounding to the nearest.
func quantise(v int, divisor int64) int {
	return int((int64(v)*divisor + 1<<(divisorBits-1)) >> divisorBits)
}

// load reads a block. Outside the plane its last row and column are repeated.
func load(b *[64]int, p plane, x, y int) {
	for i := range 8 {
		row := p.row(min(y+i, p.height-1))
		out := b[8*i : 8*i+8]
		if x+8 <= len(row) {
			for j, v := range row[x : x+8] {
				out[j] = (int(v) - 128) << sampleBits
			}
			continue
		}
		for j := range out {
			out[j] = (int(row[min(x+j, len(row)-1)]) - 128) << sampleBits
		}
	}
}

// transform is the cosine transform of Arai, Agui and Nakajima, of 8 numbers at the given
// distance. It needs five multiplications, and leaves the rest to the divisors.
func transform(b *[64]int, at, step int) {
	const fraction = 12
	times := func(v, factor int) int { return (v*factor + 1<<(fraction-1)) >> fraction }
	const (
		c4   = 2896 // cos(4π/16), in 1/4096
		c6   = 1567 // cos(6π/16)
		c2m6 = 2217 // cos(2π/16) - cos(6π/16)
		c2p6 = 5352 // cos(2π/16) + cos(6π/16)
	)
	// The masks tell the compiler that no index is out of range.
	i0, i1, i2, i3 := at&63, (at+step)&63, (at+2*step)&63, (at+3*step)&63
	i4, i5, i6, i7 := (at+4*step)&63, (at+5*step)&63, (at+6*step)&63, (at+7*step)&63
	s0, d0 := b[i0]+b[i7], b[i0]-b[i7]
	s1, d1 := b[i1]+b[i6], b[i1]-b[i6]
	s2, d2 := b[i2]+b[i5], b[i2]-b[i5]
	s3, d3 := b[i3]+b[i4], b[i3]-b[i4]

	e0, e3 := s0+s3, s0-s3
	e1, e2 := s1+s2, s1-s2
	b[i0], b[i4] = e0+e1, e0-e1
	z1 := times(e2+e3, c4)
	b[i2], b[i6] = e3+z1, e3-z1

	o0, o1, o2 := d3+d2, d2+d1, d1+d0
	z5 := times(o0-o2, c6)
	z2, z4, z3 := times(o0, c2m6)+z5, times(o2, c2p6)+z5, times(o1, c4)
	y0, y1 := d0+z3, d0-z3
	b[i5], b[i3] = y1+z2, y1-z2
	b[i1], b[i7] = y0+z4, y0-z4
}

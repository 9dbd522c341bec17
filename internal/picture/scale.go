package picture

import "encoding/binary"

// scale returns the picture in a smaller size.
func (r *raster) scale(width, height int) *raster {
	small := &raster{width: width, height: height, luma: r.luma}
	for i, p := range r.planes {
		subX, subY := 1, 1
		if r.luma && i > 0 {
			subX, subY = 2, 2 // what the JPEG encoder writes
		}
		w, h := (width+subX-1)/subX, (height+subY-1)/subY
		columns, rows := ratioOf(r.width*subX, width*p.subX), ratioOf(r.height*subY, height*p.subY)
		p = p.resizeRows(h, rows, false).resizeRows(w, columns, true)
		p.subX, p.subY = subX, subY
		if r.videoRange {
			table := stretched(i > 0)
			for j, v := range p.pix {
				p.pix[j] = table[v]
			}
		}
		small.planes = append(small.planes, p)
	}
	return small
}

// ratio is a size before scaling over the size after it.
type ratio struct{ from, to int64 }

func ratioOf(from, to int) ratio { return ratio{int64(from), int64(to)} }

// resizeRows returns the plane with n rows, transposed. Calling it twice scales both
// directions, and the inner loops only ever work on whole rows, eight samples in a
// machine word. Rows are averaged in pairs as long as that is not too much, then
// resampled. up says how averages are rounded: up in one direction and down in the
// other, so that the picture gets neither lighter nor darker.
func (p plane) resizeRows(n int, r ratio, up bool) plane {
	for r.from >= 2*r.to && p.height > 1 {
		p = p.halveRows(up)
		r.to *= 2
	}
	if r.from == r.to && p.height == n {
		t := newPlane(p.height, p.width)
		p.transpose(t, 0)
		return t
	}
	return p.resampleRows(n, r)
}

// halveRows averages pairs of rows. The last of an odd number of rows is its own pair.
func (p plane) halveRows(up bool) plane {
	half := newPlane(p.width, (p.height+1)/2)
	const low7 = 0x7f7f7f7f7f7f7f7f
	for y := range half.height {
		a, b, out := p.row(2*y), p.row(min(2*y+1, p.height-1)), half.row(y)
		for len(out) >= 8 && len(a) >= 8 && len(b) >= 8 {
			u, v := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
			mean := u&v + (u^v)>>1&low7
			if up {
				mean = (u | v) - (u^v)>>1&low7
			}
			binary.LittleEndian.PutUint64(out, mean)
			a, b, out = a[8:], b[8:], out[8:]
		}
		for x := range out {
			sum := int(a[x]) + int(b[x])
			if up {
				sum++
			}
			out[x] = byte(sum / 2)
		}
	}
	return half
}

// transpose makes the rows of p columns of t, from the given one on. It copies tiles of
// 8 × 8 samples, so that memory is read and written in words.
func (p plane) transpose(t plane, column int) {
	y := 0
	for ; y+8 <= p.height; y += 8 {
		x := 0
		for ; x+8 <= p.width; x += 8 {
			var tile [8]uint64
			for i := range tile {
				tile[i] = binary.LittleEndian.Uint64(p.pix[(y+i)*p.stride+x:])
			}
			transposeTile(&tile)
			for i, word := range tile {
				binary.LittleEndian.PutUint64(t.pix[(x+i)*t.stride+column+y:], word)
			}
		}
		p.transposePart(t, column, x, p.width, y, y+8)
	}
	p.transposePart(t, column, 0, p.width, y, p.height)
}

func (p plane) transposePart(t plane, column, x0, x1, y0, y1 int) {
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			t.pix[x*t.stride+column+y] = p.pix[y*p.stride+x]
		}
	}
}

// transposeTile exchanges the halves of pairs of rows, then the quarters, then single
// samples.
func transposeTile(tile *[8]uint64) {
	for i := range 4 {
		a, b := tile[i], tile[i+4]
		tile[i], tile[i+4] = a&0x00000000ffffffff|b<<32, a>>32|b&0xffffffff00000000
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		a, b := tile[i], tile[i+2]
		tile[i], tile[i+2] = a&0x0000ffff0000ffff|b&0x0000ffff0000ffff<<16, a>>16&0x0000ffff0000ffff|b&0xffff0000ffff0000
	}
	for _, i := range [4]int{0, 2, 4, 6} {
		a, b := tile[i], tile[i+1]
		tile[i], tile[i+1] = a&evenBytes|b&evenBytes<<8, a>>8&evenBytes|b&(evenBytes<<8)
	}
}

const (
	// Four sums share a word, so each has 16 bits: 8 of the sample, 7 of the weight, and
	// one that shows that the filter went below 0 or above 255.
	weightBits = 7
	evenBytes  = 0x00ff00ff00ff00ff
	everySum   = 0x0001000100010001
	signBits   = 0x8000800080008000
)

// resampleRows computes n rows with the Catmull-Rom filter, and returns them transposed.
func (p plane) resampleRows(n int, r ratio) plane {
	out := newPlane(n, p.width)
	rows := newPlane(p.width, 8) // computed, not yet transposed
	words := (p.width + 7) / 8
	even, odd := make([]uint64, words), make([]uint64, words)
	var weights []int64
	for y := range n {
		const half = 1 << (weightBits - 1) // for rounding
		for i := range words {
			even[i], odd[i] = half*everySum, half*everySum
		}
		var first int
		first, weights = catmullRom(weights[:0], y, r)
		for k := 0; k < len(weights); k += 2 {
			a, b := p.row(min(max(first+k, 0), p.height-1)), p.row(min(max(first+k+1, 0), p.height-1))
			addRows(even, odd, a, b, uint64(weights[k]), uint64(weights[k+1]))
		}
		storeRow(rows.row(y%8), even, odd)
		if y%8 == 7 || y == n-1 {
			rows.height = y%8 + 1
			rows.transpose(out, y-y%8)
		}
	}
	return out
}

// addRows adds two rows times their weights to the sums. All is modulo 2^64, so negative
// weights and sums wrap around; clamp repairs what a negative sum takes from the next one.
func addRows(even, odd []uint64, a, b []byte, weightA, weightB uint64) {
	i := 0
	for ; len(a) >= 8 && len(b) >= 8; i++ {
		u, v := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		even[i] += u&evenBytes*weightA + v&evenBytes*weightB
		odd[i] += u>>8&evenBytes*weightA + v>>8&evenBytes*weightB
		a, b = a[8:], b[8:]
	}
	if len(a) > 0 {
		var lastA, lastB [8]byte
		copy(lastA[:], a)
		copy(lastB[:], b)
		addRows(even[i:], odd[i:], lastA[:], lastB[:], weightA, weightB)
	}
}

// storeRow writes the samples that the sums stand for.
func storeRow(row []byte, even, odd []uint64) {
	for i, e := range even {
		o := odd[i]
		if (e|o)&signBits != 0 {
			e, o = clamp(e), clamp(o)
		}
		samples := e>>weightBits&evenBytes | o<<(8-weightBits)&(evenBytes<<8)
		if len(row) < 8 {
			var last [8]byte
			binary.LittleEndian.PutUint64(last[:], samples)
			copy(row, last[:])
			return
		}
		binary.LittleEndian.PutUint64(row, samples)
		row = row[8:]
	}
}

// clamp limits four sums to what a sample can hold.
func clamp(sums uint64) (clamped uint64) {
	for shift := 0; shift < 64; shift += 16 {
		// As a signed number the sum is between -64 and 320 times a weight of one, so 0x8000 to 0xbfff are
		// too large, and what is above is negative.
		sum := uint16(sums)
		sums >>= 16
		switch {
		case sum >= 0xc000:
			sums++ // a negative sum borrowed from the next
			sum = 0
		case sum >= 0x8000:
			sum = 0x7fff
		}
		clamped |= uint64(sum) << shift
	}
	return clamped
}

// catmullRom appends the weights for output sample i to list, an even number of them, and
// returns the index of the input sample that the first one is for.
func catmullRom(list []int64, i int, r ratio) (first int, weights []int64) {
	// The middle of input sample j is at j+½, that of output sample i at (i+½)·from/to. All
	// distances are in units of 1/(2·to). The filter reaches two input samples when it
	// enlarges, and two output samples when it reduces.
	unit := 2 * max(r.from, r.to)
	middle := (2*int64(i) + 1) * r.from
	start, end := floorDiv(middle-2*unit, 2*r.to), floorDiv(middle+2*unit, 2*r.to)
	const one = 1 << 16
	total := int64(0)
	for j := start; j <= end; j++ {
		distance := (2*j+1)*r.to - middle
		t := max(distance, -distance) * one / unit
		w := int64(0)
		switch {
		case t < one:
			w = one + t*t/one*(3*t-5*one)/(2*one)
		case t < 2*one:
			w = 2*one - 4*t + t*t/one*(5*one-t)/(2*one)
		}
		list = append(list, w)
		total += w
	}
	// Weights must add up to exactly one, or plain surfaces change colour. What rounding
	// loses goes to the largest weight.
	const sum = 1 << weightBits
	left, largest := int64(sum), 0
	for k, w := range list {
		list[k] = floorDiv(2*w*sum+total, 2*total)
		left -= list[k]
		if list[k] > list[largest] {
			largest = k
		}
	}
	list[largest] += left
	if len(list)%2 == 1 {
		list = append(list, 0)
	}
	return int(start), list
}

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

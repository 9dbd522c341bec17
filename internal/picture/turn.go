package picture

import (
	"image"
	"image/draw"
)

// turn returns the picture that is stored in the given EXIF orientation upright.
func turn(stored image.Image, orientation int) image.Image {
	switch m := stored.(type) {
	case *image.Gray:
		w, h := m.Rect.Dx(), m.Rect.Dy()
		upright := image.NewGray(turnedRect(w, h, orientation))
		turnPixels(upright.Pix, upright.Stride, m.Pix, m.Stride, 1, w, h, orientation)
		return upright
	case *image.YCbCr:
		if upright := turnYCbCr(m, orientation); upright != nil {
			return upright
		}
	}
	m, ok := stored.(*image.RGBA)
	if !ok {
		m = image.NewRGBA(stored.Bounds())
		draw.Draw(m, m.Rect, stored, m.Rect.Min, draw.Src)
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	upright := image.NewRGBA(turnedRect(w, h, orientation))
	turnPixels(upright.Pix, upright.Stride, m.Pix, m.Stride, 4, w, h, orientation)
	return upright
}

// turnYCbCr turns each plane by itself. It returns nil when the pixels that share a
// chroma sample would not share one afterwards.
func turnYCbCr(m *image.YCbCr, orientation int) *image.YCbCr {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	subX, subY := subsampling(m.SubsampleRatio)
	if w%subX != 0 || h%subY != 0 {
		return nil
	}
	ratio := m.SubsampleRatio
	if orientation > 4 {
		switch ratio {
		case image.YCbCrSubsampleRatio422:
			ratio = image.YCbCrSubsampleRatio440
		case image.YCbCrSubsampleRatio440:
			ratio = image.YCbCrSubsampleRatio422
		case image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio420:
		default:
			return nil
		}
	}
	upright := image.NewYCbCr(turnedRect(w, h, orientation), ratio)
	turnPixels(upright.Y, upright.YStride, m.Y, m.YStride, 1, w, h, orientation)
	turnPixels(upright.Cb, upright.CStride, m.Cb, m.CStride, 1, w/subX, h/subY, orientation)
	turnPixels(upright.Cr, upright.CStride, m.Cr, m.CStride, 1, w/subX, h/subY, orientation)
	return upright
}

func turnedRect(w, h, orientation int) image.Rectangle {
	if orientation > 4 {
		w, h = h, w
	}
	return image.Rect(0, 0, w, h)
}

// turnPixels copies w × h pixels of the given number of bytes.
func turnPixels(dst []byte, dstStride int, src []byte, srcStride, size, w, h, orientation int) {
	// The pixel of src that becomes pixel x, y of dst is at start + x*stepX + y*stepY.
	right, down := size, srcStride
	lastX, lastY := (w-1)*right, (h-1)*down
	var start, stepX, stepY int
	switch orientation {
	case 2:
		start, stepX, stepY = lastX, -right, down
	case 3:
		start, stepX, stepY = lastX+lastY, -right, -down
	case 4:
		start, stepX, stepY = lastY, right, -down
	case 5:
		start, stepX, stepY = 0, down, right
	case 6:
		start, stepX, stepY = lastY, -down, right
	case 7:
		start, stepX, stepY = lastX+lastY, -down, -right
	case 8:
		start, stepX, stepY = lastX, down, -right
	default:
		start, stepX, stepY = 0, right, down
	}
	if orientation > 4 {
		w, h = h, w
	}
	for y := range h {
		row, from := dst[y*dstStride:], start+y*stepY
		for x := range w {
			if size == 1 {
				row[x] = src[from]
			} else {
				copy(row[x*size:(x+1)*size], src[from:])
			}
			from += stepX
		}
	}
}

// subsampling returns how many pixels share a chroma sample in each direction.
func subsampling(ratio image.YCbCrSubsampleRatio) (x, y int) {
	switch ratio {
	case image.YCbCrSubsampleRatio422:
		return 2, 1
	case image.YCbCrSubsampleRatio420:
		return 2, 2
	case image.YCbCrSubsampleRatio440:
		return 1, 2
	case image.YCbCrSubsampleRatio411:
		return 4, 1
	case image.YCbCrSubsampleRatio410:
		return 4, 2
	}
	return 1, 1
}

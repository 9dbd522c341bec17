package picture

import "encoding/binary"

// turned is the code of the warning for formats other than JPEG. Browsers do not agree on whether
// they rotate those, so the picture is kept as it is stored. EXIF data is removed from
// every format by not being copied; see jpegCleaner and its like.
const turned = "picture-turned"

// orientationOf returns the orientation in EXIF data, 1 to 8, or 1 if there is
// none. It reads the first directory only, as browsers do.
func orientationOf(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	start := int64(order.Uint32(tiff[4:]))
	if start+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[start+2:]
	for range order.Uint16(tiff[start:]) {
		if len(entries) < 12 {
			break
		}
		const orientation, short = 0x0112, 3
		tag, kind, count := order.Uint16(entries), order.Uint16(entries[2:]), order.Uint32(entries[4:])
		if tag == orientation {
			if value := order.Uint16(entries[8:]); kind == short && count == 1 && value >= 1 && value <= 8 {
				return int(value)
			}
			break
		}
		entries = entries[12:]
	}
	return 1
}

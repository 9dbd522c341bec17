//go:build !race

package quota

const raceDetector = false

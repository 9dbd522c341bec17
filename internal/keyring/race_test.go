//go:build race

package keyring

const raceDetector = true

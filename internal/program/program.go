// Package program identifies the program that runs.
package program

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"sync"
)

// Digest returns the SHA-256 of the program that runs, whose file may have been replaced
// since it was started, in hexadecimal. Only Linux has it under a name: elsewhere Digest
// returns an error.
var Digest = sync.OnceValues(func() (string, error) {
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
})

// Package remote publishes a content folder on a server elsewhere. It holds both ends:
// Handler, which the server mounts at /publish/v1/, and Client, which the command uses.
//
// The client asks what is published, to find out whether its folder is stale, and which
// pictures the server lacks. Then it sends the folder as one tar stream, compressed with
// zstd: everything that content.Read looks at, and nothing else. The server unpacks it
// into a temporary folder and publishes that as the command does with a folder of its own, a
// stale one only if it changes nothing. The response has one JSON object per line: progress,
// findings and the report, which the client shows as the command would have.
//
// Nothing is sent before it is certain that the folder is acceptable and that no other
// publication is in the way, so the status of the response is honest: with 200 the folder
// is being stored, and the last line says how that ended. A response without a last line is
// a broken connection, and the client says that it does not know.
//
// The sentences of this protocol are English: the command shows them.
package remote

import (
	"time"

	"palmares/internal/problem"
	"palmares/internal/publication"
)

// The paths of the protocol. GET and POST of the catalogue ask what is published and
// publish.
const (
	prefix        = "/publish/"
	cataloguePath = prefix + "v1/catalogue"
	picturesPath  = prefix + "v1/pictures"
	versionsPath  = prefix + "v1/versions" // and versionsPath/N, what a version changed
	plannedPath   = prefix + "v1/planned"
	revertPath    = prefix + "v1/revert"
)

// linesType is the type of the response to a publication.
const linesType = "application/x-ndjson"

// checksumRecord is the PAX record of a picture that the server has: the SHA-256 of its
// file. The entry itself is empty.
const checksumRecord = "PALMARES.sha256"

// maxPictures is how many pictures one request may ask about, and maxQuestion how many
// bytes that takes.
const (
	maxPictures = 100_000
	maxQuestion = 8 << 20
)

// limits bound one upload.
type limits struct {
	bytes   int64         // of all files together
	entries int           // files and folders
	stream  int64         // bytes of the unpacked stream, headers included
	stall   time.Duration // without a byte
	total   time.Duration
}

// uploadLimits allow the two million records that a folder may have, one file each.
var uploadLimits = limits{
	bytes: 2 << 30, entries: 2_100_000, stream: 8 << 30, stall: 30 * time.Second, total: time.Hour,
}

// A message is one line of a response. It has one field.
type message struct {
	Progress *progress            `json:"progress,omitempty"`
	Finding  *publication.Finding `json:"finding,omitempty"`
	Line     *problem.Text        `json:"line,omitempty"` // of the report
	Done     *done                `json:"done,omitempty"`
	Error    *failure             `json:"error,omitempty"`
}

type progress struct {
	Stage string `json:"stage"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

type done struct {
	Version int64 `json:"version"`
}

type failure struct {
	Message problem.Text `json:"message"`
}

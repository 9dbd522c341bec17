package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
	"palmares/internal/wire"
)

// An embeddingsEntry says what an embeddings document contains, without its texts.
type embeddingsEntry struct {
	Slug string `json:"slug"`
	Hash string `json:"hash"`
	// MetadataHash is the hash of the metadata of all chunks, each as compact JSON and a
	// line feed.
	MetadataHash string       `json:"metadata_hash"`
	ChunkCount   int          `json:"chunk_count"`
	Chunks       []chunkEntry `json:"chunks"`
}

// A chunkEntry says what a chunk is: its UID is that of its tool and of its section.
type chunkEntry struct {
	UID      string `json:"uid"`
	Hash     string `json:"hash"` // of its text
	Position int    `json:"position"`
}

func entryOf(doc *catalog.EmbeddingsDoc) embeddingsEntry {
	entry := embeddingsEntry{
		Slug: doc.Slug, Hash: doc.Hash, ChunkCount: doc.ChunkCount, Chunks: make([]chunkEntry, len(doc.Chunks)),
	}
	metadata := []byte(nil)
	for i, chunk := range doc.Chunks {
		entry.Chunks[i] = chunkEntry{
			UID: doc.Slug + "#" + chunk.ID, Hash: sum([]byte(chunk.Text)), Position: chunk.Metadata.Position,
		}
		metadata = append(wire.AppendJSON(metadata, chunk.Metadata), '\n')
	}
	entry.MetadataHash = sum(metadata)
	return entry
}

func sum(b []byte) string {
	digest := sha256.Sum256(b)
	return "sha256-" + hex.EncodeToString(digest[:])
}

// renderEmbeddings renders the documents of the top set, and the list of them by slug.
func (s *Snapshot) renderEmbeddings(c *catalog.Catalog) {
	top := c.TopSet()
	entries := make([]embeddingsEntry, len(top))
	s.embeddings.made = make([]fragment, len(top))
	for k, i := range top {
		t := c.Tools[i]
		doc := c.EmbeddingsDoc(t, markdown.Sections(t.Body))
		s.embeddingsBySlug[t.Slug] = int32(k)
		s.embeddings.made[k], entries[k] = newFragment(nil, doc), entryOf(&doc)
	}
	if len(top) > 0 {
		s.EmbeddingsSlug = c.Tools[top[0]].Slug
	}
	slices.SortFunc(entries, func(a, b embeddingsEntry) int { return strings.Compare(a.Slug, b.Slug) })
	var list struct {
		Data []embeddingsEntry `json:"data"`
		Meta struct {
			Total int `json:"total"`
		} `json:"meta"`
	}
	list.Data, list.Meta.Total = entries, len(entries)
	s.embeddingsList = newFragment(nil, list)
}

// EmbeddingsList returns the body of the list of all embeddings documents, by slug: their
// hashes and those of their chunks.
func (s *Snapshot) EmbeddingsList() wire.Body { return s.embeddingsList.body() }

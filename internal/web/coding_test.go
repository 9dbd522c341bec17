package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"palmares/internal/web"
	"palmares/internal/wire"
)

func TestTheCallerChoosesTheCoding(t *testing.T) {
	for _, test := range []struct {
		lines []string
		want  web.Coding
	}{
		{nil, web.Identity},
		{[]string{""}, web.Identity},
		{[]string{"gzip"}, web.Gzip},
		{[]string{"x-gzip"}, web.Gzip},
		{[]string{"gzip, deflate, br, zstd"}, web.Brotli},
		{[]string{"gzip", "zstd"}, web.Zstd},
		{[]string{"br;q=0.5, gzip;q=0.8"}, web.Gzip},
		{[]string{"BR;Q=1"}, web.Brotli},
		{[]string{"*"}, web.Brotli},
		{[]string{"*, br;q=0"}, web.Zstd},
		{[]string{"identity;q=1, gzip;q=0.5"}, web.Identity},
		{[]string{"gzip;q=0"}, web.Identity},
		{[]string{"gzip;q=2, br;q=x, zstd;level=3"}, web.Identity},
		{[]string{"gzip;q=0x1p-1, br;q=+1, zstd;q=1e-1"}, web.Identity},
		{[]string{"snappy"}, web.Identity},
	} {
		if got := web.ChooseCoding(test.lines, web.Brotli); got != test.want {
			t.Errorf("%q chooses %v, not %v", test.lines, got.Header(), test.want.Header())
		}
	}
}

func TestATagNamesABodyInOneCoding(t *testing.T) {
	d := wire.Digest{1, 2, 0xff}
	tags := map[string]bool{}
	for _, c := range []web.Coding{web.Identity, web.Gzip, web.Zstd, web.Brotli} {
		tag := web.Tag(d, c)
		tags[tag] = true
		for _, lines := range [][]string{{tag}, {"W/" + tag}, {`"x", ` + tag}, {`"x"`, tag}, {"*"}, {",, " + tag}} {
			if !web.MatchesTag(lines, tag) {
				t.Errorf("%q does not match %s", lines, tag)
			}
		}
		for _, lines := range [][]string{nil, {""}, {`"x"`}, {tag[:len(tag)-1]}, {tag[1 : len(tag)-1]}, {"x" + tag}, {"w/" + tag}} {
			if web.MatchesTag(lines, tag) {
				t.Errorf("%q matches %s", lines, tag)
			}
		}
	}
	if len(tags) != 4 {
		t.Errorf("four codings, the tags %v", tags)
	}
}

// parts counts how often a body is assembled.
type parts struct {
	bytes []byte
	count int
}

func (p *parts) Append(b []byte) []byte {
	p.count++
	return append(b, p.bytes...)
}

func TestABodyIsCompressedOnce(t *testing.T) {
	body := bytes.Repeat([]byte("du texte "), 1000)
	compressor := web.NewCompressor()
	read := map[web.Coding]func(io.Reader) (io.Reader, error){
		web.Gzip:   func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		web.Zstd:   func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		web.Brotli: func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	}
	for c, reader := range read {
		p := &parts{bytes: body}
		b := wire.NewParts(wire.Sum(body), p)
		first := compressor.Compress(b, c)
		if again := compressor.Compress(b, c); p.count != 1 || !bytes.Equal(first, again) {
			t.Errorf("%v: the body was assembled %d times", c.Header(), p.count)
		}
		from, err := reader(bytes.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(from); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%v: decoding returns other bytes, or %v", c.Header(), err)
		}
	}
}

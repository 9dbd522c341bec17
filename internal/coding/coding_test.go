package coding_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"palmares/internal/coding"
)

func TestTheCallerChoosesTheCoding(t *testing.T) {
	for _, test := range []struct {
		lines []string
		want  coding.Coding
	}{
		{nil, coding.Identity},
		{[]string{""}, coding.Identity},
		{[]string{"gzip"}, coding.Gzip},
		{[]string{"x-gzip"}, coding.Gzip},
		{[]string{"gzip, deflate, br, zstd"}, coding.Brotli},
		{[]string{"gzip", "zstd"}, coding.Zstd},
		{[]string{"br;q=0.5, gzip;q=0.8"}, coding.Gzip},
		{[]string{"BR;Q=1"}, coding.Brotli},
		{[]string{"*"}, coding.Brotli},
		{[]string{"*, br;q=0"}, coding.Zstd},
		{[]string{"identity;q=1, gzip;q=0.5"}, coding.Identity},
		{[]string{"gzip;q=0"}, coding.Identity},
		{[]string{"gzip;q=2, br;q=x, zstd;level=3"}, coding.Identity},
		{[]string{"snappy"}, coding.Identity},
	} {
		if got := coding.Choose(test.lines); got != test.want {
			t.Errorf("%q chooses %v, not %v", test.lines, got.Header(), test.want.Header())
		}
	}
}

func TestATagNamesABodyInOneCoding(t *testing.T) {
	d := coding.Digest{1, 2, 0xff}
	tags := map[string]bool{}
	for _, c := range []coding.Coding{coding.Identity, coding.Gzip, coding.Zstd, coding.Brotli} {
		tag := coding.Tag(d, c)
		tags[tag] = true
		for _, lines := range [][]string{{tag}, {"W/" + tag}, {`"x", ` + tag}, {`"x"`, tag}, {"*"}, {",, " + tag}} {
			if !coding.Matches(lines, tag) {
				t.Errorf("%q does not match %s", lines, tag)
			}
		}
		for _, lines := range [][]string{nil, {""}, {`"x"`}, {tag[:len(tag)-1]}, {tag[1 : len(tag)-1]}, {"x" + tag}, {"w/" + tag}} {
			if coding.Matches(lines, tag) {
				t.Errorf("%q matches %s", lines, tag)
			}
		}
	}
	if len(tags) != 4 {
		t.Errorf("four codings, the tags %v", tags)
	}
}

func TestABodyIsCompressedOnce(t *testing.T) {
	body := bytes.Repeat([]byte("du texte "), 1000)
	var cache coding.Cache
	read := map[coding.Coding]func(io.Reader) (io.Reader, error){
		coding.Gzip:   func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		coding.Zstd:   func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		coding.Brotli: func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	}
	for c, reader := range read {
		asked := 0
		get := func() []byte {
			return cache.Get(coding.Digest{7}, c, func() []byte { asked++; return body })
		}
		first := get()
		if again := get(); asked != 1 || !bytes.Equal(first, again) {
			t.Errorf("%v: the body was asked for %d times", c.Header(), asked)
		}
		from, err := reader(bytes.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(from); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%v: it does not come back whole: %v", c.Header(), err)
		}
	}
}

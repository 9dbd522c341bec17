package search

import (
	"bytes"
	"errors"
	"testing"

	"palmares/internal/catalog"
	"palmares/internal/synthetic"
)

func TestAnIndexIsReadFromItsFile(t *testing.T) {
	c := synthetic.Catalog(200, 3)
	built, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := built.Write(&file, "one"); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	read := func(b []byte, identity string) (*Index, error) {
		return Read(bytes.NewReader(b), int64(len(b)), identity, c)
	}
	got, err := read(whole, "one")
	if err != nil {
		t.Fatal(err)
	}
	if diff := differences(built, got); diff != nil {
		t.Errorf("the index that was read differs in %v", diff)
	}
	if _, err := read(whole, "another"); !errors.Is(err, ErrOther) {
		t.Errorf("another identity: %v", err)
	}
	for _, n := range []int{0, 7, 8, 100, len(whole) / 2, len(whole) - 1} {
		if _, err := read(whole[:n], "one"); err == nil {
			t.Errorf("the first %d of %d bytes are an index", n, len(whole))
		}
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/200 {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x41
		if _, err := read(damaged, "one"); err == nil {
			t.Errorf("with another byte %d it is an index", at)
		}
	}
}

func TestAnIndexOfPartsIsTheWholeOne(t *testing.T) {
	c := synthetic.Catalog(300, 3)
	built, err := Build(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, middle := range []int{0, 1, 100, 300} {
		first, second := NewPart(c), NewPart(c)
		for _, tool := range c.Tools[:middle] {
			first.Add(tool)
		}
		for _, tool := range c.Tools[middle:] {
			second.Add(tool)
		}
		joined := Join(&catalog.Catalog{Categories: c.Categories}, first, second)
		var file bytes.Buffer
		if err := joined.Write(&file, "one"); err != nil {
			t.Fatal(err)
		}
		got, err := Read(&file, int64(file.Len()), "one", c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := differences(built, got); diff != nil {
			t.Errorf("the index of %d and %d tools differs in %v", middle, len(c.Tools)-middle, diff)
		}
	}
}

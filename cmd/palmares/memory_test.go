package main

import (
	"testing"
	"testing/fstest"
)

func TestTheLimitOfAControlGroupIsTheLowestAboveTheProcess(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		name, group string
		files       fstest.MapFS
		want        int64
	}{
		{"none", "0::/\n", fstest.MapFS{}, 0},
		{"without a limit", "0::/\n", fstest.MapFS{"memory.max": file("max\n")}, 0},
		{"a container", "0::/\n", fstest.MapFS{"memory.max": file("1073741824\n")}, 1 << 30},
		{"a container that sees its name outside", "0::/docker/abc\n", fstest.MapFS{"memory.max": file("1073741824\n")}, 1 << 30},
		{"a unit in a slice with less", "0::/system.slice/palmares.service\n", fstest.MapFS{
			"memory.max": file("max\n"), "system.slice/memory.max": file("536870912\n"), "system.slice/palmares.service/memory.max": file("1073741824\n"),
		}, 512 << 20},
		{"version 1", "5:cpu:/x\n4:memory:/x\n", fstest.MapFS{"memory/x/memory.limit_in_bytes": file("1073741824\n")}, 1 << 30},
		{"version 1 without a limit", "4:memory:/\n", fstest.MapFS{"memory/memory.limit_in_bytes": file("9223372036854771712\n")}, 0},
		{"nonsense", "memory\n::\n0::/../..\n", fstest.MapFS{"memory.max": file("much\n")}, 0},
	} {
		if got := groupLimit(c.files, c.group); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := memoryLimit(2 << 30); got != 2<<30 {
		t.Errorf("the limit that is given: %d", got)
	}
}

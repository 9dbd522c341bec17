package content

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content/tree"
	"palmares/internal/problem"
)

// A batch is a run of records of one kind that one worker reads: file names or
// JSON lines. Batches are kept in reading order, so the result does not depend on
// the workers' timing.
type batch struct {
	kind  *catalog.Kind
	names []string
	lines []jsonLine
	data  []byte // of the lines

	records []record
	findings
	decoded []*decoded // for the memory
}

// A jsonLine is a line by its place in the data of its batch.
type jsonLine struct {
	number     int
	start, end int
}

// A batch is small enough to keep all workers busy to the end, and large enough
// for the channel to cost nothing.
const (
	batchRecords = 64
	batchBytes   = 256 << 10
)

// A producer lists the records of a folder and sends them to workers, in batches.
type producer struct {
	*folder
	work  chan *batch
	done  atomic.Int64 // records read
	wrong atomic.Int64 // problems of the records read
	count int          // records listed
}

// readRecords reads all records, with one worker per processor.
func (f *folder) readRecords(ctx context.Context, found map[string]bool) error {
	r := &producer{folder: f, work: make(chan *batch, 2*runtime.GOMAXPROCS(0))}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var parser tree.JSONParser
			for b := range r.work {
				b.read(f, &parser)
				r.done.Add(int64(len(b.records)))
				r.wrong.Add(int64(len(b.problems)))
			}
		})
	}
	var err error
	for _, k := range catalog.WrittenKinds {
		if err == nil && found[k.Folder] {
			err = r.markdown(ctx, k)
		}
		if err == nil && found[k.Folder+".jsonl"] {
			err = r.jsonLines(ctx, k)
		}
	}
	close(r.work)
	workers.Wait()
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if f.progress != nil {
		f.progress(int(r.done.Load()))
	}
	return ctx.Err()
}

// errEnough ends the reading of a folder with too many problems.
var errEnough = errors.New("there are enough problems")

// submit sends a batch to the workers, and blocks while they are busy.
func (r *producer) submit(ctx context.Context, b *batch) error {
	if r.wrong.Load() >= maxFindings || len(r.problems) >= maxFindings {
		return errEnough
	}
	r.batches = append(r.batches, b)
	if r.progress != nil {
		r.progress(int(r.done.Load()))
	}
	select {
	case r.work <- b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tooMany counts a record and reports whether the limit is exceeded.
func (r *producer) tooMany(file string, line int) bool {
	r.count++
	if r.count == r.maxRecords+1 {
		r.problem(file, line, "too-many-records", r.maxRecords)
	}
	return r.count > r.maxRecords
}

func (r *producer) markdown(ctx context.Context, k *catalog.Kind) error {
	entries, err := fs.ReadDir(r.fsys, k.Folder)
	if err != nil {
		r.problem(k.Folder, 1, "folder-unreadable", rootCause(err))
		return nil
	}
	b := &batch{kind: k}
	for _, e := range entries {
		name := k.Folder + "/" + e.Name()
		if IsIgnored(e.Name()) {
			continue
		}
		slug, _ := SlugOf(name)
		switch {
		case e.IsDir():
			r.problem(name, 1, "subfolder-not-read", k.Folder)
			continue
		case path.Ext(name) != ".md":
			r.problem(name, 1, "file-not-markdown")
			continue
		case !catalog.IsSlug(slug):
			r.problem(name, 1, "file-name", slugRule)
		}
		if !r.checkType(name, e, false) {
			continue
		}
		if r.tooMany(name, 1) {
			break
		}
		b.names = append(b.names, name)
		if len(b.names) == batchRecords {
			if err := r.submit(ctx, b); err != nil {
				return err
			}
			b = &batch{kind: k}
		}
	}
	return r.submit(ctx, b)
}

func (r *producer) jsonLines(ctx context.Context, k *catalog.Kind) error {
	name := k.Folder + ".jsonl"
	file, err := r.fsys.Open(name)
	if err != nil {
		r.problem(name, 1, "file-unreadable", rootCause(err))
		return nil
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 64<<10)
	newBatch := func() *batch { return &batch{kind: k, data: make([]byte, 0, batchBytes)} }
	b := newBatch()
	for number := 1; ; number++ {
		start := len(b.data)
		data, tooLong, err := readLine(in, b.data)
		b.data, data = data, data[start:]
		if err != nil && err != io.EOF {
			r.problem(name, number, "file-unreadable", rootCause(err))
			break
		}
		atEnd := err == io.EOF
		if number == 1 && bytes.HasPrefix(data, []byte(tree.ByteOrderMark)) {
			data, start = data[len(tree.ByteOrderMark):], start+len(tree.ByteOrderMark)
		}
		switch {
		case tooLong:
			r.problem(name, number, "line-too-large", tree.MaxFile>>20, tree.MaxFile)
		case len(bytes.TrimSpace(data)) > 0:
			if r.tooMany(name, number) {
				return r.submit(ctx, b)
			}
			b.lines = append(b.lines, jsonLine{number, start, len(b.data)})
		}
		if len(b.lines) == batchRecords || len(b.data) > batchBytes {
			if err := r.submit(ctx, b); err != nil {
				return err
			}
			b = newBatch()
		}
		if atEnd {
			break
		}
	}
	return r.submit(ctx, b)
}

// readLine appends the next line to text, without its line ending, or nothing if it is too
// long. With the last line it returns io.EOF.
func readLine(in *bufio.Reader, text []byte) (more []byte, tooLong bool, err error) {
	start := len(text)
	for {
		part, err := in.ReadSlice('\n')
		if !tooLong {
			text = append(text, part...)
		}
		if err == bufio.ErrBufferFull {
			if len(text)-start > tree.MaxFile+2 {
				text, tooLong = text[:start], true
			}
			continue
		}
		line := bytes.TrimSuffix(bytes.TrimSuffix(text[start:], []byte("\n")), []byte("\r"))
		tooLong = tooLong || len(line) > tree.MaxFile
		if tooLong {
			line = nil
		}
		return text[:start+len(line)], tooLong, err
	}
}

func (b *batch) read(f *folder, parser *tree.JSONParser) {
	b.records = make([]record, 0, len(b.names)+len(b.lines))
	for _, name := range b.names {
		text, failure := readFile(f.fsys, name)
		var file *decoded
		if failure == nil {
			file = f.memory.recall(f.basis, name, text)
		}
		if file == nil {
			file = decodeMarkdown(f.basis, b.kind, name, text, failure)
			f.memory.shareText(b.kind, &file.record)
		}
		b.records = append(b.records, file.record.clone()) // which a publication completes
		b.add(file.findings)
		if f.memory != nil && failure == nil {
			b.decoded = append(b.decoded, file)
		}
	}
	file := b.kind.Folder + ".jsonl"
	for _, line := range b.lines {
		d := newDecoder(file, f.basis, &b.findings)
		d.line = line.number
		v, ok := parser.Parse(b.data[line.start:line.end], line.number, d.tell)
		d.fields = v.Fields
		b.records = append(b.records, d.record(b.kind, ok))
	}
	b.names, b.lines, b.data = nil, nil, nil
}

// decodeMarkdown decodes a file that has the text, or that could not be read.
func decodeMarkdown(on basis, k *catalog.Kind, name, text string, failure error) *decoded {
	file := &decoded{name: name, sum: maphash.String(textSeed, text)}
	d := newDecoder(name, on, &file.findings)
	d.slug, d.isNext = SlugOf(name)
	d.isMarkdown = true
	isParsed := false
	if failure != nil {
		d.tell(1, problem.Of(failure))
	} else {
		d.File, isParsed = tree.ParseMarkdown(text, d.tell)
		d.fields = d.Fields
	}
	file.record = d.record(k, isParsed)
	return file
}

// Decode reads a file, which has the text, without the folder around it: slugs of other records and categories are
// not checked.
func Decode(path, text string) (of any, problems []Problem) {
	on := basis{zone: time.UTC}
	if path == catalog.SettingsFile {
		var found findings
		d := newDecoder(path, on, &found)
		d.File, _ = tree.ParseSettings(text, d.tell)
		d.fields = d.Fields
		c, _ := d.catalogue()
		return &c, found.problems
	}
	folder, _, _ := strings.Cut(path, "/")
	file := decodeMarkdown(on, catalog.KindIn(folder), path, text, nil)
	if file.record.publishAt != "" {
		file.record.of = withHour(file.record.of, file.record.publishAt)
	}
	return file.record.of, file.problems
}

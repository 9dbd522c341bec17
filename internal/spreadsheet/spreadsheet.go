// Package spreadsheet turns a table of tools, exported as CSV, into a catalogue.
//
// The table may be in UTF-8, UTF-16 or Windows-1252, with commas, semicolons or tabs.
// A mapping says which column is which field. Cells are brought into the form of the
// fields where that cannot be wrong (8,5/10 is a score of 8.5), and everything else is
// left to the rules of content, so that a row is judged like any other record and each
// problem is reported with its row.
package spreadsheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// A Table is a parsed CSV file.
type Table struct {
	Columns []string // the first row
	// Encoding is how the file was read: UTF-8, UTF-16 or Windows-1252.
	Encoding string
	comma    rune
	rows     []row
}

// A row is a row with at least one cell that is not blank.
type row struct {
	line  int
	cells []string
}

// A RowError says which line of a table cannot be read.
type RowError struct {
	Line int
	Text string
}

func (e *RowError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Parse parses a CSV file.
func Parse(file []byte) (*Table, error) {
	text, encoding, err := decode(file)
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(strings.NewReader(text))
	in.Comma, in.FieldsPerRecord = delimiter(text), -1
	t := &Table{Encoding: encoding, comma: in.Comma}
	for {
		cells, err := in.Read()
		if err == io.EOF {
			break
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, &RowError{
				parse.StartLine,
				fmt.Sprintf("the cells cannot be told apart (line %d, column %d: %v); put a cell that contains quotes or line "+
					"breaks in quotes, and double each quote in it", parse.Line, parse.Column, parse.Err),
			}
		}
		if err != nil {
			return nil, err
		}
		blank := true
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cell, "\r\n", "\n"))
			blank = blank && cells[i] == ""
		}
		line, _ := in.FieldPos(0)
		switch {
		case blank:
		case t.Columns == nil:
			t.Columns = cells
		default:
			t.rows = append(t.rows, row{line, cells})
		}
	}
	if t.Columns == nil {
		return nil, errors.New("the file is empty; its first row must name the columns")
	}
	return t, t.checkColumns()
}

// Write writes the rows at some lines as a table of their own, in UTF-8.
func (t *Table) Write(to io.Writer, lines map[int]bool) error {
	out := csv.NewWriter(to)
	out.Comma = t.comma
	_ = out.Write(t.Columns) // fails only if to does, and Error reports that
	for _, r := range t.rows {
		if lines[r.line] {
			_ = out.Write(r.cells) // likewise
		}
	}
	out.Flush()
	return out.Error()
}

// checkColumns reports columns that have no name, or the name of another.
func (t *Table) checkColumns() error {
	seen := map[string]bool{}
	for i, name := range t.Columns {
		if name == "" {
			for _, r := range t.rows {
				if i < len(r.cells) && r.cells[i] != "" {
					return &RowError{r.line, fmt.Sprintf("column %d has cells but no name in the first row; name it", i+1)}
				}
			}
			continue
		}
		if seen[name] {
			return &RowError{1, fmt.Sprintf("two columns are named %q; rename one of them", name)}
		}
		seen[name] = true
	}
	return nil
}

func decode(file []byte) (text, encoding string, err error) {
	switch {
	case bytes.HasPrefix(file, []byte{0xfe, 0xff}), bytes.HasPrefix(file, []byte{0xff, 0xfe}):
		decoded, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Bytes(file)
		return string(decoded), "UTF-16", err
	case utf8.Valid(file):
		return strings.TrimPrefix(string(file), "\ufeff"), "UTF-8", nil
	}
	decoded, err := charmap.Windows1252.NewDecoder().Bytes(file)
	return string(decoded), "Windows-1252", err
}

// delimiter returns what separates the names of the columns: the candidate that occurs
// most often in the first line, outside of quotes.
func delimiter(text string) rune {
	candidates := []rune{',', ';', '\t'}
	counts := map[rune]int{}
	quoted := false
	for _, r := range strings.TrimLeft(text, " \r\n") {
		if r == '"' {
			quoted = !quoted
		}
		if r == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[r]++
		}
	}
	best := candidates[0]
	for _, r := range candidates {
		if counts[r] > counts[best] {
			best = r
		}
	}
	return best
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"palmares/internal/catalog"
	"palmares/internal/evidence"
	"palmares/internal/publication"
)

type sourcesCommand struct {
	Check sourcesCheckCommand `cmd:"" help:"Look at the pages that prices were taken from, and keep what was seen in preuves.jsonl."`
	List  sourcesListCommand  `cmd:"" help:"List the sources that somebody should look at."`
}

type sourcesCheckCommand struct {
	Dir            string `arg:"" help:"Content folder."`
	languageOption `embed:""`
	Limit          sourceLimit   `help:"How many sources to look at, those first that were not looked at for longest (default: all)." placeholder:"N"`
	Allow          networks      `help:"Networks (CIDR, comma-separated) that are not public and that may be asked, also over http (default: none)." placeholder:"CIDRS"`
	OnlyChanges    bool          `help:"Leave lines alone of which only the time would change."`
	Spacing        time.Duration `hidden:"" default:"2s"`
}

// sourceLimit is a number of sources; 0 until given.
type sourceLimit int

// Decode reads a number of sources.
func (n *sourceLimit) Decode(ctx *kong.DecodeContext) error {
	x, err := wholeNumber(ctx, "a number of sources", 1, 1_000_000)
	*n = sourceLimit(x)
	return err
}

// Run looks at the sources. What is done when it is interrupted is kept.
func (c *sourcesCheckCommand) Run(inv *invocation) error {
	c.speak(inv)
	if c.Spacing < 2*time.Second && len(c.Allow) == 0 {
		return &invalidValue{"--spacing is at least 2s, unless --allow is given"}
	}
	read, err := readSources(inv, c.Dir, c.languageOption)
	if err != nil {
		return err
	}
	reader := evidence.NewReader(evidence.ReaderConfig{Agent: userAgent(read.catalog), Allow: c.Allow, Spacing: c.Spacing})
	defer reader.Close()
	bar, counts := newProgress(inv), map[evidence.Result]int{}
	check := &evidence.Check{
		Reader: reader, Now: inv.now, Limit: int(c.Limit), OnlyChanges: c.OnlyChanges,
		Each: func(done, total int, p evidence.Proof) {
			counts[p.Result]++
			bar.show("sources", done, total)
		},
	}
	list, total := check.Run(inv.ctx, read.sources, read.proofs)
	bar.done()
	if err := evidence.Save(c.Dir, list); err != nil {
		return err
	}
	done := 0
	var parts []string
	for _, result := range evidence.Results {
		done += counts[result]
		parts = append(parts, fmt.Sprintf("%d %s", counts[result], result))
	}
	if err := inv.printf("%s\n", inv.say(fmt.Sprintf("%s: looked at %d of %d sources: %s", c.Dir, done, total, strings.Join(parts, ", ")))); err != nil {
		return err
	}
	if done < total {
		return errors.New("some sources were not looked at; run the command again to go on with them")
	}
	return nil
}

// userAgent returns who asks, and where to complain.
func userAgent(c *catalog.Catalog) string {
	agent := "Palmares/" + version + " (+" + c.URL
	if contact := c.Settings.Contact; contact != "" {
		agent += "; " + contact
	}
	return agent + ")"
}

// A sourceFolder is a content folder with what is known of its sources.
type sourceFolder struct {
	catalog *catalog.Catalog
	sources []evidence.Source
	proofs  []evidence.Proof
}

func readSources(inv *invocation, dir string, language languageOption) (f sourceFolder, err error) {
	options := checkOptions{languageOption: language, Format: "text"}
	read, err := options.job(inv, dir, options.newPrinter(inv, dir, inv.stderr)).Read(inv.ctx)
	if err != nil {
		return f, err
	}
	f.catalog, f.sources = read.Catalog, evidence.Sources(read.Catalog)
	if err := read.Close(); err != nil {
		return f, err
	}
	f.proofs, err = evidence.Load(dir)
	return f, err
}

type sourcesListCommand struct {
	Dir            string `arg:"" help:"Content folder."`
	languageOption `embed:""`
	State          states `help:"Which ones, comma-separated: confirmed, changed, moved, gone, unreadable, or stale for prices that were not confirmed for 90 days." default:"changed,gone,moved,unreadable,stale" placeholder:"STATES"`
	Strict         bool   `help:"Fail if there are any."`
	Format         format `help:"How to print them: text, json (one object per line) or github (annotations of a workflow)." default:"text" env:"PALMARES_FORMAT"`
}

// states are results, or stale.
type states []string

const stale = "stale"

// UnmarshalText reads a list of states.
func (s *states) UnmarshalText(b []byte) error {
	*s = strings.Split(string(b), ",")
	for _, state := range *s {
		if state != stale && !slices.Contains(evidence.Results, evidence.Result(state)) {
			return &invalidValue{fmt.Sprintf("%q is not a state: expected confirmed, changed, moved, gone, unreadable or stale", state)}
		}
	}
	return nil
}

// A listedSource is a source as programs read it.
type listedSource struct {
	Slug        string           `json:"slug"`
	URL         string           `json:"url"`
	State       string           `json:"state"`
	Price       string           `json:"price,omitempty"` // as recorded
	FinalURL    string           `json:"final_url,omitempty"`
	CheckedAt   time.Time        `json:"checked_at,omitzero"`
	ConfirmedAt time.Time        `json:"confirmed_at,omitzero"`
	Found       []evidence.Found `json:"found"`
	line        int
}

// maxPriceAge is after how long without confirmation a price is stale.
const maxPriceAge = 90 * 24 * time.Hour

// Run lists sources.
func (c *sourcesListCommand) Run(inv *invocation) error {
	c.speak(inv)
	read, err := readSources(inv, c.Dir, c.languageOption)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(inv.stdout)
	listed := read.list(inv.now(), c.State)
	for i := range listed {
		l := &listed[i]
		switch c.Format {
		case "json":
			encoder := json.NewEncoder(out)
			encoder.SetEscapeHTML(false)
			_ = encoder.Encode(l) // fails only if out does, and Flush reports that
		case "github":
			fmt.Fprintf(out, "::warning file=%s,line=%d::%s\n", annotationProperty.Replace(filepath.Join(fromHere(c.Dir), evidence.File)), l.line,
				annotationText.Replace(l.sentence()))
		default:
			fmt.Fprintln(out, l.sentence())
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if len(listed) > 0 && c.Strict {
		return fmt.Errorf("%s should be looked at", publication.Plural(len(listed), "source"))
	}
	return nil
}

// list returns the sources in one of the states.
func (f *sourceFolder) list(now time.Time, wanted states) []listedSource {
	known := map[[2]string]int{}
	for i, p := range f.proofs {
		known[[2]string{p.Slug, p.URL}] = i + 1
	}
	var list []listedSource
	for _, s := range f.sources {
		l := listedSource{Slug: s.Slug, URL: s.URL, Price: s.Price, Found: []evidence.Found{}, line: 1}
		if i := known[[2]string{s.Slug, s.URL}]; i > 0 {
			p := f.proofs[i-1]
			l.line, l.State, l.FinalURL, l.CheckedAt, l.ConfirmedAt, l.Found = i, string(p.Result), p.FinalURL, p.CheckedAt, p.ConfirmedAt, p.Found
		}
		isStale := s.IsPrice && now.Sub(l.ConfirmedAt) > maxPriceAge
		switch {
		case l.State != "" && slices.Contains(wanted, l.State):
		case isStale && slices.Contains(wanted, stale):
			l.State = stale
		default:
			continue
		}
		list = append(list, l)
	}
	return list
}

// sentence returns what people read of a source: what is recorded, and what was found.
func (l *listedSource) sentence() string {
	text := l.Slug + ": " + l.State
	if l.Price != "" {
		text += ", recorded " + l.Price
	}
	if len(l.Found) > 0 {
		text += fmt.Sprintf(", found %s in « %s »", l.Found[0].Amount, l.Found[0].Text)
	}
	text += ": " + l.URL
	if l.FinalURL != "" && l.FinalURL != l.URL {
		text += " leads to " + l.FinalURL
	}
	return text
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

func (n *sourceLimit) Decode(ctx *kong.DecodeContext) error {
	return wholeNumber(n, ctx, "a number of sources", 1, 1_000_000)
}

// Run looks at the sources. What is done when it is interrupted is kept.
func (c *sourcesCheckCommand) Run(inv *invocation) error {
	c.speak(inv)
	if c.Spacing < 2*time.Second && len(c.Allow) == 0 {
		return &invalidValue{"--spacing is at least 2s, unless --allow is given"}
	}
	read, err := readCatalogue(inv, c.Dir, c.languageOption)
	if err != nil {
		return err
	}
	before, err := evidence.Load(c.Dir, catalog.Day(inv.now()))
	if err != nil {
		return lineProblem(inv, c.Dir, err)
	}
	reader := evidence.NewReader(evidence.ReaderConfig{Agent: userAgent(read), Allow: c.Allow, Spacing: c.Spacing})
	defer reader.Close()
	bar, counts := newProgress(inv), map[evidence.Result]int{}
	check := &evidence.Check{
		Reader: reader, Now: inv.now, Limit: int(c.Limit), OnlyChanges: c.OnlyChanges,
		Each: func(done, total int, p evidence.Proof) {
			counts[p.Result]++
			bar.show("sources", done, total)
		},
	}
	list, total := check.Run(inv.ctx, evidence.Sources(read), before)
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

// readCatalogue reads a content folder without problems.
func readCatalogue(inv *invocation, dir string, language languageOption) (*catalog.Catalog, error) {
	options := checkOptions{languageOption: language, Format: "text"}
	read, err := options.job(inv, dir, options.newPrinter(inv, dir, inv.stderr)).Read(inv.ctx)
	if err != nil {
		return nil, err
	}
	return read.Catalog, read.Close()
}

// lineProblem names the file of a line that only a reading of all of it finds wrong, as other problems do.
func lineProblem(inv *invocation, dir string, err error) error {
	if wrong, ok := errors.AsType[*evidence.LineError](err); ok {
		return fmt.Errorf("%s:%d: %s", filepath.Join(fromHere(dir), evidence.File), wrong.Line, inv.say(wrong.Text))
	}
	return err
}

type sourcesListCommand struct {
	Dir            string `arg:"" help:"Content folder."`
	languageOption `embed:""`
	State          states `help:"Which ones, comma-separated: confirmed, changed, moved, gone, unreadable, or stale for prices that were neither confirmed nor read for longer than price_max_age of catalogue.yaml." default:"changed,gone,moved,unreadable,stale" placeholder:"STATES"`
	Strict         bool   `help:"Fail if there are any."`
	Format         format `help:"How to print them: text, json (one object per line) or github (annotations of a workflow)." default:"text"`
}

// states are results, or stale.
type states []string

func (s *states) UnmarshalText(b []byte) error {
	*s = strings.Split(string(b), ",")
	for _, state := range *s {
		if state != evidence.Stale && !slices.Contains(evidence.Results, evidence.Result(state)) {
			return &invalidValue{fmt.Sprintf("%q is not a state: expected confirmed, changed, moved, gone, unreadable or stale", state)}
		}
	}
	return nil
}

func (c *sourcesListCommand) Run(inv *invocation) error {
	c.speak(inv)
	read, err := readCatalogue(inv, c.Dir, c.languageOption)
	if err != nil {
		return err
	}
	var out bytes.Buffer // a list is whole, or there is none
	listed := 0
	err = evidence.EachListed(read, os.DirFS(c.Dir), catalog.Day(inv.now()), func(l *evidence.Listed) {
		if !slices.Contains(c.State, l.State) {
			return
		}
		listed++
		switch c.Format {
		case "json":
			encoder := json.NewEncoder(&out)
			encoder.SetEscapeHTML(false)
			_ = encoder.Encode(l) // a buffer never fails
		case "github":
			fmt.Fprintf(&out, "::warning file=%s,line=%d::%s\n", annotationProperty.Replace(filepath.Join(fromHere(c.Dir), evidence.File)), l.Line,
				annotationText.Replace(sourceSentence(l, inv.say)))
		default:
			fmt.Fprintln(&out, sourceSentence(l, inv.say))
		}
	})
	if err != nil {
		return lineProblem(inv, c.Dir, err)
	}
	if _, err := out.WriteTo(inv.stdout); err != nil {
		return err
	}
	if listed > 0 && c.Strict {
		return fmt.Errorf("%s should be looked at", publication.Plural(listed, "source"))
	}
	return nil
}

// sourceSentence returns what people read of a source: what is recorded, and what was found.
func sourceSentence(l *evidence.Listed, say func(string) string) string {
	parts := []string{say(l.State)}
	if l.Price != "" {
		parts = append(parts, say("recorded "+l.Price))
	}
	if l.Hint != "" {
		parts = append(parts, say(fmt.Sprintf("plan « %s »", l.Hint)))
	}
	if l.NoPlan {
		parts = append(parts, say(fmt.Sprintf("the plan « %s » is not on the page", l.Hint)))
	}
	if len(l.Found) > 0 {
		parts = append(parts, say(fmt.Sprintf("found %s in « %s »", l.Found[0].Amount, l.Found[0].Text)))
	}
	place := fmt.Sprintf("read on %s at %s", l.Day(), l.URL)
	if l.CheckedAt.IsZero() {
		place = "not read yet: " + l.URL
	}
	if l.FinalURL != "" && l.FinalURL != l.URL {
		place += ", which leads to " + l.FinalURL
	}
	return l.Slug + ": " + strings.Join(append(parts, say(place)), ", ")
}

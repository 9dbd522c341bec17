package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"palmares/internal/catalog"
	"palmares/internal/content"
	"palmares/internal/content/document"
	"palmares/internal/evidence"
	"palmares/internal/problem"
)

type sourcesCommand struct {
	Check sourcesCheckCommand `cmd:"" help:"Look whether the words that prices were quoted from still stand on their pages, and keep what was seen in preuves.jsonl."`
	List  sourcesListCommand  `cmd:"" help:"List the sources that somebody should look at."`
	Quote sourcesQuoteCommand `cmd:"" help:"Print the passages with amounts of the page that a price was taken from, or quote one of them."`
}

// pageOptions are for the commands that read pages.
type pageOptions struct {
	Allow   networks      `help:"Networks (CIDR, comma-separated) that are not public and that may be asked, also over http (default: none)." placeholder:"CIDRS"`
	Spacing time.Duration `hidden:"" default:"2s"`
}

// reader returns a reader of pages for a catalogue.
func (o *pageOptions) reader(c *catalog.Catalog) (*evidence.Reader, error) {
	if o.Spacing < 2*time.Second && len(o.Allow) == 0 {
		return nil, &invalidValue{"--spacing is at least 2s, unless --allow is given"}
	}
	return evidence.NewReader(evidence.ReaderConfig{Agent: evidence.Agent("Palmares/"+version, c), Allow: o.Allow, Spacing: o.Spacing}), nil
}

type sourcesCheckCommand struct {
	Dir            string `arg:"" help:"Content folder."`
	languageOption `embed:""`
	Limit          int  `help:"How many sources to look at, those first that were not looked at for longest (default: all)." placeholder:"N" type:"number" what:"a number of sources" range:"1-1000000"`
	OnlyChanges    bool `help:"Leave lines alone of which only the time would change."`
	pageOptions    `embed:""`
}

// saveEvery is how often proofs are saved while a check runs.
const saveEvery = 10 * time.Second

// Run looks at the sources. The proofs so far are kept when it is interrupted.
func (c *sourcesCheckCommand) Run(inv *invocation) error {
	read, sources, err := readSources(inv, c.Dir, c.languageOption)
	if err != nil {
		return err
	}
	reader, err := c.reader(read)
	if err != nil {
		return err
	}
	bar, counts, whys, saved := newProgress(inv), map[string]int{}, map[string]int{}, time.Now()
	check := &evidence.Check{
		Reader: reader, Now: inv.now, Limit: c.Limit, OnlyChanges: c.OnlyChanges,
		Each: func(done, total int, p *catalog.Proof, all func() []catalog.Proof) {
			counts[p.Result]++
			whys[p.Why]++
			bar.show("sources", done, total)
			if time.Since(saved) >= saveEvery {
				err, saved = content.SaveProofs(c.Dir, all()), time.Now()
			}
		},
	}
	proofs, total := check.Run(inv.ctx, sources)
	bar.done()
	if err := errors.Join(err, content.SaveProofs(c.Dir, proofs)); err != nil {
		return err
	}
	done := 0
	var looked []any
	for _, result := range catalog.ProofResults {
		done += counts[result]
		looked = append(looked, counts[result])
	}
	if err := inv.printf("%s\n", inv.say("looked-at", append([]any{c.Dir, done, total}, looked...)...)); err != nil {
		return err
	}
	delete(whys, "") // of pages that were read
	for _, why := range slices.Sorted(maps.Keys(whys)) {
		if err := inv.printf("%s\n", inv.say("pages-not-read", whys[why], problem.Foreign(why))); err != nil {
			return err
		}
	}
	if done < total {
		return problem.New("sources-left")
	}
	return nil
}

// readCatalogue reads a content folder without problems. From then on, everything is said in the language.
func readCatalogue(inv *invocation, dir string, language languageOption) (*catalog.Catalog, error) {
	language.speak(inv)
	options := checkOptions{languageOption: language, Format: "text"}
	read, err := options.job(inv, dir, options.newPrinter(inv, dir, inv.stderr)).Read(inv.ctx)
	if err != nil {
		return nil, err
	}
	return read.Catalog, read.Close()
}

// readSources is readCatalogue, and returns the sources with their proofs. The error names the line that is no proof,
// as other problems do.
func readSources(inv *invocation, dir string, language languageOption) (*catalog.Catalog, []evidence.Listed, error) {
	read, err := readCatalogue(inv, dir, language)
	if err != nil {
		return nil, nil, err
	}
	today := catalog.Day(inv.now())
	proofs, err := content.LoadProofs(os.DirFS(dir), today)
	if wrong, ok := errors.AsType[*content.ProofError](err); ok {
		err = fmt.Errorf("%s:%d: %s", filepath.Join(fromHere(dir), catalog.ProofFile), wrong.Line, wrong.Text.In(inv.language))
	}
	return read, evidence.List(read, proofs, today), err
}

type sourcesListCommand struct {
	Dir            string `arg:"" help:"Content folder."`
	languageOption `embed:""`
	State          states `help:"Which ones, comma-separated: confirmed, changed, moved, gone, unreadable, or stale for prices that were neither confirmed nor read for longer than price_max_age of catalogue.yaml." default:"changed,gone,moved,unreadable,stale" placeholder:"STATES"`
	Strict         bool   `help:"Fail if there are any."`
	Format         string `help:"How to print them: text, json (one object per line) or github (annotations of a workflow)." default:"text" enum:"text,json,github"`
}

// states are results, or stale.
type states []string

func (s *states) UnmarshalText(b []byte) error {
	*s = strings.Split(string(b), ",")
	for _, state := range *s {
		if state != evidence.Stale && !slices.Contains(catalog.ProofResults, state) {
			return &invalidValue{fmt.Sprintf("%q is not a state: expected confirmed, changed, moved, gone, unreadable or stale", state)}
		}
	}
	return nil
}

func (c *sourcesListCommand) Run(inv *invocation) error {
	_, sources, err := readSources(inv, c.Dir, c.languageOption)
	if err != nil {
		return err
	}
	var out bytes.Buffer // a list is whole, or there is none
	listed := 0
	for i := range sources {
		l := &sources[i]
		if !slices.Contains(c.State, l.State) {
			continue
		}
		listed++
		switch c.Format {
		case "json":
			encoder := json.NewEncoder(&out)
			encoder.SetEscapeHTML(false)
			_ = encoder.Encode(l) // a buffer never fails
		case "github":
			fmt.Fprintf(&out, "::warning file=%s,line=%d::%s\n", annotationProperty.Replace(filepath.Join(fromHere(c.Dir), catalog.ProofFile)), l.Line,
				annotationText.Replace(sourceSentence(l, inv)))
		default:
			fmt.Fprintln(&out, sourceSentence(l, inv))
		}
	}
	if _, err := out.WriteTo(inv.stdout); err != nil {
		return err
	}
	if listed > 0 && c.Strict {
		return problem.New("to-look-at", listed)
	}
	return nil
}

// sourceSentence returns what people read of a source: price and words as recorded, and the words that were found.
func sourceSentence(l *evidence.Listed, inv *invocation) string {
	parts := []string{inv.say("state-" + l.State)}
	if l.Price != "" {
		parts = append(parts, inv.say("recorded", l.Price))
	}
	if l.Quote != "" {
		parts = append(parts, inv.say("quoted-words", l.Quote))
	}
	if l.Found != "" && l.Result != catalog.Confirmed {
		parts = append(parts, inv.say("found", strings.Join(strings.Fields(l.Found), " ")))
	}
	place, end := inv.say("read-at", l.Day(), l.URL), ""
	switch {
	case l.CheckedAt == "":
		place = inv.say("not-read-yet", l.URL)
	case l.Why != "":
		parts = append(parts, problem.Foreign(l.Why).In(inv.language))
		place = inv.say("looked-at-page", l.Day(), l.URL)
	}
	if l.FinalURL != "" && l.FinalURL != l.URL {
		end = inv.say("leads-to", l.FinalURL)
	}
	return l.Slug + ": " + strings.Join(append(parts, place), ", ") + end
}

type sourcesQuoteCommand struct {
	Dir            string `arg:"" help:"Content folder."`
	Slug           string `arg:"" help:"Slug of the tool."`
	languageOption `embed:""`
	Take           int `help:"Write this passage into the record of the tool, as price_quote, with the day as price_checked_at. The price stays." placeholder:"N" type:"number" what:"the number of a passage" range:"1-1000"`
	pageOptions    `embed:""`
}

func (c *sourcesQuoteCommand) Run(inv *invocation) error {
	read, err := readCatalogue(inv, c.Dir, c.languageOption)
	if err != nil {
		return err
	}
	t := read.Tool(c.Slug)
	switch {
	case t == nil:
		return problem.New("no-such-tool", c.Slug)
	case t.PriceSource == "":
		return problem.New("tool-without-source", c.Slug)
	}
	reader, err := c.reader(read)
	if err != nil {
		return err
	}
	price := catalog.WrittenPrice(t.Pricing, t.Price)
	if t.IsConverted() {
		price = t.PriceDisplay
	}
	list, _, err := reader.Passages(inv.ctx, t.PriceSource, price)
	switch {
	case err != nil:
		return problem.New("source-unreadable", t.PriceSource, err)
	case c.Take > 0:
		return c.take(inv, list)
	case len(list) == 0:
		return problem.New("no-amounts", t.PriceSource)
	}
	return inv.printf("%s", passageTable(list, price, inv.say))
}

// passageTable returns the passages as people read them, the recorded price marked.
func passageTable(list []evidence.Passage, price string, say func(code string, args ...any) string) string {
	var b strings.Builder
	own := 0
	for i, p := range list {
		mark := ""
		if p.IsOwn {
			own, mark = own+1, "*"
		}
		fmt.Fprintf(&b, "%3d %1s %s\n", i+1, mark, p.Quote)
	}
	switch own {
	case 0:
		fmt.Fprintln(&b, say("none-recorded-price", price))
	case 1:
		fmt.Fprintln(&b, say("first-recorded-price", price))
	default:
		fmt.Fprintln(&b, say("marked-recorded-price", own, price))
	}
	return b.String()
}

// take writes a passage into the record.
func (c *sourcesQuoteCommand) take(inv *invocation, list []evidence.Passage) error {
	if c.Take > len(list) {
		return problem.New("no-such-passage", c.Take, len(list))
	}
	name := "outils/" + c.Slug + ".md"
	file := filepath.Join(c.Dir, filepath.FromSlash(name))
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return problem.New("record-in-bulk", c.Slug)
	}
	if err != nil {
		return err
	}
	quote, today := list[c.Take-1].Quote, catalog.Day(inv.now())
	doc, err := document.Open(name, data)
	if err == nil {
		err = errors.Join(doc.Set("price_quote", document.Value{Text: quote}), doc.Set("price_checked_at", document.Value{Text: today}))
	}
	if err == nil {
		err = os.WriteFile(file, doc.Bytes(), 0o644)
	}
	return inv.result(err, "%s\n", inv.say("quotes-read", file, quote, today))
}

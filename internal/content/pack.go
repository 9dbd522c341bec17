package content

import "strings"

// A packer gives the texts of a record one allocation of their own, instead of one each or
// a place in the line that they were read from; records share those that many have. The
// zero value is ready for use.
type packer struct {
	texts  []*string
	shared map[string]string
}

// maxShared is how many texts records share at most: there are fewer days, categories and
// authors.
const maxShared = 1 << 14

// pack packs the texts of a record.
func (p *packer) pack(r *record) {
	p.texts = p.texts[:0]
	switch {
	case r.tool != nil:
		t := r.tool
		p.share(&t.Category, &t.UpdatedAt, &t.TestedAt, &t.PriceCheckedAt)
		for i := range t.Authors {
			p.share(&t.Authors[i])
		}
		p.add(&t.Slug, &t.Name, &t.Domain, &t.Price, &t.PriceDisplay, &t.Tagline, &t.Logo, &t.Image,
			&t.CanonicalURL, &t.ReviewURL, &t.AlternativesURL, &t.ScoreNote, &t.Body)
		p.addList(t.Sources)
		p.addList(t.Aliases)
		for i := range t.Plans {
			p.add(&t.Plans[i].Name, &t.Plans[i].Price, &t.Plans[i].Note)
		}
		for i := range t.PriceHistory {
			e := &t.PriceHistory[i]
			p.share(&e.ChangedAt)
			p.add(&e.OldPrice, &e.NewPrice)
		}
		for i := range t.ScoreHistory {
			p.share(&t.ScoreHistory[i].ChangedAt)
			p.add(&t.ScoreHistory[i].Note)
		}
	case r.comparison != nil:
		x := r.comparison
		p.add(&x.Slug, &x.Title, &x.ToolA, &x.ToolB, &x.Winner, &x.WinnerNote, &x.UpdatedAt, &x.Image, &x.Body)
		p.addList(x.Authors)
		p.addList(x.Aliases)
	case r.retired != nil:
		o := r.retired
		p.add(&o.Slug, &o.Name, &o.Category, &o.RetiredAt, &o.Successor, &o.Body, &o.Note)
	case r.page != nil:
		x := r.page
		p.add(&x.Slug, &x.Title, &x.Description, &x.Image, &x.Body)
	}
	for _, refs := range [][]reference{r.refs, r.aliases, r.fieldPictures} {
		for i := range refs {
			p.add(&refs[i].slug)
		}
	}
	for _, mentions := range [][]mention{r.links, r.pictures} {
		for i := range mentions {
			p.add(&mentions[i].prefix, &mentions[i].written, &mentions[i].alt)
		}
	}
	p.store()
	switch {
	case r.tool != nil:
		r.slug = r.tool.Slug
	case r.comparison != nil:
		r.slug = r.comparison.Slug
	case r.retired != nil:
		r.slug = r.retired.Slug
	case r.page != nil:
		r.slug = r.page.Slug
	default:
		r.slug = strings.Clone(r.slug)
	}
}

func (p *packer) add(texts ...*string) { p.texts = append(p.texts, texts...) }

func (p *packer) addList(list []string) {
	for i := range list {
		p.texts = append(p.texts, &list[i])
	}
}

// share replaces texts by the same ones of records before.
func (p *packer) share(texts ...*string) {
	for _, text := range texts {
		same, ok := p.shared[*text]
		switch {
		case ok:
			*text = same
		case len(p.shared) < maxShared:
			if p.shared == nil {
				p.shared = map[string]string{}
			}
			*text = strings.Clone(*text)
			p.shared[*text] = *text
		default:
			p.add(text)
		}
	}
}

// store replaces the texts by parts of one.
func (p *packer) store() {
	size := 0
	for _, text := range p.texts {
		size += len(*text)
	}
	var b strings.Builder
	b.Grow(size)
	for _, text := range p.texts {
		b.WriteString(*text)
	}
	rest := b.String()
	for _, text := range p.texts {
		n := len(*text)
		*text, rest = rest[:n], rest[n:]
		if n == 0 {
			*text = ""
		}
	}
}

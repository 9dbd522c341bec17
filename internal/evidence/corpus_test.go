package evidence

import (
	"fmt"
	"html"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// A model is a page of prices before it is written as HTML.
type model struct {
	*rand.Rand
	plans  []plan
	layout int
	menu   []string
	count  int // of customers
}

// A plan has words in blocks of their own: its name, its price, its period.
type plan struct{ name, number, currency, period, note string }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func newModel(seed uint64) *model {
	m := &model{Rand: rand.New(rand.NewPCG(seed, 1)), count: 1000}
	m.layout = m.IntN(layouts)
	m.menu = []string{"Produit", "Tarifs", "Blog", "Connexion"}
	names := [][]string{{"Solo", "Pro", "Équipe"}, {"Starter", "Plus", "Business"}, {"Basique", "Pro+", "L’Illimité"}, {"Free 2", "Team 5", "Org 20"}}
	currency, period := pick(m.Rand, "€", "$", "£", "CHF"), pick(m.Rand, "par mois", "/mois", "/ month, billed yearly", "par utilisateur et par mois", "HT / an")
	for i, name := range pick(m.Rand, names...) {
		number := fmt.Sprint((i+1)*10 + m.IntN(9))
		switch m.IntN(4) {
		case 0:
			number += pick(m.Rand, ",99", ".50")
		case 1:
			number = "1 " + fmt.Sprint(100+i*37)
		}
		m.plans = append(m.plans, plan{name, number, currency, period, fmt.Sprintf("%d projets", i*7+3)})
	}
	return m
}

const layouts = 6

func (p plan) amount() string {
	if p.currency == "$" || p.currency == "£" {
		return p.currency + p.number
	}
	return p.number + "\u00a0" + p.currency
}

// write returns the page; style makes the HTML of the words of the quoted plan, the second one, as a block around all
// of them.
func (m *model) write(style func(string) string) string {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=fr><head><meta charset=utf-8><title>Tarifs</title><style>.x{color:red}</style></head><body><nav><ul>")
	for _, item := range m.menu {
		fmt.Fprintf(&b, "<li><a href=/x>%s</a>", item)
	}
	fmt.Fprintf(&b, "</ul></nav><main><h1>Nos prix</h1><p>Déjà %d clients</p>", m.count)
	if m.layout == 3 {
		b.WriteString("<table><thead><tr><th>Formule<th>Prix<tbody>")
	}
	for i, p := range m.plans {
		one := m.plan(p)
		if i == 1 {
			one = style(one)
		}
		b.WriteString(one)
	}
	if m.layout == 3 {
		b.WriteString("</table>")
	}
	b.WriteString("</main><footer><p>© 2026 Essai SAS, capital de 10 000 €</footer></body></html>")
	return b.String()
}

func (m *model) plan(p plan) string {
	name, amount, period, note := html.EscapeString(p.name), p.amount(), p.period, p.note
	switch m.layout {
	case 0:
		return fmt.Sprintf("<div class=card><h3>%s</h3><p><span class=n>%s</span> <span>%s</span></p><ul><li>%s</ul></div>", name, amount, period, note)
	case 1:
		return fmt.Sprintf("<section><h2>%s</h2>\n<div><strong>%s</strong></div>\n<div>%s</div><p>%s</p></section>", name, amount, period, note)
	case 2:
		return fmt.Sprintf("<p>%s : %s %s. %s.</p>", name, amount, period, note)
	case 3:
		return fmt.Sprintf("<tr><td>%s<td>%s %s", name, amount, period)
	case 4:
		return fmt.Sprintf("<dl><dt>%s<dd>%s <small>%s</small></dl>", name, amount, period)
	default:
		return fmt.Sprintf("<article>%s<br>%s<br>%s<details><summary>Plus</summary>%s</details></article>", name, amount, period, note)
	}
}

// isAlike reports whether two texts have the same words and numbers.
func isAlike(a, b string) bool {
	x, y := newScript(a), newScript(b)
	return x.text == y.text && slices.Equal(x.values(place{0, len(x.text)}), y.values(place{0, len(y.text)}))
}

func same(s string) string { return s }

func (m *model) quoteAs(layout int) string { m.layout = layout; return m.quote() }

// quote returns the words that a person marks.
func (m *model) quote() string {
	p := m.plans[1]
	if m.layout == 2 {
		return p.name + " : " + p.amount() + " " + p.period
	}
	return p.name + " " + p.amount() + " " + p.period
}

func compareWith(t *testing.T, document, quote string) (result, found string) {
	t.Helper()
	p, err := parsePage(t.Context(), []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return p.compare(quote)
}

// neutral are changes of a page that do not matter to the quoted price.
var neutral = map[string]func(*model) string{
	"nothing":     func(m *model) string { return m.write(same) },
	"menus":       func(m *model) string { m.menu = append(m.menu, "Nouveau", "49 €"); return m.write(same) },
	"counters":    func(m *model) string { m.count = m.IntN(100000); return m.write(same) },
	"other plans": func(m *model) string { m.plans[0].number, m.plans[2].number = "77", "1 999"; return m.write(same) },
	"order": func(m *model) string {
		first, rest := m.write(same), ""
		if i := strings.Index(first, m.plan(m.plans[0])); i >= 0 && m.layout != 3 {
			zero := m.plan(m.plans[0])
			rest = strings.Replace(first, zero, "", 1)
			return strings.Replace(rest, "</main>", zero+"</main>", 1)
		}
		return first
	},
	"more plans": func(m *model) string {
		m.plans = append(m.plans, plan{"Max", "490", "€", "par mois", "tout"})
		return m.write(same)
	},
	"attributes": func(m *model) string {
		return m.write(func(s string) string {
			return strings.ReplaceAll(s, "<span", `<span data-v="19 €" class="a b" style="color: red"`)
		})
	},
	"white space": func(m *model) string {
		return m.write(func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, " ", "\n\t "), "\n\t class", " class")
		})
	},
	"no-break spaces": func(m *model) string {
		return m.write(func(s string) string { return strings.ReplaceAll(s, "\u00a0", pick(m.Rand, "&#8239;", "&nbsp;", " ")) })
	},
	"entities": func(m *model) string {
		return m.write(func(s string) string {
			return strings.NewReplacer("€", "&euro;", "É", "&Eacute;", "’", "&#39;", "+", "&#43;").Replace(s)
		})
	},
	"spans": func(m *model) string {
		return m.write(func(s string) string {
			n := m.plans[1].number
			return strings.Replace(s, n, "<span><b>"+n[:1]+"</b>"+n[1:]+"</span>", 1)
		})
	},
	"decimals": func(m *model) string {
		return m.write(func(s string) string {
			n := m.plans[1].number
			if whole, cents, ok := strings.Cut(strings.Replace(n, ".", ",", 1), ","); ok {
				return strings.Replace(s, n, whole+"<sup>"+cents+"</sup>", 1)
			}
			return s
		})
	},
	"classes of frameworks": func(m *model) string {
		return strings.Replace(m.write(same), "</head>", `<style>@media print{.card,.n{display:none}} .md\:hidden{display:none} .card p{display:none}</style></head>`, 1)
	},
	"a comment beside it": func(m *model) string {
		return m.write(func(s string) string { return "<!-- 19 € -->" + s + "<script>var x='29 €'</script>" })
	},
	"a struck price": func(m *model) string {
		return m.write(func(s string) string {
			return strings.Replace(s, m.plans[1].number, m.plans[1].number, 1) + "<p><s>99 €</s>"
		})
	},
}

func TestAQuotationIsConfirmedWhateverChangesBesideIt(t *testing.T) {
	pages, confirmed := 0, 0
	for name, mutate := range neutral {
		for seed := range uint64(60) {
			m := newModel(seed)
			quote := m.quote()
			document := mutate(m)
			pages++
			if result, found := compareWith(t, document, quote); result == catalog.Confirmed {
				confirmed++
			} else if pages-confirmed < 20 {
				t.Errorf("%s, %d: %s, found %q instead of %q in %s", name, seed, result, found, quote, document)
			}
		}
	}
	t.Logf("%d of %d confirmed", confirmed, pages)
	if confirmed*100 < pages*99 {
		t.Error("fewer than 99 % are confirmed")
	}
}

func TestANewPriceIsFoundWithItsWords(t *testing.T) {
	pages, right := 0, 0
	for seed := range uint64(200) {
		m := newModel(seed)
		quote := m.quote()
		m.plans[1].number = pick(m.Rand, "87", "87,90", "2 345", "8.75", "7")
		m.count++
		document := m.write(same)
		pages++
		result, found := compareWith(t, document, quote)
		if result == catalog.Confirmed {
			t.Errorf("%d: confirmed in %s", seed, document)
		}
		if result == catalog.Changed && isAlike(found, m.quote()) {
			right++
		} else if pages-right < 5 {
			t.Errorf("%d: %s %q, want %q, in %s", seed, result, found, m.quote(), document)
		}
	}
	t.Logf("%d of %d found", right, pages)
	if right*100 < pages*95 {
		t.Error("fewer than 95 % are found")
	}
}

// lies are changes after which the quotation must not be confirmed.
var lies = map[string]func(*model) string{
	"comment":      wrapped("<!--", "-->"),
	"script":       wrapped(`<script type="text/plain">`, "</script>"),
	"template":     wrapped("<template>", "</template>"),
	"noscript":     wrapped("<noscript>", "</noscript>"),
	"hidden":       wrapped("<div hidden>", "</div>"),
	"until found":  wrapped("<div hidden=until-found><table>", "</table></div>"),
	"aria-hidden":  wrapped(`<div aria-hidden="TRUE">`, "</div>"),
	"display":      wrapped(`<div style="color:red; Display : none !important">`, "</div>"),
	"visibility":   wrapped(`<div style="visibility:hidden">`, "</div>"),
	"class":        wrapped(`<style>.a, .gone {display:none}</style><div class="b gone c">`, "</div>"),
	"class, later": wrapped(`<div class="gone">`, "</div><style>p{}.gone{visibility:hidden;}</style>"),
	"id":           wrapped(`<style>/* { */#promo{display:none}</style><div id=promo>`, "</div>"),
	"screen":       wrapped(`<style>@media screen{.gone{display:none}}</style><div class=gone>`, "</div>"),
	"s":            wrapped("<s>", "</s>"),
	"del":          wrapped("<del><div>", "</div></del>"),
	"strike":       wrapped("<strike>", "</strike>"),
	"line-through": wrapped(`<div style="text-decoration: 2px line-through">`, "</div>"),
	"struck class": wrapped(`<style>.was{text-decoration:line-through}</style><div class=was>`, "</div>"),
	"option":       wrapped("<select><option>", "</select>"),
	"svg":          wrapped("<svg><text>", "</text></svg>"),
	"value": func(m *model) string {
		return m.write(func(string) string { return "<input value='" + m.quote() + "'>" })
	},
	"textarea":      wrapped("<textarea>", "</textarea>"),
	"amount":        changed(func(p *plan) { p.number = "9" + p.number }),
	"cents":         changed(func(p *plan) { p.number += ",01" }),
	"period":        changed(func(p *plan) { p.period = "par semaine" }),
	"currency":      changed(func(p *plan) { p.currency = "¥" }),
	"plan":          changed(func(p *plan) { p.name += " Max" }),
	"longer plan":   changed(func(p *plan) { p.name = "Ultra" + p.name }),
	"words inside":  changed(func(p *plan) { p.name += ", à partir du 1er mars et pour les associations :" }),
	"error page":    func(*model) string { return "<h1>Erreur 404</h1><p>Cette page n’existe pas.</p>" },
	"nothing there": func(m *model) string { return m.write(func(string) string { return "" }) },
}

func wrapped(before, after string) func(*model) string {
	return func(m *model) string {
		if m.layout == 3 { // a row cannot stand in these elements
			m.layout = 2
		}
		return m.write(func(s string) string { return before + s + after })
	}
}

func changed(change func(*plan)) func(*model) string {
	return func(m *model) string { change(&m.plans[1]); return m.write(same) }
}

func TestNoLieIsConfirmed(t *testing.T) {
	for name, lie := range lies {
		for seed := range uint64(30) {
			m := newModel(seed)
			document := lie(m)
			quote := newModel(seed).quoteAs(m.layout)
			if result, _ := compareWith(t, document, quote); result == catalog.Confirmed {
				t.Errorf("%s, %d: %q is confirmed in %s", name, seed, quote, document)
				break
			}
		}
	}
}

package evidence

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"testing"

	"palmares/internal/catalog"
)

// A model is a page of prices before it is written as HTML. The second plan is the quoted one.
type model struct {
	*rand.Rand
	plans  []plan
	layout string
	menu   string
	count  int // of customers
}

type plan struct{ name, number, currency, period string }

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// layouts are ways to write a plan: name, amount, period.
var layouts = []string{
	"<div class=card><h3>%s</h3><p><span class=n>%s</span> <span>%s</span></p><ul><li>7 projets</ul></div>",
	"<section><h2>%s</h2>\n<div><strong>%s</strong></div>\n<div>%s</div><p>Tout compris</p></section>",
	"<p>%s : %s %s. 3 projets.</p>",
	"<table><tr><td>%s<td>%s %s</table>",
	"<dl><dt>%s<dd>%s <small>%s</small></dl>",
	"<article>%s<br>%s<br>%s<details><summary>Plus</summary>8 projets</details></article>",
}

func newModel(seed uint64) *model {
	m := &model{Rand: rand.New(rand.NewPCG(seed, 1)), count: 1000, menu: "<li><a href=/x>Tarifs</a>"}
	m.layout = pick(m.Rand, layouts...)
	names := pick(m.Rand, []string{"Solo", "Pro", "Équipe"}, []string{"Basique", "Pro+", "L’Illimité"}, []string{"Free 2", "Team 5", "Org 20"})
	currency, period := pick(m.Rand, "€", "$", "£", "CHF"), pick(m.Rand, "par mois", "/mois", "/ month, billed yearly", "HT / an")
	for i, name := range names {
		number := fmt.Sprint((i+1)*10 + m.IntN(9))
		number = pick(m.Rand, number, number, number+",99", number+".50", "1 "+fmt.Sprint(100+i*37))
		m.plans = append(m.plans, plan{name, number, currency, period})
	}
	return m
}

func (p plan) amount() string {
	if p.currency == "$" || p.currency == "£" {
		return p.currency + p.number
	}
	return p.number + "\u00a0" + p.currency
}

// write returns the page; style changes the HTML of the quoted plan.
func (m *model) write(style func(string) string) string {
	text := "<!doctype html><html lang=fr><head><meta charset=utf-8><title>Tarifs</title><style>.x{color:red}</style></head><body><ul>" + m.menu +
		fmt.Sprintf("</ul><main><h1>Nos prix</h1><p>Déjà %d clients</p>", m.count)
	for i, p := range m.plans {
		one := fmt.Sprintf(m.layout, html.EscapeString(p.name), p.amount(), p.period)
		if i == 1 {
			one = style(one)
		}
		text += one
	}
	return text + "</main><footer><p>© 2026 Essai SAS, capital de 10 000 €</footer></body></html>"
}

// quote returns the words that a person marks.
func (m *model) quote() string {
	p := m.plans[1]
	if m.layout == layouts[2] {
		return p.name + " : " + p.amount() + " " + p.period
	}
	return p.name + " " + p.amount() + " " + p.period
}

func same(s string) string { return s }

func changed(change func(*model)) func(*model) string {
	return func(m *model) string { change(m); return m.write(same) }
}

func replaced(pairs ...string) func(*model) string {
	return func(m *model) string { return m.write(strings.NewReplacer(pairs...).Replace) }
}

func wrapped(before, after string) func(*model) string {
	return func(m *model) string { return m.write(func(s string) string { return before + s + after }) }
}

// number changes the HTML of the quoted number.
func number(change func(string) string) func(*model) string {
	return func(m *model) string {
		n := m.plans[1].number
		return m.write(func(s string) string { return strings.Replace(s, n, change(n), 1) })
	}
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
	"nothing":         replaced(),
	"menus":           changed(func(m *model) { m.menu += "<li>Nouveau<li>49 €" }),
	"counters":        changed(func(m *model) { m.count = m.IntN(100_000) }),
	"other plans":     changed(func(m *model) { m.plans[0].number, m.plans[2].number = "77", "1 999" }),
	"more plans":      changed(func(m *model) { m.plans = append(m.plans, plan{"Max", "490", "€", "par mois"}) }),
	"order":           func(m *model) string { s := m.write(same); return s[:strings.Index(s, "<main>")] + s },
	"attributes":      replaced("<span", `<span data-v="19 €" class="a b" style="color: red"`, "<div", "<div hidden-x"),
	"white space":     replaced("> ", ">\n\t ", " par ", "\r\n par  ", "\u00a0", pick(rand.New(rand.NewPCG(1, 1)), "&#8239;", "&nbsp;", " ")),
	"entities":        replaced("€", "&euro;", "É", "&Eacute;", "’", "&#39;", "+", "&#43;", "$", "&#x24;"),
	"invisible":       replaced(" par ", " p&shy;ar ", "mois", "mo\u200bis", "€", "<!-- 19 € -->€"),
	"spans":           number(func(n string) string { return "<span><b>" + n[:1] + "</b>" + n[1:] + "</span>" }),
	"struck price":    number(func(n string) string { return "<s>99 €</s> " + n }),
	"hidden price":    number(func(n string) string { return "<span class=u>99</span>" + n + "<style>.u{display:none}</style>" }),
	"print":           wrapped("<style media=print>*,.card,.n{display:none}</style><style>@media print{.card,.n{display:none}} @media (max-width:9px){#a{}.n{display:none}}</style>", ""),
	"other selectors": wrapped(`<style>.md\:hidden,.card p,p.n,section div{display:none}</style><noscript><style>.n{display:none}</style></noscript>`, ""),
	"a template":      wrapped("<template><style>.n,.card{display:none}</style></template><svg><path/><path/><title>x</title></svg>", "<script>x='29 €'</script>"),
	"a long script":   wrapped("<script>"+strings.Repeat("x='<div hidden>';", 30_000)+"</script>", ""),
	"open elements":   wrapped("<table><tr hidden><td>x<tr><td><p hidden>x<p><ul><li hidden>x<li>", "</ul></table>"),
	"sloppy ends":     wrapped("<b><i>x</b></i></div></p><div><span hidden>x</div>", "</section></b>"),
	"decimals": number(func(n string) string {
		if i := strings.LastIndexAny(n, ",."); i > 0 {
			return n[:i] + "<sup><span>" + n[i+1:] + "</span></sup>"
		}
		return n
	}),
}

func TestAQuotationIsConfirmedWhateverChangesBesideIt(t *testing.T) {
	pages, confirmed := 0, 0
	for name, mutate := range neutral {
		for seed := range uint64(40) {
			m := newModel(seed)
			quote := m.quote()
			document := mutate(m)
			pages++
			if result, found := compareWith(t, document, quote); result == catalog.Confirmed {
				confirmed++
			} else if pages-confirmed < 20 {
				t.Logf("%s, %d: %s, found %q instead of %q in %s", name, seed, result, found, quote, document)
			}
		}
	}
	t.Logf("%d of %d are confirmed", confirmed, pages)
	if confirmed*100 < pages*99 {
		t.Error("fewer than 99 % are confirmed")
	}
}

func TestANewPriceIsFoundWithItsWords(t *testing.T) {
	pages, right := 0, 0
	for name, mutate := range neutral {
		for seed := range uint64(10) {
			m := newModel(seed)
			quote := m.quote()
			m.plans[1].number = pick(m.Rand, "87", "87,90", "2 345", "8.75", "7")
			result, found := compareWith(t, mutate(m), quote)
			if pages++; result == catalog.Confirmed {
				t.Errorf("%s, %d: confirmed", name, seed)
			}
			if again, _ := newScript(clean(found)).find(m.quote()); result == catalog.Changed && again == catalog.Confirmed {
				right++
			} else if pages-right < 10 {
				t.Logf("%s, %d: %s %q, want %q", name, seed, result, found, m.quote())
			}
		}
	}
	t.Logf("%d of %d are found", right, pages)
	if right*100 < pages*95 {
		t.Error("fewer than 95 % are found")
	}
}

// lies are changes after which the quotation must not be confirmed.
var lies = map[string]func(*model) string{
	"comment": wrapped("<!--", "-->"), "script": wrapped(`<script type="text/plain">`, "</script>"), "template": wrapped("<template>", "</template>"),
	"noscript": wrapped("<noscript>", "</noscript>"), "option": wrapped("<select><option>", "</select>"), "svg": wrapped("<svg><text>", "</text></svg>"),
	"textarea": wrapped("<textarea>", "</textarea>"), "hidden": wrapped("<div hidden>", "</div>"), "aria-hidden": wrapped(`<div aria-hidden="TRUE">`, "</div>"),
	"display":      wrapped(`<div style="color:red; Display : none ! important">`, "</div>"),
	"visibility":   wrapped(`<div style="visibility:/**/hidden">`, "</div>"),
	"class":        wrapped(`<style/><!-- .a, .gone {display:none} --></style><div class="b gone c">`, "</div>"),
	"class, later": wrapped(`<div class="gone">`, "</div><style>@import 'x';p{}.gone{visibility:hidden;}</style>"),
	"id":           wrapped(`<style>/* { */#promo{display:none}</style><div id=promo>`, "</div>"),
	"screen":       wrapped(`<style>@layer x{@media screen{.gone{display:none!important}}}.gone{display:block}</style><div class=gone>`, "</div>"),
	"escapes":      wrapped(`<style media=screen>.sm\:gone{display:none}</style><div class=sm:gone>`, "</div>"),
	"s":            wrapped("<s>", "</s>"), "del": wrapped("<del><div>", "</div></del>"), "strike": wrapped("<strike>", "</strike>"),
	"line-through": wrapped(`<div style="text-decoration: 2px line-through">`, "</div>"),
	"struck class": wrapped(`<style>.was{text-decoration-line:line-through}</style><div class=was>`, "</div>"),
	"false ends":   wrapped("<span hidden><div></span></b></body>", "</div></span>"),
	"no end":       wrapped("<div hidden/>", "</div>"),
	"value": func(m *model) string {
		return m.write(func(string) string { return "<input value='" + m.quote() + "'>" })
	},
	"amount":       changed(func(m *model) { m.plans[1].number = "9" + m.plans[1].number }),
	"cents":        changed(func(m *model) { m.plans[1].number += ",01" }),
	"sup":          number(func(n string) string { return n + "<sup>95</sup>" }),
	"period":       changed(func(m *model) { m.plans[1].period = "par semaine" }),
	"currency":     changed(func(m *model) { m.plans[1].currency = "¥" }),
	"plan":         changed(func(m *model) { m.plans[1].name += " Max" }),
	"longer plan":  changed(func(m *model) { m.plans[1].name = "Ultra" + m.plans[1].name }),
	"words inside": changed(func(m *model) { m.plans[1].name += ", à partir du 1er mars et pour les associations :" }),
	"error page":   func(*model) string { return "<h1>Erreur 404</h1><p>Cette page n’existe pas.</p>" },
	"no plan":      func(m *model) string { return m.write(func(string) string { return "" }) },
}

func TestNoLieIsConfirmed(t *testing.T) {
	for name, lie := range lies {
		for seed := range uint64(40) {
			m := newModel(seed)
			quote := m.quote()
			if document := lie(m); document != "" {
				if result, _ := compareWith(t, document, quote); result == catalog.Confirmed {
					t.Errorf("%s, %d: %q is confirmed in %s", name, seed, quote, document)
				}
			}
		}
	}
}

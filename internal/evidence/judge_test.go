package evidence

import (
	"fmt"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	month := Claim{Name: "Plume", Pricing: "payant", Price: "19,99 €/mois"}
	solo := Claim{Name: "Plume", Pricing: "payant", Price: "19,99 €/mois", Hint: "Solo"}
	pro := Claim{Name: "Plume", Pricing: "payant", Price: "19 €/mois", Hint: "Pro"}
	user := Claim{Name: "Plume", Pricing: "payant", Price: "18 €/utilisateur/mois", Display: "20 $ par utilisateur et par mois"}
	free := Claim{Name: "Plume", Pricing: "gratuit", Price: "0 €/mois"}
	cards := `<div class=grid><div class=card><h3>Basic</h3><p class=price>9 €</p><p>par mois</p></div><div class=card><h3>Pro</h3><p class=price>19 €</p><p>par mois</p><ul><li>Tout Basic</ul></div><div class=card><h3>Équipe</h3><p>49 €/mois</div></div>`
	for _, c := range []struct {
		name string
		of   Claim
		page string
		want Result
	}{
		{"plain", month, `<h1>Tarifs</h1><p>19,99 €/mois</p>`, Confirmed},
		{"english", month, `<h1>Pricing</h1><p>€19.99 / month</p>`, Confirmed},
		{"german", month, `<h1>Preise</h1><p>19,99 € pro Monat inkl. MwSt.</p>`, Confirmed},
		{"sup", month, `<div class=price><span>19</span><sup>99</sup> € <small>/mois</small></div>`, Confirmed},
		{"french cents", month, `<div class=price>19€99<span>/mois</span></div>`, Confirmed},
		{"split divs", month, `<div class=price><div>€</div><div>19.99</div><div>per month</div></div>`, Confirmed},
		{"eur", month, `<p>EUR 19.99 /mo</p>`, Confirmed},
		{"two plans", month, `<h3>Solo</h3><p>19,99 €/mois</p><h3>Duo</h3><p>29,99 €/mois</p>`, Confirmed},
		{"column", solo, `<table><tr><th>Offre<th>Prix par mois<tr><td>Solo<td>19,99 €<tr><td>Duo<td>29,99 €</table>`, Confirmed},
		{"list", month, `<dl><dt>Prix mensuel<dd>19,99 €</dl>`, Confirmed},
		{"heading", month, `<section><h2>Tarifs mensuels</h2><div><h3>Solo</h3><p>19,99 €</p></div></section>`, Confirmed},
		{"sentence", month, `<p>Plume coûte 19,99 € par mois, sans engagement, et se résilie quand vous voulez depuis votre compte.</p>`, Confirmed},
		{"cards", pro, cards, Confirmed},
		{"flat", pro, `<h3>Basic</h3><p>9 €/mois</p><h3>Pro</h3><p>Pour aller plus loin</p><p>19 €/mois</p><h3>Équipe</h3><p>49 €/mois</p>`, Confirmed},
		{"columns", pro, `<table><thead><tr><th><th>Basic<th>Pro<th>Équipe<tbody><tr><td>Prix<td>9 €/mois<td>19 €/mois<td>49 €/mois</table>`, Confirmed},
		{"rows", pro, `<table><tr><th>Basic<td>9 €/mois<tr><th>Pro<td>19 €/mois</table>`, Confirmed},
		{"line", pro, `<ul><li>Basic : 9 €/mois</li><li>Pro : 19 €/mois</li></ul>`, Confirmed},
		{"user", user, `<p>$20 per user/month, billed annually</p>`, Confirmed},
		{"free", free, `<div><h3>Solo</h3><p>Gratuit</p></div>`, Confirmed},
		{"zero", free, `<div><h3>Free</h3><p>€0</p></div>`, Confirmed},
		{"offer", month, `<p>Chargement…</p><script type="application/ld+json">{"@type":"Product","offers":{"@type":"Offer","price":"19.99","priceCurrency":"EUR","priceSpecification":{"@type":"UnitPriceSpecification","price":19.99,"priceCurrency":"EUR","unitCode":"MON"}}}</script>`, Confirmed},

		{"billed annually alone", pro, `<div><h3>Pro</h3><p>19 € par mois</p><p>facturé annuellement</p></div>`, Confirmed},
		{"month beside billed annually", pro, `<div><h3>Pro</h3><p>19 €/mois</p><p>ou 15 €/mois, facturé annuellement</p></div>`, Confirmed},
		{"billed annually beside month", pro, `<div><h3>Pro</h3><p>25 €/mois</p><p>ou 19 €/mois, facturé annuellement</p></div>`, Unreadable},
		{"day in another section", month, `<p>19,99 €/mois</p><h2>Journal</h2><p>3 juin 2025 : nouvelle version.</p>`, Confirmed},
		{"day beside the price", month, `<h2>Prix</h2><p>3 juin 2025</p><p>19,99 €/mois</p>`, Unreadable},
		{"amount in another section", month, `<p>19,99 €/mois</p><h2>Questions</h2><p>Au-delà de 500 €, nous acceptons les virements.</p>`, Confirmed},

		{"comment", month, `<p>29,99 €/mois</p><!-- 19,99 €/mois -->`, Changed},
		{"script", month, `<p>29,99 €/mois</p><script>x="19,99 €/mois"</script>`, Changed},
		{"struck", month, `<p><s>19,99 €/mois</s> 29,99 €/mois</p>`, Changed},
		{"struck class", month, `<style>.x b{text-decoration:line-through}</style><p class=x><b>19,99 €/mois</b></p><p>29,99 €/mois</p>`, Changed},
		{"hidden", month, `<style>.z{display:none}</style><p class=z>19,99 €/mois</p><p>29,99 €/mois</p>`, Unreadable},
		{"other plan", pro, `<div class=card><h3>Basic</h3><p>19 €/mois</p></div><div class=card><h3>Pro</h3><p>29 €/mois</p></div>`, Changed},
		{"other plan, flat", pro, `<p>Basic</p><p>19 €/mois</p><p>Pro</p><p>29 €/mois</p>`, Changed},
		{"no price in the plan", pro, `<div><div class=card><h3>Basic</h3><p>19 €/mois</p></div><div class=card><h3>Pro</h3><p>Sur devis</p></div></div>`, Changed},
		{"other period", month, `<p>19,99 €/an</p>`, Changed},
		{"per user", month, `<p>19,99 € par utilisateur et par mois</p>`, Changed},
		{"other currency", month, `<p>$19.99/month</p>`, Unreadable},
		{"instead", month, `<p>9,99 €/mois au lieu de 19,99 €/mois</p>`, Changed},
		{"saving", month, `<p>29,99 €/mois</p><p>Économisez 19,99 €/mois</p>`, Changed},
		{"testimonial", month, `<p>29,99 €/mois</p><blockquote>Pour 19,99 €/mois, c’est donné !</blockquote>`, Changed},
		{"quoted", month, `<p>29,99 €/mois</p><p>« Je ne regrette pas mes 19,99 €/mois », dit Anne.</p>`, Unreadable},
		{"blog", month, `<meta property="og:type" content="article"><p>Plume coûte 19,99 €/mois</p>`, Unreadable},
		{"missing", month, `<title>Page introuvable</title><p>19,99 €/mois</p>`, Gone},
		{"attribute", month, `<img alt="19,99 €/mois"><p data-x="19,99 €/mois">29,99 €/mois</p>`, Changed},
		{"toggle", month, `<p><button>Mensuel</button><button>Annuel</button></p><p>19,99 €</p>`, Unreadable},
		{"nothing", month, `<div id=app></div><script src=x.js></script>`, Unreadable},
		{"trial", free, `<p>Essai gratuit de 14 jours</p><p>Gratuit pendant 30 jours</p><p>9 €/mois</p>`, Changed},
		{"free in part", free, `<p>La lecture est gratuite, l’écriture coûte 9 €/mois.</p>`, Unreadable},
		{"free for days", free, `<h3>Free</h3><p>€0 for 30 days</p><h3>Pro</h3><p>€9/month</p>`, Unreadable},
		{"part of a plan", month, `<h3>Pro</h3><p>29,99 €/mois</p><h3>Pack SMS</h3><p>19,99 €/mois</p>`, Unreadable},
		{"plan of another time", month, `<h2>Avant mai</h2><h3>Solo</h3><p>19,99 €/mois</p><h2>Depuis mai</h2><h3>Duo</h3><p>29,99 €/mois</p>`, Unreadable},
		{"stale offer", month, `<p>29,99 €/mois</p><script type="application/ld+json">{"@type":"Offer","price":"19.99","priceCurrency":"EUR","priceSpecification":{"unitCode":"MON","price":"19.99","priceCurrency":"EUR"}}</script>`, Changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, found, text := judgeAt(&c.of, []byte("<!doctype html><body>"+c.page), "https://plume.example/tarifs")
			if got != c.want {
				t.Errorf("%s, want %s; found %v in %q", got, c.want, found, text)
			}
			if c.of.Hint != "" && strings.Contains(fmt.Sprint(found), "Basic") {
				t.Errorf("found what is of another plan: %v", found)
			}
		})
	}
}

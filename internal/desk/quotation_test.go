package desk_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const plans = `<!doctype html><title>Tarifs</title><h2>Équipe</h2><p>49 € par mois</p><h2>Pro</h2><p>19 € <b>par</b> mois</p><s>12 €</s>`

// vendor serves pages with prices. A page under /attend tells that it was asked for, and that its reader is gone.
type vendor struct {
	*httptest.Server
	asked, gone chan struct{}
}

func newVendor(t *testing.T) *vendor {
	t.Helper()
	v := &vendor{asked: make(chan struct{}), gone: make(chan struct{})}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("User-Agent"); got != "Palmares/essai (+https://essai.example)" {
			t.Errorf("it is asked by %s", got)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		page := plans
		switch r.URL.Path {
		case "/robots.txt":
			page = "User-agent: *\nDisallow: /prive"
		case "/un":
			page = "<h2>Pro</h2><p>19 € par mois</p>"
		case "/image":
			page = "<img src=prix.png alt=>"
		case "/devises":
			page = "<p>119 € par an<p>$29 a month<p>3 € par jour"
		case "/absente":
			w.WriteHeader(http.StatusNotFound)
		case "/panne":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/interdit":
			w.WriteHeader(http.StatusForbidden)
		case "/pdf":
			w.Header().Set("Content-Type", "application/pdf")
		case "/grande":
			page = strings.Repeat("<p>Un prix de 19 €", 400_000)
		case "/coupe":
			panic(http.ErrAbortHandler)
		case "/attend":
			v.asked <- struct{}{}
			<-r.Context().Done()
			v.gone <- struct{}{}
		}
		fmt.Fprint(w, page)
	}))
	t.Cleanup(v.Close)
	return v
}

var hasRevision = regexp.MustCompile(`name="revision" value="(\d+)"`)

// readPage sends the form of a working copy with the address of a page, and returns what is read there.
func (p person) readPage(copied, address string) (page, revision string) {
	p.t.Helper()
	if got := p.follow(p.save(copied, "f.price_source", address, "vers", "source")); got != copied+"/source" {
		p.t.Fatalf("the button leads to %s", got)
	}
	page = p.get(copied + "/source").OK().Body
	if found := hasRevision.FindStringSubmatch(page); found != nil {
		revision = found[1]
	}
	return page, revision
}

func TestWordsOfAPageAreMarkedAsTheQuotation(t *testing.T) {
	each(t, func(t *testing.T, n *newsroom) {
		bob, v := n.as("Bob"), newVendor(t)
		copied := bob.edit("outils/plume", "f.tagline", "Écrit bien")
		page, revision := bob.readPage(copied, v.URL+"/tarifs")
		own := strings.Index(page, `value="19 €/mois: Pro 19 € par mois">`)
		other := strings.Index(page, `value="49 €/mois: Équipe 49 € par mois">`)
		if own < 0 || other < own || strings.Contains(page, "12 €") || strings.Contains(page, " checked") {
			t.Errorf("the page proposes\n%s", page)
		}
		const chosen = "49 €/mois: Équipe 49 € par mois"
		for _, step := range []struct {
			fields []string
			want   []string // lines of the file
		}{
			{nil, []string{"price: 19 €/mois", "price_quote: Équipe 49 € par mois", "price_checked_at: 2026-11-16", "tagline: Écrit bien", "price_source: " + v.URL + "/tarifs"}},
			{[]string{"montant", "oui"}, []string{"price: 49 €/mois", "  - changed_at: 2026-11-16", "    old_price: 19 €/mois", "    new_price: 49 €/mois"}},
		} {
			r := bob.post(copied+"/source", append(step.fields, "revision", revision, "mots", chosen)...).Is(http.StatusSeeOther)
			place, part, _ := strings.Cut(r.Header.Get("Location"), "#")
			bob.get(place).OK().Contains(`id="`+part+`">Prix<`, "La citation est dans la fiche", "Citer un autre prix")
			for _, line := range step.want {
				n.text(copied).has("\n" + line + "\n")
			}
			bob.post(copied+"/source", "revision", revision, "mots", "19 €/mois: Pro").Is(http.StatusUnprocessableEntity).Contains("enregistrée ailleurs")
			page = bob.get(copied + "/source").OK().Contains(`par mois" checked>`).Body
			revision = hasRevision.FindStringSubmatch(page)[1]
		}
		// The price that is published needs no history.
		bob.post(copied+"/source", "revision", revision, "mots", "19 €/mois: Pro 19 € par mois", "montant", "oui").Is(http.StatusSeeOther)
		n.text(copied).lacks("price_history")
		fresh := bob.follow(bob.post("/redaction/nouvelle", "genre", "outils", "nom", "Gomme")) // nor does one that never was
		bob.save(fresh, "f.price", "9 €/mois").Is(http.StatusSeeOther)
		_, first := bob.readPage(fresh, v.URL+"/un")
		bob.post(fresh+"/source", "revision", first, "mots", "19 €/mois: Pro 19 € par mois", "montant", "oui").Is(http.StatusSeeOther)
		n.text(fresh).has("price: 19 €/mois\n").lacks("price_history")
		bob.post(copied+"/source", "revision", revision).Is(http.StatusUnprocessableEntity).Contains("Choisissez", `href="`+copied+`/source"`)
		long := bob.post(copied+"/source", "revision", revision, "colle", strings.Repeat("19 €", 76))
		long.Is(http.StatusUnprocessableEntity).Contains("de 3 à 300\u00a0caractères")
		bob.post(copied+"/source", "mots", chosen).Is(http.StatusBadRequest)
		bob.get(bob.follow(bob.post("/redaction/fiches/outils/plume/copie", "vers", "source"))).OK().Contains("Prendre ces mots")
	})
}

func TestTheOnlyAmountOfAPageIsChosenIfItIsThePrice(t *testing.T) {
	me, v := newLocal(t), newVendor(t)
	copied := me.open("outils/plume")
	page, revision := me.readPage(copied, v.URL+"/un")
	if !strings.Contains(page, `value="19 €/mois: Pro 19 € par mois" checked>`) {
		t.Error(page)
	}
	me.post(copied+"/source", "revision", revision, "mots", "19 €/mois: Pro 19 € par mois").Is(http.StatusSeeOther)
	want := strings.NewReplacer(
		"price_checked_at: 2026-01-01\n", "price_checked_at: 2026-11-16\n", "tier: 1\n", "price_source: "+v.URL+"/un\nprice_quote: Pro 19 € par mois\ntier: 1\n",
	).Replace(plume)
	me.file("outils/plume.md").is(want)
	me.get(me.open("outils/plume") + "/source").OK()
	me.write("pages/equipe.md", "---\ntitle: L’équipe\n---\nNous.\n")
	me.now = me.now.Add(16 * time.Second)
	me.get(me.open("pages/equipe") + "/source").Is(http.StatusNotFound)
}

func TestWordsOfAPageCanBePastedInstead(t *testing.T) {
	me, v := newLocal(t), newVendor(t)
	me.write("outils/encre.md", encre) // which is free
	copied := me.open("outils/encre")
	page, revision := me.readPage(copied, v.URL+"/image")
	if !strings.Contains(page, "Aucun montant ne se lit") || strings.Contains(page, `name="mots"`) {
		t.Error(page)
	}
	to := me.post(copied+"/source", "revision", revision, "colle", " Gratuit\npour  toujours ").Is(http.StatusSeeOther).Header.Get("Location")
	to, _, _ = strings.Cut(to, "#")
	me.get(to).OK().Contains(">La citation est dans la fiche", "ne se lisent pas sur la page")
	for _, address := range []string{v.URL + "/un", v.URL + "/absente"} { // where they stand, and where nobody can tell
		_, revision = me.readPage(copied, address)
		r := me.post(copied+"/source", "revision", revision, "colle", "Pro 19 € par mois").Is(http.StatusSeeOther)
		if to := r.Header.Get("Location"); !strings.Contains(to, "fait=citation#") {
			t.Errorf("pasted words of %s lead to %s", address, to)
		}
	}
	page, revision = me.readPage(copied, v.URL+"/tarifs")
	if strings.Contains(page, "Prix&nbsp;:") || strings.Contains(page, `name="montant"`) {
		t.Error("a free tool gets another price")
	}
	fields := []string{"revision", revision, "colle", "Gratuit à vie", "mots", "49 €/mois: Équipe", "montant", "oui"}
	me.post(copied+"/source", fields...).Is(http.StatusSeeOther)
	me.file("outils/encre.md").has("\nprice_quote: Gratuit à vie\n", "\nprice: 0 €/mois\n")
}

// An amount can become the price if it is in euros, and the record shows no other words.
func TestWhatWouldBecomeThePriceIsSaidBesideTheWords(t *testing.T) {
	me, v := newLocal(t), newVendor(t)
	copied := me.open("outils/plume")
	page, _ := me.readPage(copied, v.URL+"/devises")
	for _, want := range []string{
		"prix&#8239;? Dans la fiche&nbsp;: «&nbsp;19\u00a0€/mois&nbsp;».",
		"<strong>119</strong> <span class=\"state\">Prix&nbsp;: 119\u00a0€/mois</span> «&nbsp;119 € par an&nbsp;»",
		"<strong>29</strong> «&nbsp;$29 a month&nbsp;»", `name="montant" value="oui" aria`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	me.save(copied, "f.price_display", "29 $/mois").Is(http.StatusSeeOther)
	const own = `<strong>29</strong> <span class="state state-good">`
	page = me.get(copied+"/source").OK().Contains("«&nbsp;29 $/mois&nbsp;».", own).Body
	if strings.Contains(page, "Prix&nbsp;:") || strings.Contains(page, `name="montant"`) {
		t.Error("a price in dollars becomes one in euros")
	}
}

func TestAPageThatCannotBeReadSaysWhyAndWhatHelps(t *testing.T) {
	me, v := newLocal(t), newVendor(t)
	copied := me.open("outils/plume")
	const again, address, paste = "Réessayer", `name="f.price_source"`, `name="colle"`
	me.get(copied+"/source").OK().Contains(address).Lacks(again, paste, "enregistrée")
	for _, test := range []struct{ address, why, helps string }{
		{v.URL + "/prive/tarifs", "Le fichier robots.txt du site ne permet pas", paste},
		{v.URL + "/interdit", "La page répond par le statut 403.", paste},
		{v.URL + "/absente", "La page n’existe pas (404)\u00a0: corrigez l’adresse.", address},
		{v.URL + "/panne", "La page répond par le statut 503.", again + paste},
		{v.URL + "/pdf", "à un autre genre de fichier.", paste},
		{v.URL + "/grande", "La page est trop grande", paste},
		{v.URL + "/coupe", "Le site ne répond pas", again + paste},
		{v.URL + "/image", "Aucun montant ne se lit", paste},
		{"http://10.0.0.1/tarifs", "L’adresse n’est pas celle d’une page publique", address},
		{"file:///etc/passwd", "L’adresse n’est pas celle d’une page publique", address},
	} {
		page, _ := me.readPage(copied, test.address)
		if !strings.Contains(page, test.why) || !strings.Contains(page, ">Revenir à la fiche") {
			t.Errorf("%s: %q is not in\n%s", test.address, test.why, page)
		}
		if isRead := test.address == v.URL+"/image"; strings.Contains(page, "enregistrée dans le fichier.") == isRead {
			t.Errorf("%s: it does not say that the address is saved", test.address)
		}
		for _, help := range []string{again, address, paste} {
			if strings.Contains(page, help) != strings.Contains(test.helps, help) {
				t.Errorf("%s: %s helps: %t", test.address, help, strings.Contains(page, help))
			}
		}
	}
}

func TestPagesAreReadOneAtATimeAndThirtyAMinute(t *testing.T) {
	n, v := newNewsroom(t, databases.OpenDSN(t, databases.SQLite(t)), t.TempDir()), newVendor(t)
	bob := n.as("Bob")
	copied := bob.edit("outils/plume", "f.price_source", v.URL+"/attend")
	ctx, leave := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, base+copied+"/source", nil)
	r.Header.Set("X-Who", "Bob")
	var reading sync.WaitGroup
	reading.Go(func() { n.handler.ServeHTTP(httptest.NewRecorder(), r) })
	<-v.asked
	bob.get(copied+"/source").OK().Contains("Une page se lit déjà pour vous", "Réessayer")
	leave()
	<-v.gone
	reading.Wait()

	bob.save(copied, "f.price_source", v.URL+"/un").Is(http.StatusSeeOther)
	for range 29 {
		bob.get(copied + "/source").OK()
	}
	n.as("Ada").get(copied+"/source").OK().Contains("30\u00a0pages en une minute", "Réessayer")
	n.now = n.now.Add(time.Minute)
	bob.get(copied + "/source").OK()
}

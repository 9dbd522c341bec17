package site

import "testing"

func TestCompoundsStayOnOneLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ page, want string }{
		{`<p>Mais faut-il payer ?</p>`, `<p>Mais <span class="nb">faut-il</span> payer ?</p>`},
		{`<p>(l’en-tête, peut-être)</p>`, `<p>(<span class="nb">l’en-tête</span>, <span class="nb">peut-être</span>)</p>`},
		{`<p>SHA-256 et va-t-en</p>`, `<p><span class="nb">SHA-256</span> et <span class="nb">va-t-en</span></p>`},
		{`<p>- un, deux - et -trois, quatre-</p>`, `<p>- un, deux - et -trois, quatre-</p>`},
		{`<p>l&#39;au-delà&amp;-x</p>`, `<p>l&#39;<span class="nb">au-delà</span>&amp;-x</p>`},
		{`<a title="peut-être > plus-tard" href='/a-b'>a-b</a>`, `<a title="peut-être > plus-tard" href='/a-b'><span class="nb">a-b</span></a>`},
		{`<title>a-b</title><option>a-b</option><pre><code>a-b</code></pre><code class="x">a-b</code>`, `<title>a-b</title><option>a-b</option><pre><code>a-b</code></pre><code class="x">a-b</code>`},
		{`<p>un-nom-qui-dépasse-vingt-lettres</p>`, `<p>un-nom-qui-dépasse-vingt-lettres</p>`},
		{`a-b`, `<span class="nb">a-b</span>`},
		{`<p title="a-b`, `<p title="a-b`},
		{``, ``},
	} {
		if got := string(keepCompounds([]byte(c.page))); got != c.want {
			t.Errorf("%s becomes\n%s, want\n%s", c.page, got, c.want)
		}
	}
}

func TestAddressesBreakAfterSeparatorsOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`a.fr/b-c?d=<e>&f`:     `a.<wbr>fr/<wbr>b-<wbr>c?<wbr>d=&lt;e&gt;&amp;<wbr>f`,
		`9 €/mois → 12 €/mois`: `<span class="side">9 €/mois</span> → <span class="side">12 €/mois</span>`,
		`8 €/utilisateur/mois`: `8 €/<wbr>utilisateur/<wbr>mois`,
	} {
		if got := string(breakable(text)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

package accountsite

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"palmares/internal/account"
	"palmares/internal/store"
)

type keyRow struct {
	Key account.Key
	Is  account.KeyState
}

// keyForm makes a key. Newest is what tells a form that is sent again, by a reload
// or two clicks, from a new one (see store.Keys.CreateNext).
type keyForm struct {
	Name    string // as it was typed
	Problem string
	Newest  string
}

type keysPage struct {
	page
	Live, Ended []keyRow
	Counted     int // against the plan
	Active      int // of them, those that are not suspended
	Excess      int // of those, how many the plan does not allow
	MaxKeys     int
	Pro         bool
	DueAt       time.Time // when keys above the plan's number are suspended; zero for never
	Form        *keyForm  // nil when the plan has no room
}

func (p *portal) listKeys(r *request) (*answer, error) { return p.keys(r, "", "", "") }

// keys is the list, with what was typed and what is wrong with it, or a notice of why
// nothing was made; "" for none.
func (p *portal) keys(r *request, name, problem, notice string) (*answer, error) {
	a := r.owner.Account
	keys, err := p.Store.Keys.List(r.Context(), a.Email)
	if err != nil {
		return nil, err
	}
	data := keysPage{page: r.page("Clés"), MaxKeys: account.MaxKeys(a.Plan), Pro: a.Plan == account.Pro}
	if data.DueAt, err = p.Store.Keys.SuspensionDue(r.Context(), a.ID); err != nil {
		return nil, err
	}
	newest := ""
	for _, k := range keys {
		newest = max(newest, k.ID)
		row := keyRow{k, k.State(r.now)}
		switch row.Is {
		case account.KeyActive, account.KeySuspended:
			data.Counted++
			if row.Is == account.KeyActive {
				data.Active++
			}
			data.Live = append(data.Live, row)
		case account.KeyOverlap:
			data.Live = append(data.Live, row)
		default:
			data.Ended = append(data.Ended, row)
		}
	}
	data.Excess = max(0, data.Active-data.MaxKeys)
	if data.Counted < data.MaxKeys {
		data.Form = &keyForm{Name: name, Problem: problem, Newest: newest}
	}
	if notice != "" {
		data.Notice = notices[notice]
	}
	answer := render("keys", data.page, data)
	switch {
	case notice != "":
		answer.status = http.StatusConflict
	case problem != "":
		answer.status = http.StatusBadRequest
	}
	return answer, nil
}

// nameProblem says what is wrong with the name of a key, which the store refused.
func nameProblem(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "Donnez un nom à la clé, qui dise où elle sert."
	case utf8.RuneCountInString(strings.TrimSpace(name)) > 100:
		return "Ce nom a plus de 100\u00a0caractères\u00a0: raccourcissez-le."
	}
	return "Ce nom contient des caractères qui ne s’affichent pas\u00a0: gardez lettres, chiffres et espaces."
}

// A secretPage shows what is shown once.
type secretPage struct {
	page
	Secret  shownOnce
	Name    string // of the key
	Curl    shownOnce
	OldEnds time.Time // of what was replaced; zero when nothing was
	Back    string
}

// A shownOnce is a text with a button to copy it.
type shownOnce struct{ ID, Text, What string }

func (p *portal) createKey(r *request) (*answer, error) {
	name := r.PostForm.Get("nom")
	text, key, err := p.Store.Keys.CreateNext(r.Context(), r.owner.Account.Email, name, r.PostForm.Get("derniere"), r.now)
	switch {
	case errors.Is(err, store.ErrInvalid):
		return p.keys(r, name, nameProblem(name), "")
	case errors.Is(err, store.ErrChanged):
		keys, err := p.Store.Keys.List(r.Context(), r.owner.Account.Email)
		if err != nil {
			return nil, err
		}
		// Sent again, or left open while something else was made.
		if slices.ContainsFunc(keys, func(k account.Key) bool {
			return k.ID > r.PostForm.Get("derniere") && k.Name == strings.TrimSpace(name)
		}) {
			return seeOther(keysPath, "cle-deja-creee"), nil
		}
		return p.keys(r, name, "", "cles-changees")
	case errors.Is(err, store.ErrKeyLimit):
		a, err := p.keys(r, "", "", "")
		if err == nil {
			a.status = http.StatusConflict
		}
		return a, err
	case err != nil:
		return nil, err
	}
	return p.showNewKey(r, "Votre nouvelle clé", text, key, time.Time{}), nil
}

// showNewKey is the one page that ever shows a key, and the answer to the request that
// made it: no address leads there.
func (p *portal) showNewKey(r *request, title, text string, key account.Key, oldEnds time.Time) *answer {
	data := secretPage{
		page: r.page(title), Name: key.Name, OldEnds: oldEnds, Back: keysPath,
		Secret: shownOnce{"page.cle", text, "la clé"},
		Curl:   shownOnce{"page.appel", "curl -H 'Authorization: Bearer " + text + "' '" + p.BaseURL + "/api/v1/tools?limit=3'", "l’appel"},
	}
	return render("newkey", data.page, data)
}

type keyPage struct {
	page
	keyRow
	Problem string // with the name
	Typed   string
}

func (p *portal) showKey(r *request) (*answer, error) { return p.key(r, nil) }

// key is the page of a key; typed is a name that was refused, nil for none.
func (p *portal) key(r *request, typed *string) (*answer, error) {
	k, err := p.Store.Keys.Find(r.Context(), r.owner.Account.Owner(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data := keyPage{page: r.page("Clé «\u00a0" + k.Name + "\u00a0»"), keyRow: keyRow{k, k.State(r.now)}, Typed: k.Name}
	if typed == nil {
		return render("key", data.page, data), nil
	}
	data.Typed, data.Problem = *typed, nameProblem(*typed)
	a := render("key", data.page, data)
	a.status = http.StatusBadRequest
	return a, nil
}

func (p *portal) renameKey(r *request) (*answer, error) {
	name := r.PostForm.Get("nom")
	err := p.Store.Keys.Rename(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), name)
	if errors.Is(err, store.ErrInvalid) {
		return p.key(r, &name)
	}
	if err != nil {
		return nil, err
	}
	return seeOther(keysPath+"/"+r.PathValue("id"), "cle-renommee"), nil
}

// rotateKey needs nothing to tell a form that is sent again: a key has one successor.
func (p *portal) rotateKey(r *request) (*answer, error) {
	text, key, err := p.Store.Keys.Rotate(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), r.now)
	switch {
	case errors.Is(err, store.ErrKeyEnded):
		return seeOther(keysPath, "cle-deja-remplacee"), nil
	case errors.Is(err, store.ErrKeySuspended):
		return seeOther(keysPath, "cle-suspendue"), nil
	case err != nil:
		return nil, err
	}
	return p.showNewKey(r, "La clé est remplacée", text, key, r.now.Add(account.Overlap).UTC()), nil
}

func (p *portal) confirmRevocation(r *request) (*answer, error) {
	k, err := p.Store.Keys.Find(r.Context(), r.owner.Account.Owner(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data := keyPage{page: r.page("Révoquer une clé"), keyRow: keyRow{k, k.State(r.now)}}
	return render("revocation", data.page, data), nil
}

func (p *portal) revokeKey(r *request) (*answer, error) {
	if err := p.Store.Keys.Revoke(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), r.now); err != nil {
		return nil, err
	}
	return seeOther(keysPath, "cle-revoquee"), nil
}

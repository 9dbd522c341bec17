package accountsite

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
)

type keyRow struct {
	Key   account.Key
	State account.KeyState
}

// keyForm is the form that creates a key. Newest is the newest key when the form was
// shown: it distinguishes a form that is sent twice, by a reload or a second click,
// from a new one (see accountdb.Keys.Create).
type keyForm struct {
	Name    string // as typed
	Problem string
	Newest  string
}

type keysPage struct {
	page
	Live, Ended []keyRow
	Counted     int // towards the limit of the plan
	Active      int // of Counted, those not suspended
	Excess      int // of Active, those above the limit of the plan
	MaxKeys     int
	Pro         bool
	DueAt       time.Time // when keys in excess are suspended; zero for never
	Form        *keyForm  // nil if the plan allows no more keys
}

func (p *keys) listKeys(r *request) (*response, error) { return p.list(r, "", "", "") }

// keys shows the list. After a rejected form, name and problem are what was typed and
// what is wrong with it; notice is why nothing was created; each may be "".
func (p *keys) list(r *request, name, problem, notice string) (*response, error) {
	a := r.owner.Account
	keys, err := p.Store.Keys.List(r.Context(), a.Email)
	if err != nil {
		return nil, err
	}
	data := keysPage{page: r.page("Clés"), MaxKeys: account.MaxKeys(a.Plan), Pro: a.Plan == account.Pro}
	data.DueAt, err = p.Store.Keys.SuspensionDue(r.Context(), a.ID)
	if err != nil {
		return nil, err
	}
	newest := ""
	for _, k := range keys {
		newest = max(newest, k.ID)
		row := keyRow{k, k.State(r.Now)}
		switch row.State {
		case account.KeyActive, account.KeySuspended:
			data.Counted++
			if row.State == account.KeyActive {
				data.Active++
			}
			data.Live = append(data.Live, row)
		case account.KeyOverlap:
			data.Live = append(data.Live, row)
		default:
			if r.Now.Sub(cmp.Or(k.RevokedAt, k.ExpiresAt)) < endedFor {
				data.Ended = append(data.Ended, row)
			}
		}
	}
	data.Excess = max(0, data.Active-data.MaxKeys)
	if data.Counted < data.MaxKeys {
		data.Form = &keyForm{Name: name, Problem: problem, Newest: newest}
	}
	if notice != "" {
		data.Notice = notices[notice]
	}
	resp := render("keys", data)
	switch {
	case notice != "":
		resp.Status = http.StatusConflict
	case problem != "":
		resp.Status = http.StatusBadRequest
	}
	return resp, nil
}

// endedFor is how long the page shows keys that have ended.
const endedFor = 90 * 24 * time.Hour

// nameProblem explains why the store rejected the name of a key.
func nameProblem(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "Donnez un nom à la clé, qui dise où elle sert."
	case utf8.RuneCountInString(strings.TrimSpace(name)) > 100:
		return "Ce nom a plus de 100\u00a0caractères\u00a0: raccourcissez-le."
	}
	return "Ce nom contient des caractères qui ne s’affichent pas\u00a0: gardez lettres, chiffres et espaces."
}

func (p *keys) createKey(r *request) (*response, error) {
	name := r.PostForm.Get("nom")
	text, key, err := p.Store.Keys.Create(r.Context(), r.owner.Account.Email, name, new(r.PostForm.Get("derniere")), r.Now)
	switch {
	case errors.Is(err, sqldb.ErrInvalid):
		return p.list(r, name, nameProblem(name), "")
	case errors.Is(err, sqldb.ErrChanged):
		keys, err := p.Store.Keys.List(r.Context(), r.owner.Account.Email)
		if err != nil {
			return nil, err
		}
		// The form was sent twice, or another key was created while it was open.
		if slices.ContainsFunc(keys, func(k account.Key) bool {
			return k.ID > r.PostForm.Get("derniere") && k.Name == strings.TrimSpace(name)
		}) {
			return seeOther(keysPath, "cle-deja-creee"), nil
		}
		return p.list(r, name, "", "cles-changees")
	case errors.Is(err, accountdb.ErrKeyLimit):
		return conflict(p.list(r, "", "", ""))
	case err != nil:
		return nil, err
	}
	return p.showNewKey(r, "Votre nouvelle clé", text, key, time.Time{}), nil
}

func (p *keys) showNewKey(r *request, title, text string, key account.Key, oldEnds time.Time) *response {
	data := secretPage{
		page: r.page(title), Name: key.Name, OldEnds: oldEnds, Back: keysPath,
		Secret: copyable{"page.cle", text, "la clé"},
		Curl: copyable{
			"page.appel", "curl -H 'Authorization: Bearer " + text + "' '" + p.BaseURL + "/api/v1/tools?limit=3'", "l’appel",
		},
	}
	return render("newkey", data)
}

type keyPage struct {
	page
	keyRow
	Problem string // with the name
	Typed   string
}

func (p *keys) showKey(r *request) (*response, error) { return p.key(r, nil) }

// key shows a key; typed is a rejected name, or nil.
func (p *keys) key(r *request, typed *string) (*response, error) {
	k, err := p.Store.Keys.Find(r.Context(), r.owner.Account.Owner(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data := keyPage{page: r.page("Clé «\u00a0" + k.Name + "\u00a0»"), keyRow: keyRow{k, k.State(r.Now)}, Typed: k.Name}
	if typed == nil {
		return render("key", data), nil
	}
	data.Typed, data.Problem = *typed, nameProblem(*typed)
	a := render("key", data)
	a.Status = http.StatusBadRequest
	return a, nil
}

func (p *keys) renameKey(r *request) (*response, error) {
	name := r.PostForm.Get("nom")
	err := p.Store.Keys.Rename(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), name)
	if errors.Is(err, sqldb.ErrInvalid) {
		return p.key(r, &name)
	}
	return seeOther(keysPath+"/"+r.PathValue("id"), "cle-renommee"), err
}

// rotateKey needs no check for a form that is sent twice: a key is replaced only once.
func (p *keys) rotateKey(r *request) (*response, error) {
	text, key, err := p.Store.Keys.Rotate(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), r.Now)
	switch {
	case errors.Is(err, accountdb.ErrKeyEnded):
		return seeOther(keysPath, "cle-deja-remplacee"), nil
	case errors.Is(err, accountdb.ErrKeySuspended):
		return seeOther(keysPath, "cle-suspendue"), nil
	case errors.Is(err, accountdb.ErrKeyOverlaps):
		return seeOther(keysPath, "cles-remplacees"), nil
	case err != nil:
		return nil, err
	}
	return p.showNewKey(r, "La clé est remplacée", text, key, r.Now.Add(account.Overlap).UTC()), nil
}

func (p *keys) confirmRevocation(r *request) (*response, error) {
	k, err := p.Store.Keys.Find(r.Context(), r.owner.Account.Owner(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return render("revocation", keyPage{page: r.page("Révoquer une clé"), keyRow: keyRow{k, k.State(r.Now)}}), nil
}

func (p *keys) revokeKey(r *request) (*response, error) {
	err := p.Store.Keys.Revoke(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), r.Now)
	return seeOther(keysPath, "cle-revoquee"), err
}

package accountsite

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"palmares/internal/account"
	"palmares/internal/store"
	"palmares/internal/webhook"
)

// typeWords say when each event comes, for whoever chooses among them.
var typeWords = map[string]string{
	"tool.created":           "un outil arrive",
	"tool.updated":           "une fiche change",
	"tool.retired":           "un outil part au cimetière",
	"tool.restored":          "il en revient",
	"tool.removed":           "il disparaît du catalogue",
	"pricing.updated":        "un prix change",
	"comparatif.published":   "un comparatif paraît",
	"comparatif.updated":     "il change",
	"comparatif.unpublished": "il est retiré",
	"embeddings.updated":     "les extraits d’un avis changent",
	"catalog.updated":        "une publication a eu lieu, avec ses totaux",
}

// endpointForm makes an endpoint, or changes one.
type endpointForm struct {
	New          bool
	Action       string
	Newest       string // see keyForm
	URL          string // as it was typed
	URLProblem   string
	All          bool
	Types        []typeChoice
	TypesProblem string
}

type typeChoice struct {
	Name, Text string
	Chosen     bool
}

func newEndpointForm(action, url string, events []string) *endpointForm {
	f := &endpointForm{Action: action, URL: url, All: events == nil}
	for _, name := range webhook.Types {
		f.Types = append(f.Types, typeChoice{name, typeWords[name], slices.Contains(events, name)})
	}
	return f
}

// readEndpoint checks what was typed. The form is nil when nothing is wrong with it.
func (p *portal) readEndpoint(r *request, action string) (url string, events []string, wrong *endpointForm) {
	if r.PostForm.Get("portee") == "choix" {
		events = append([]string{}, r.PostForm["type"]...)
	}
	f := newEndpointForm(action, r.PostForm.Get("url"), events)
	url, err := webhook.CheckURL(f.URL, p.Allow)
	var refused *webhook.URLError
	if errors.As(err, &refused) {
		f.URLProblem = refused.French
	}
	unknown := func(name string) bool { return !slices.Contains(webhook.Types, name) }
	if events != nil && (len(events) == 0 || slices.ContainsFunc(events, unknown)) {
		f.TypesProblem = "Cochez au moins un événement, ou choisissez-les tous. Pour ne rien recevoir, mettez en pause."
	}
	if f.URLProblem == "" && f.TypesProblem == "" {
		return url, events, nil
	}
	return "", nil, f
}

type endpointsPage struct {
	page
	Pro       bool
	Endpoints []webhook.Endpoint
	Max       int
	Form      *endpointForm // nil when there is no room, or no Pro
}

func (p *portal) listEndpoints(r *request) (*answer, error) { return p.endpoints(r, nil, "") }

// endpoints is the list, with a form that was refused, nil for none, or a notice of
// why nothing was made, "" for none.
func (p *portal) endpoints(r *request, refused *endpointForm, notice string) (*answer, error) {
	all, err := p.Store.Endpoints.List(r.Context(), r.owner.Account.Owner())
	if err != nil {
		return nil, err
	}
	data := endpointsPage{page: r.page("Webhooks"), Pro: r.owner.Account.Plan == account.Pro, Endpoints: all, Max: webhook.MaxEndpoints}
	if data.Pro && len(all) < data.Max {
		if data.Form = refused; refused == nil {
			data.Form = newEndpointForm(endpointsPath, "", nil)
		}
		data.Form.New = true
		for _, e := range all {
			data.Form.Newest = max(data.Form.Newest, e.ID)
		}
	}
	if notice != "" {
		data.Notice = notices[notice]
	}
	a := render("endpoints", data.page, data)
	switch {
	case notice != "":
		a.status = http.StatusConflict
	case refused != nil:
		a.status = http.StatusBadRequest
	}
	return a, nil
}

func (p *portal) createEndpoint(r *request) (*answer, error) {
	if r.owner.Account.Plan != account.Pro {
		return nil, store.ErrPlan
	}
	url, events, wrong := p.readEndpoint(r, endpointsPath)
	if wrong != nil {
		return p.endpoints(r, wrong, "")
	}
	secret := webhook.NewSecret()
	seal := func(id string) string { return p.Sealer.Seal(id, secret) }
	e, err := p.Store.Endpoints.CreateNext(r.Context(), r.owner.Account.ID, url, events, seal, r.PostForm.Get("dernier"), r.now)
	switch {
	case errors.Is(err, store.ErrChanged):
		all, err := p.Store.Endpoints.List(r.Context(), r.owner.Account.Owner())
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(e webhook.Endpoint) bool { return e.ID > r.PostForm.Get("dernier") && e.URL == url }) {
			return seeOther(endpointsPath, "point-deja-cree"), nil
		}
		return p.endpoints(r, newEndpointForm(endpointsPath, r.PostForm.Get("url"), events), "points-changes")
	case errors.Is(err, store.ErrEndpointLimit):
		a, err := p.endpoints(r, nil, "")
		if err == nil {
			a.status = http.StatusConflict
		}
		return a, err
	case err != nil:
		return nil, err
	}
	return p.showNewSecret(r, "Votre point de réception", secret, e, time.Time{}), nil
}

// showNewSecret is to secrets of endpoints what showNewKey is to keys.
func (p *portal) showNewSecret(r *request, title, secret string, e webhook.Endpoint, oldEnds time.Time) *answer {
	data := secretPage{
		page: r.page(title), Name: e.URL, OldEnds: oldEnds, Back: endpointsPath + "/" + e.ID,
		Secret: shownOnce{"page.secret", secret, "le secret"},
	}
	return render("newsecret", data.page, data)
}

type endpointPage struct {
	page
	Pro        bool
	Endpoint   webhook.Endpoint
	Now        time.Time
	Broken     bool // it failed so often that it is sent one thing at a time
	Overlaps   bool // the secret before signs too
	Last       string
	Form       *endpointForm
	Editing    bool // the form was refused
	Deliveries []deliveryRow
	Recoveries []webhook.Recovery
	Since      recoverForm
}

type recoverForm struct {
	Value, Min, Max string // days
	Problem         string
}

func (p *portal) showEndpoint(r *request) (*answer, error) { return p.endpoint(r, nil, "") }

// endpoint is the page of an endpoint, with a form that was refused, nil for none,
// or what is wrong with the day to recover from, "" for nothing.
func (p *portal) endpoint(r *request, refused *endpointForm, badDay string) (*answer, error) {
	owner, id := r.owner.Account.Owner(), r.PathValue("id")
	e, err := p.Store.Endpoints.Find(r.Context(), owner, id)
	if err != nil {
		return nil, err
	}
	recent, err := p.Store.Deliveries.List(r.Context(), owner, id, store.DeliveryFilter{Limit: 5})
	if err != nil {
		return nil, err
	}
	recoveries, err := p.Store.Deliveries.Recoveries(r.Context(), owner, id)
	if err != nil {
		return nil, err
	}
	data := endpointPage{
		page: r.page("Point de réception"), Pro: r.owner.Account.Plan == account.Pro, Endpoint: e,
		Now: r.now, Broken: e.State == webhook.Active && e.Failures >= webhook.BreakAfter, Overlaps: r.now.Before(e.OldSecretUntil), Last: stamp(e.OldSecretUntil),
		Form: refused, Editing: refused != nil, Deliveries: deliveryRows(recent), Recoveries: recoveries[:min(len(recoveries), 10)],
		Since: recoverForm{Value: day(r.now), Min: day(r.now.Add(-webhook.Keep)), Max: day(r.now), Problem: badDay},
	}
	if refused == nil {
		data.Form = newEndpointForm(endpointsPath+"/"+id, e.URL, e.Events)
	}
	a := render("endpoint", data.page, data)
	if refused != nil || badDay != "" {
		a.status = http.StatusBadRequest
	}
	return a, nil
}

// stamp is a moment in a form; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (p *portal) changeEndpoint(r *request) (*answer, error) {
	path := endpointsPath + "/" + r.PathValue("id")
	url, events, wrong := p.readEndpoint(r, path)
	if wrong != nil {
		return p.endpoint(r, wrong, "")
	}
	if _, err := p.change(r, webhook.Change{URL: &url, Events: &events}); err != nil {
		return nil, err
	}
	return seeOther(path, "point-change"), nil
}

// stateNotices say what became of an endpoint whose owner wanted it active or paused:
// without Pro the first is not hers to have.
var stateNotices = map[webhook.State]string{
	webhook.Active:    "point-actif",
	webhook.Paused:    "point-en-pause",
	webhook.Suspended: "point-suspendu",
}

func (p *portal) changeState(r *request) (*answer, error) {
	state := webhook.State(r.PostForm.Get("etat"))
	if state != webhook.Active && state != webhook.Paused {
		return nil, unreadableForm()
	}
	e, err := p.change(r, webhook.Change{State: &state})
	if err != nil {
		return nil, err
	}
	return seeOther(endpointsPath+"/"+e.ID, stateNotices[e.State]), nil
}

func (p *portal) change(r *request, c webhook.Change) (webhook.Endpoint, error) {
	e, err := p.Store.Endpoints.Change(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), c, r.now)
	if err == nil {
		p.WakeWebhooks() // for what waits
	}
	return e, err
}

func (p *portal) rotateSecret(r *request) (*answer, error) {
	id, last := r.PathValue("id"), time.Time{}
	if text := r.PostForm.Get("ancien"); text != "" {
		var err error
		if last, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return nil, unreadableForm()
		}
	}
	secret := webhook.NewSecret()
	e, err := p.Store.Endpoints.RotateNextSecret(r.Context(), r.owner.Account.Owner(), id, p.Sealer.Seal(id, secret), last, r.now)
	if errors.Is(err, store.ErrChanged) {
		return seeOther(endpointsPath+"/"+id, "secret-deja-remplace"), nil
	}
	if err != nil {
		return nil, err
	}
	return p.showNewSecret(r, "Le secret est remplacé", secret, e, e.OldSecretUntil), nil
}

func (p *portal) ping(r *request) (*answer, error) {
	id := r.PathValue("id")
	d, err := p.Store.Deliveries.Ping(r.Context(), r.owner.Account.Owner(), id, r.now)
	if done := r.refusedPing(err); done != "" {
		return seeOther(endpointsPath+"/"+id, done), nil
	}
	if err != nil {
		return nil, err
	}
	p.WakeWebhooks()
	return seeOther(deliveriesPath+"/"+d.ID, "essai"), nil
}

// refusedPing is what to say of a ping that was not made; "" when that is not why.
func (r *request) refusedPing(err error) string {
	switch {
	case errors.Is(err, store.ErrTooMany):
		return "trop-d-essais"
	case errors.Is(err, store.ErrInactive) && r.owner.Account.Plan != account.Pro:
		return "point-sans-pro"
	case errors.Is(err, store.ErrInactive):
		return "point-inactif"
	}
	return ""
}

// recover takes a day, since that is what people remember.
func (p *portal) recover(r *request) (*answer, error) {
	id := r.PathValue("id")
	if r.owner.Account.Plan != account.Pro {
		return nil, store.ErrPlan
	}
	since, err := time.Parse(time.DateOnly, r.PostForm.Get("depuis"))
	if err == nil {
		_, err = p.Store.Deliveries.Recover(r.Context(), r.owner.Account.Owner(), id, since, r.now)
	} else {
		err = store.ErrInvalid
	}
	switch {
	case errors.Is(err, store.ErrInvalid):
		return p.endpoint(r, nil, "Choisissez un jour des 30 derniers, aujourd’hui compris.")
	case errors.Is(err, store.ErrTooMany):
		return seeOther(endpointsPath+"/"+id, "reprise-en-cours"), nil
	case err != nil:
		return nil, err
	}
	p.WakeWebhooks()
	e, err := p.Store.Endpoints.Find(r.Context(), r.owner.Account.Owner(), id)
	if err != nil {
		return nil, err
	}
	if e.State != webhook.Active {
		return seeOther(endpointsPath+"/"+id, "reprise-plus-tard"), nil
	}
	return seeOther(endpointsPath+"/"+id, "reprise"), nil
}

func (p *portal) confirmRemoval(r *request) (*answer, error) {
	e, err := p.Store.Endpoints.Find(r.Context(), r.owner.Account.Owner(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	data := endpointPage{page: r.page("Supprimer un point de réception"), Endpoint: e}
	return render("removal", data.page, data), nil
}

func (p *portal) removeEndpoint(r *request) (*answer, error) {
	if err := p.Store.Endpoints.Delete(r.Context(), r.owner.Account.Owner(), r.PathValue("id")); err != nil {
		return nil, err
	}
	return seeOther(endpointsPath, "point-supprime"), nil
}

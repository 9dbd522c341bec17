package accountsite

import (
	"errors"
	"net/url"
	"slices"
	"time"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/sqldb"
	"palmares/internal/webhook"
)

type deliveryRow struct {
	webhook.Delivery
	Now time.Time
}

func deliveryRows(list []webhook.Delivery, now time.Time) []deliveryRow {
	rows := make([]deliveryRow, len(list))
	for i, d := range list {
		rows[i] = deliveryRow{d, now}
	}
	return rows
}

// deliveriesShown is how many deliveries are on a page of the log.
const deliveriesShown = 25

type deliveriesPage struct {
	page
	Endpoint   webhook.Endpoint
	State      webhook.DeliveryState // "" for any
	Type       string
	States     []webhook.DeliveryState
	Types      []string
	Deliveries []deliveryRow
	Older      string // address of the next page; "" on the last
	Newest     string // address of the first page; "" on it
}

func (p *endpoints) listDeliveries(r *request) (*response, error) {
	owner, id, query := r.owner.Account.Owner(), r.PathValue("id"), r.URL.Query()
	e, err := p.Store.Endpoints.Find(r.Context(), owner, id)
	if err != nil {
		return nil, err
	}
	data := deliveriesPage{
		page: r.page("Journal des envois"), Endpoint: e,
		State: webhook.DeliveryState(query.Get("etat")), Type: query.Get("type"),
		States: webhook.DeliveryStates, Types: webhook.DeliveryTypes,
	}
	cursor := query.Get("avant")
	if cursor != "" && !account.IsID(account.DeliveryID, cursor) || data.State != "" && !slices.Contains(data.States, data.State) ||
		data.Type != "" && !slices.Contains(data.Types, data.Type) {
		return nil, notFound("Ce journal n’a pas de tel filtre.")
	}
	list, err := p.Store.Deliveries.List(r.Context(), owner, id, accountdb.DeliveryFilter{
		State: data.State, Type: data.Type, Before: cursor, Limit: deliveriesShown + 1,
	})
	if errors.Is(err, sqldb.ErrInvalid) {
		return nil, notFound("Le journal ne va plus jusque-là\u00a0: les envois sont gardés 30\u00a0jours.")
	}
	if err != nil {
		return nil, err
	}
	pageBefore := func(before string) string {
		chosen := url.Values{}
		for name, value := range map[string]string{"etat": string(data.State), "type": data.Type, "avant": before} {
			if value != "" {
				chosen.Set(name, value)
			}
		}
		return (&url.URL{Path: r.URL.Path, RawQuery: chosen.Encode()}).String()
	}
	if len(list) > deliveriesShown { // one more was read to know whether there is another page
		list = list[:deliveriesShown]
		data.Older = pageBefore(list[deliveriesShown-1].ID)
	}
	if cursor != "" {
		data.Newest = pageBefore("")
	}
	data.Deliveries = deliveryRows(list, r.Now)
	return render("deliveries", data), nil
}

type deliveryPage struct {
	page
	Delivery *webhook.Delivery // its attempts, newest first
	Endpoint webhook.Endpoint
	Now      time.Time
}

func (p *endpoints) showDelivery(r *request) (*response, error) {
	owner := r.owner.Account.Owner()
	d, err := p.awaitResponse(r)
	if err != nil {
		return nil, err
	}
	e, err := p.Store.Endpoints.Find(r.Context(), owner, d.EndpointID)
	if err != nil {
		return nil, err
	}
	data := deliveryPage{page: r.page("Envoi " + d.Type), Delivery: &d, Endpoint: e, Now: r.Now}
	if r.isFirst() && len(d.Attempts) > 0 {
		first := d.Attempts[0]
		data.Notice = "Échec\u00a0: "
		if first.Outcome == webhook.OK {
			data.Notice = "C’est remis\u00a0: "
		}
		data.Notice += first.French() + ", en " + first.Took() + "."
	}
	slices.Reverse(d.Attempts)
	return render("delivery", data), nil
}

// isFirst reports whether a page is shown because its delivery was just requested.
func (r *request) isFirst() bool {
	done := r.URL.Query().Get("fait")
	return done == "essai" || done == "renvoi"
}

const (
	// responseWait is how long a page waits for the response to a ping. It is less than
	// requestTimeout; a receiver may take longer, and then the page is to be reloaded.
	responseWait = 8 * time.Second
	responsePoll = 100 * time.Millisecond
	// maxWaiting is how many pages wait at once. Others are shown without the response.
	maxWaiting = 64
)

// awaitResponse returns the delivery of a page. If it was just requested, it waits
// for the response to it.
func (p *endpoints) awaitResponse(r *request) (webhook.Delivery, error) {
	find := func() (webhook.Delivery, error) {
		return p.Store.Deliveries.Find(r.Context(), r.owner.Account.Owner(), r.PathValue("id"))
	}
	d, err := find()
	if !r.isFirst() || r.Now.Sub(d.CreatedAt) > responseWait {
		return d, err
	}
	select {
	case p.waiting <- struct{}{}:
	default:
		return d, err
	}
	defer func() { <-p.waiting }()
	poll, end := time.NewTicker(responsePoll), time.NewTimer(responseWait)
	defer poll.Stop()
	defer end.Stop()
	for err == nil && d.State == webhook.Pending && d.Count == 0 {
		select {
		case <-r.Context().Done():
			return d, nil
		case <-end.C:
			return d, nil
		case <-poll.C:
			d, err = find()
		}
	}
	return d, err
}

func (p *endpoints) resend(r *request) (*response, error) {
	d, err := p.Store.Deliveries.Resend(r.Context(), r.owner.Account.Owner(), r.PathValue("id"), r.Now)
	if done := r.pingNotice(err); done != "" {
		return seeOther(deliveriesPath+"/"+r.PathValue("id"), done), nil
	}
	if err != nil {
		return nil, err
	}
	p.WakeWebhooks()
	return seeOther(deliveriesPath+"/"+d.ID, "renvoi"), nil
}

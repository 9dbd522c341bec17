package accountsite

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"palmares/internal/account"
	"palmares/internal/accountdb"
	"palmares/internal/newsletter"
	"palmares/internal/readerdb"
	"palmares/internal/sqldb"
)

// EndURL returns the address that ends what a reader follows, or all of it: see readerdb.Follow. The token
// in it is a secret.
func EndURL(base, token, all string) string {
	if all != "" {
		token += "&tout=" + url.QueryEscape(all)
	}
	return base + endPath + "?jeton=" + token
}

// followPage is the form to follow something by mail, and the pages that confirm or end that.
type followPage struct {
	page
	Topics  []newsletter.Topic // to choose from
	Topic   string             // the name of the one that is meant
	What    string             // its value
	Pace    string
	Email   string // as typed, or of the link
	Token   string // of the link
	All     string // ends everything
	IsAll   bool   // the link does
	IsLeft  bool   // it is what is followed still, after something has ended
	Problem string // "" for none
}

// followPage returns what a request asks for.
func (p *readers) followPage(r *request, title, problem string) (followPage, error) {
	what := r.FormValue("quoi")
	topics := newsletter.Topics(p.Site.Snapshot(), what)
	if what != "" && len(topics) == 1 {
		return followPage{}, notFound("Ce que vous voulez suivre n’existe pas, ou plus\u00a0: choisissez depuis la page d’un outil ou d’une catégorie.")
	}
	data := followPage{
		page: r.page(title), Topics: topics, Topic: topics[0].Text, What: topics[0].Value, Pace: readerdb.FollowAtOnce,
		Email: r.PostForm.Get("email"), Token: r.FormValue("jeton"), Problem: problem,
	}
	switch pace := r.FormValue("quand"); pace {
	case readerdb.FollowAtOnce, readerdb.FollowWeekly:
		data.Pace = pace
	case "":
	default:
		return followPage{}, &failure{
			Status: http.StatusBadRequest, Title: "Demande mal formée", Text: "quand est aussitot ou semaine\u00a0: recommencez depuis la page Suivre.",
		}
	}
	return data, nil
}

func (p *readers) showFollow(r *request) (*response, error) {
	data, err := p.followPage(r, "Suivre", "")
	return render("follow", data), err
}

// follow mails a link. The response depends only on whether the address is valid: nobody learns who
// follows what, and only the owner of the address can confirm.
func (p *readers) follow(r *request) (*response, error) {
	data, err := p.followPage(r, "Suivre", "Cette adresse n’en est pas une\u00a0: écrivez-la seule, comme ada@example.org.")
	if err != nil {
		return nil, err
	}
	if r.PostForm.Get("site") != "" { // a robot
		return seeOther(followPath, "suivre"), nil
	}
	about := url.Values{"quoi": {data.What}, "quand": {data.Pace}}.Encode()
	queued, err := p.Store.Links.Sealed(p.Sealer).Request(r.Context(), strings.TrimSpace(data.Email), account.LinkFollow, about, p.network(r), r.Now)
	if errors.Is(err, sqldb.ErrInvalid) {
		a := render("follow", data)
		a.Status = http.StatusBadRequest
		return a, nil
	}
	if queued {
		p.WakeMail()
	}
	return seeOther(followPath, "suivre"), p.belowCeiling(err)
}

// showConfirmation shows the button that uses a link. Opening the link does not: mail scanners open links
// too.
func (p *readers) showConfirmation(r *request) (*response, error) {
	data, err := p.followPage(r, "Confirmer", "")
	if err == nil {
		data.Email, err = p.Store.Links.Sealed(p.Sealer).Check(r.Context(), data.Token, account.LinkFollow, r.Now)
	}
	if err != nil {
		return nil, followFailure(err)
	}
	return render("confirmfollow", data), nil
}

func (p *readers) confirmFollow(r *request) (*response, error) {
	data, err := p.followPage(r, "", "")
	if err == nil {
		_, err = p.Store.Links.Sealed(p.Sealer).Check(r.Context(), data.Token, account.LinkFollow, r.Now)
	}
	if err == nil {
		err = p.Readers.Follows.Sealed(p.Sealer).Confirm(r.Context(), data.Token, newsletter.Followed(p.Site.Snapshot(), data.What), data.Pace, r.Now)
	}
	if err != nil {
		return nil, followFailure(err)
	}
	return seeOther(followPath, "suivi"), nil
}

// followFailure returns the page for a link that cannot be used. It does not offer to sign in.
func followFailure(err error) error {
	text := "Ce lien n’est pas l’un des nôtres, ou plus\u00a0: copiez-le en entier depuis le courriel, ou recommencez depuis la page Suivre."
	switch {
	case errors.Is(err, accountdb.ErrLinkUsed):
		text = "Il a déjà servi. Pour suivre autre chose, ou de nouveau, recommencez depuis la page Suivre."
	case errors.Is(err, accountdb.ErrLinkExpired):
		text = "Il a plus de 24\u00a0heures. Recommencez depuis la page Suivre."
	case errors.Is(err, sqldb.ErrTooMany):
		text = "Cette adresse suit déjà cinquante choses\u00a0: arrêtez-en une d’abord, ou suivez une catégorie."
	case !errors.Is(err, sqldb.ErrNotFound):
		return err
	}
	return &failure{Status: http.StatusGone, Title: "Ce lien ne sert pas", Text: text}
}

// showEnd shows the button that ends what a link is about.
func (p *readers) showEnd(r *request) (*response, error) {
	all := r.FormValue("tout")
	follows, err := p.Readers.Follows.Sealed(p.Sealer).Meant(r.Context(), r.FormValue("jeton"), all)
	if err != nil {
		return nil, endFailure(err)
	}
	return p.endPage(followPage{page: r.page("Ne plus suivre"), IsAll: all != ""}, follows), nil
}

// endFollow ends what a link is about, also by one click in a mailbox (RFC 8058), where nobody follows a
// redirect, and which may click again.
func (p *readers) endFollow(r *request) (*response, error) {
	const inMemory = 32 << 20 // more than the parts of maxForm bytes take: nothing is written to disk
	err := r.ParseMultipartForm(inMemory)
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, unreadableForm()
	}
	token, isClick := r.FormValue("jeton"), r.PostForm.Get("List-Unsubscribe") == "One-Click"
	if !account.HasTokenForm(token) {
		return nil, endFailure(sqldb.ErrNotFound)
	}
	if !r.PostForm.Has("jeton") && !isClick {
		return p.showEnd(r)
	}
	left, err := p.Readers.Follows.Sealed(p.Sealer).End(r.Context(), token, r.FormValue("tout"))
	switch {
	case isClick && errors.Is(err, sqldb.ErrNotFound):
		return r.message("C’est fini", "Ce lien n’a plus rien à arrêter."), nil
	case err != nil:
		return nil, endFailure(err)
	case len(left) == 0:
		return r.message("C’est fini", "Nous ne vous écrirons plus, et votre adresse est effacée de ce que vous suiviez."), nil
	}
	return p.endPage(followPage{page: r.page("C’est fini"), IsLeft: true}, left), nil
}

// endPage is about follows of one reader.
func (p *readers) endPage(data followPage, follows []readerdb.Follow) *response {
	var names []string
	for _, f := range follows {
		names = append(names, newsletter.TopicName(p.Site.Snapshot(), f.Topic))
	}
	data.Topic, data.Email = strings.Join(names, "\u00a0», «\u00a0"), follows[0].Address
	data.Token, data.All = follows[0].Token, follows[0].All
	return render("endfollow", data)
}

// endFailure returns the page for a link that ends nothing.
func endFailure(err error) error {
	if !errors.Is(err, sqldb.ErrNotFound) {
		return err
	}
	return &failure{
		Status: http.StatusGone, Title: "Ce lien n’arrête rien",
		Text: "Il n’est pas complet, ou ce qu’il arrêtait est déjà fini. Si nous vous écrivons encore, ouvrez en entier le lien qui est à la fin du courriel le plus récent.",
	}
}

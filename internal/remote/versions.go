package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/catalogdb"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/web"
	"palmares/internal/wire"
)

// The parameters of versions and of undoing one.
const (
	paramVersion = "version"
	paramForce   = "force"
	paramLimit   = "limit"
	paramFormat  = "format" // of what a version changed: text, or JSON lines without it
	paramLang    = "lang"   // of what it tells: fr, or English without it
)

// maxVersions is how many versions one request may list, and defaultVersions how many it lists.
const (
	maxVersions     = 1000
	defaultVersions = 20
	// maxPlanned is how much of what is to come is listed.
	maxPlanned = 10_000
)

// versions lists the last versions, newest first.
func (h *Handler) versions(r *request) (web.Response, error) {
	p := params{q: r.URL.Query()}
	limit := p.number(paramLimit)
	if !p.q.Has(paramLimit) {
		limit = defaultVersions
	}
	if limit < 1 || limit > maxVersions {
		p.refuse(paramLimit, "a whole number from 1 to "+strconv.Itoa(maxVersions))
	}
	if p.err != nil {
		return web.Response{}, p.err
	}
	all, err := h.Store.Catalogue.Versions(r.Context(), int(limit))
	return web.Response{Body: web.JSON(append([]catalogdb.Version{}, all...))}, err // an empty list rather than null
}

// changes returns what a version changed, as `palmares log VERSION` prints it.
func (h *Handler) changes(r *request) (web.Response, error) {
	p := params{q: r.URL.Query()}
	p.q.Set(paramVersion, r.Slug)
	log, a := publication.Log{Version: p.number(paramVersion), Language: p.language()}, web.Response{Type: linesType}
	switch p.text(paramFormat) {
	case "":
		log.JSON = true
	case "text":
		a.Type = "text/plain; charset=utf-8"
	default:
		p.refuse(paramFormat, "text, or left out for JSON lines")
	}
	if p.err != nil {
		return a, p.err
	}
	var out bytes.Buffer
	err := log.Write(r.Context(), h.Store.Catalogue, &out)
	if errors.Is(err, catalogdb.ErrNoVersion) {
		err = web.Invalid(paramVersion, problem.Words(err.Error()))
	}
	a.Body = wire.NewBody(wire.Digest{}, out.Bytes())
	return a, err
}

func (h *Handler) planned(r *request) (web.Response, error) {
	list, err := h.Store.Catalogue.Planned(r.Context())
	return web.Response{Body: web.JSON(append([]catalog.Planned{}, list[:min(len(list), maxPlanned)]...))}, err
}

func (h *Handler) revert(r *request) (web.Response, error) {
	p := params{q: r.URL.Query()}
	undo := publication.Undo{
		Version: p.number(paramVersion), Force: p.flag(paramForce), DryRun: p.flag(paramDryRun),
		Token: r.Caller.Token.Name, Now: h.Now, TempDir: h.TempDir,
	}
	language := p.language()
	if undo.Version == 0 {
		p.refuse(paramVersion, "the number of a version, such as 12")
	}
	if p.err != nil {
		return web.Response{}, p.err
	}
	return h.streamed(r, language, func(out *responseSink) (int64, error) {
		undo.Sink = out
		return undo.Run(r.Context(), h.Store.Catalogue)
	}), nil
}

// Versions returns the last publications, newest first.
func (c *Client) Versions(ctx context.Context, limit int) (list []catalogdb.Version, err error) {
	err = c.ask(ctx, http.MethodGet, versionsPath+"?limit="+strconv.Itoa(min(limit, maxVersions)), nil, &list)
	return list, err
}

// Planned returns what is to come, by hour and name.
func (c *Client) Planned(ctx context.Context) (list []catalog.Planned, err error) {
	err = c.ask(ctx, http.MethodGet, plannedPath, nil, &list)
	return list, err
}

// WriteChanges writes what a version changed, as text or as JSON lines.
func (c *Client) WriteChanges(ctx context.Context, w io.Writer, log publication.Log) error {
	q := url.Values{}
	if !log.JSON {
		q.Set(paramFormat, "text")
	}
	setLanguage(q, log.Language)
	path := versionsPath + "/" + strconv.FormatInt(log.Version, 10)
	resp, err := c.send(ctx, http.MethodGet, path+"?"+q.Encode(), http.Header{}, http.NoBody)
	if err != nil {
		return c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp)
	}
	_, err = io.Copy(w, resp.Body)
	return err
}

// Revert undoes a version and shows what the server says about it. Of the undo it uses Version,
// Force, DryRun and Sink.
func (c *Client) Revert(ctx context.Context, undo *publication.Undo) error {
	q := url.Values{paramVersion: {strconv.FormatInt(undo.Version, 10)}}
	setLanguage(q, c.Language)
	for name, isSet := range map[string]bool{paramForce: undo.Force, paramDryRun: undo.DryRun} {
		if isSet {
			q.Set(name, "true")
		}
	}
	resp, err := c.send(ctx, http.MethodPost, revertPath+"?"+q.Encode(), http.Header{}, http.NoBody)
	if err != nil {
		return c.unreachable(err)
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), linesType) {
		return c.refused(resp)
	}
	return c.show(resp, undo.Sink)
}

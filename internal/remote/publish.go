package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"palmares/internal/catalogdb"
	"palmares/internal/osfile"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/sqldb"
	"palmares/internal/web"
)

// The parameters of a publication.
const (
	paramName          = "name" // of the folder in messages
	paramDryRun        = "dry_run"
	paramAllowRemovals = "allow_removals"
	paramStrict        = "strict"
	paramMaxAge        = "max_age"
	paramRevision      = "revision"
	paramAuthor        = "author"
	paramClean         = "clean"
	paramExpect        = "expect"
	paramUnchanged     = "unchanged"
)

// publish publishes the folder in the body.
func (h *Handler) publish(r *request) (web.Response, error) {
	job, language, err := parseJob(r.URL.Query())
	if err == nil && r.Header.Get("Content-Encoding") != "zstd" {
		err = newError(web.CodeUnsupportedMediaType, "the body must be a tar stream with Content-Encoding: zstd")
	}
	job.Now, job.Source.Token = h.Now, r.Caller.Token.Name
	return h.streamed(r, language, func(out *responseSink) (int64, error) {
		job.Sink = out
		return h.receive(r, job)
	}), err
}

// streamed returns a response that is written while do publishes, if other publications leave room.
func (h *Handler) streamed(
	r *request, language problem.Language, do func(*responseSink) (version int64, err error),
) web.Response {
	return web.Response{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case h.uploads <- struct{}{}:
		default:
			h.fail(w, r, errUnavailable(fmt.Sprintf("the server is receiving %d other folders: try again in a minute; "+
				"nothing was changed", maxUploads), "60"))
			return
		}
		defer func() { <-h.uploads }()
		token := r.Caller.Token.ID
		if err := h.Tokens.MarkUsed(r.Context(), token, h.Now()); err != nil && r.Context().Err() == nil {
			h.Log.Warn("could not store that a token was used", "token", token, "error", err)
		}
		out := &responseSink{w: w, control: http.NewResponseController(w), language: language}
		version, err := do(out)
		if _, ok := errors.AsType[*web.Error](err); ok { // of the upload: nothing was sent yet
			drain(r)
			h.fail(w, r, err)
			return
		}
		out.finish(version, h.explain(r, err))
	})}
}

// drain reads some more of a body whose response is known, as a client that is still
// sending may not notice a response before it is done.
func drain(r *request) {
	const most, during = 16 << 20, 5 * time.Second
	if body, ok := r.Body.(*uploadBody); ok {
		body.end = time.Now().Add(during)
	}
	_, _ = io.CopyN(io.Discard, r.Body, most) // what follows is cut off
}

// receive unpacks the folder and publishes it.
func (h *Handler) receive(r *request, job *publication.Job) (version int64, err error) {
	known, err := h.Store.Pictures.Known(r.Context())
	if err != nil {
		return 0, err
	}
	dir, err := osfile.TempDir(h.TempDir)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			h.Log.Error("could not remove an upload: remove it by hand", "error", err)
		}
	}()
	isKnown := func(sum string) bool { _, ok := known(sum); return ok }
	job.Elsewhere, err = unpack(dir, r.Body, h.limits, isKnown)
	if err != nil {
		return 0, err
	}
	job.Dir, job.Known = dir, known
	read, err := job.Read(r.Context())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	return job.Publish(r.Context(), h.Store.Catalogue, read)
}

func parseJob(q url.Values) (*publication.Job, problem.Language, error) {
	p := params{q: q}
	job := &publication.Job{
		Name: p.text(paramName), DryRun: p.flag(paramDryRun), AllowRemovals: p.flag(paramAllowRemovals),
		Strict: p.flag(paramStrict), MaxAge: int(p.number(paramMaxAge)),
		Source: catalogdb.Source{Revision: p.text(paramRevision), Author: p.text(paramAuthor), Clean: p.flag(paramClean)},
	}
	unchanged, hasWant, want := p.flag(paramUnchanged), q.Has(paramExpect), p.number(paramExpect)
	job.Guard = func(head catalogdb.Head) error {
		switch {
		case unchanged:
			return errChanged
		case hasWant && !head.Is(want):
			return &movedError{head, want}
		}
		return nil
	}
	language := p.language()
	return job, language, p.err
}

// errChanged refuses a folder that its client allows only if it changes nothing.
var errChanged = errors.New("the folder would change what is published, and its client takes it for stale; " +
	"nothing was changed")

// A movedError says that another version is published than the client has seen.
type movedError struct {
	head catalogdb.Head
	want int64
}

func (e *movedError) Error() string { return e.In(problem.English) }

// In returns the sentence in a language.
func (e *movedError) In(l problem.Language) string {
	var by problem.Text
	if e.head.Author != "" {
		by = problem.New("by-author", e.head.Author)
	}
	return problem.New("published-meantime", e.head.Version, by, e.want).In(l)
}

// Is keeps the revision of the other version on record.
func (e *movedError) Is(target error) bool { return target == catalogdb.ErrRevisionStays }

// params reads parameters and keeps the first error.
type params struct {
	q   url.Values
	err error
}

func (p *params) refuse(name, want string) {
	if p.err == nil {
		p.err = web.Invalid(name, problem.Words(fmt.Sprintf("the parameter %s must be %s", name, want)))
	}
}

func (p *params) text(name string) string {
	s := p.q.Get(name)
	if !isOneLine(s) {
		p.refuse(name, "one line of text")
	}
	return s
}

func (p *params) flag(name string) bool {
	switch p.q.Get(name) {
	case "", "false":
		return false
	case "true":
		return true
	}
	p.refuse(name, "true or false")
	return false
}

// language returns the language that the client asks for.
func (p *params) language() problem.Language {
	switch p.text(paramLang) {
	case "":
	case "fr":
		return problem.French
	default:
		p.refuse(paramLang, "fr, or left out for English")
	}
	return problem.English
}

func (p *params) number(name string) int64 {
	s := p.q.Get(name)
	if s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		p.refuse(name, "a whole number")
	}
	return n
}

// A refusal is how a publication failed: a status and a sentence.
type refusal struct {
	status int
	text   problem.Text
}

// explain returns what the client is told about the error of a publication, nil if
// there is none. What it need not know is logged.
func (h *Handler) explain(r *request, err error) *refusal {
	refused, isRefused := errors.AsType[*publication.RefusedError](err)
	moved, isMoved := errors.AsType[*movedError](err)
	switch {
	case err == nil:
		return nil
	case isRefused:
		return &refusal{http.StatusUnprocessableEntity, refused.Text}
	case isMoved:
		return &refusal{http.StatusConflict, problem.Of(moved)}
	case errors.Is(err, errChanged):
		return &refusal{http.StatusPreconditionFailed, problem.Of(errChanged)}
	case errors.Is(err, catalogdb.ErrUndoMoved):
		return &refusal{http.StatusConflict, problem.Of(err)}
	case errors.Is(err, sqldb.ErrBusy):
		return &refusal{http.StatusConflict, problem.New("is-publishing")}
	}
	if r.Context().Err() == nil {
		h.Log.Error("a publication failed", "error", err)
	}
	switch {
	case errors.Is(err, sqldb.ErrFull) || errors.Is(err, syscall.ENOSPC):
		return &refusal{http.StatusInsufficientStorage, problem.Words(noSpaceText)}
	case errors.Is(err, context.Canceled):
		return &refusal{http.StatusServiceUnavailable, problem.Words("the publication was interrupted: see `palmares log`, " +
			"or publish again")}
	case sqldb.IsOutage(err):
		return &refusal{http.StatusServiceUnavailable, problem.Of(errOutage(err))}
	}
	return &refusal{http.StatusInternalServerError, problem.Of(errInternal())}
}

// A responseSink is the publication.Sink of a client elsewhere, and writes the response. Everything is held back until
// the folder is being stored, or was compared in a dry run: then the status is known.
type responseSink struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	language problem.Language
	begun    bool
	held     []publication.Finding
	stage    string    // that was sent last
	next     time.Time // when progress is sent again
}

// progressEvery is how often progress is sent.
const progressEvery = 200 * time.Millisecond

// writeTimeout is how long the client may take to receive what is written at once.
const writeTimeout = time.Minute

// Progress sends how far the publication is.
func (s *responseSink) Progress(stage string, n, total int) {
	switch stage {
	case "reading", "load", "compare":
		return // the folder may still be refused
	}
	if now := time.Now(); stage != s.stage || now.After(s.next) || n == total {
		s.stage, s.next = stage, now.Add(progressEvery)
		// a client that has gone ends the context
		_ = s.send(http.StatusOK, message{Progress: &progress{stage, n, total}})
	}
}

// Findings sends problems and warnings.
func (s *responseSink) Findings(all []publication.Finding) error {
	if !s.begun {
		s.held = append(s.held, all...)
		return nil
	}
	return s.send(http.StatusOK, s.findings(all)...)
}

// Report sends the report.
func (s *responseSink) Report(report ...problem.Text) error {
	lines := make([]message, len(report))
	for i := range report {
		lines[i].Line = s.said(report[i])
	}
	return s.send(http.StatusOK, lines...)
}

// said returns a text as it is sent: in the language of the client.
func (s *responseSink) said(t problem.Text) *problem.Text {
	return new(problem.Words(t.In(s.language)))
}

// finish sends the last line.
func (s *responseSink) finish(version int64, failed *refusal) {
	last, status := message{Done: &done{version}}, http.StatusOK
	if failed != nil {
		last, status = message{Error: &failure{*s.said(failed.text)}}, failed.status
	}
	_ = s.send(status, last) // a client that has gone cannot be told
}

func (s *responseSink) findings(all []publication.Finding) []message {
	lines := make([]message, len(all))
	for i, f := range all {
		f.Message = *s.said(f.Message)
		lines[i].Finding = &f
	}
	return lines
}

// send sends lines. The first time it sends the status and what was held back before.
func (s *responseSink) send(status int, lines ...message) error {
	if !s.begun {
		s.begun = true
		lines = append(s.findings(s.held), lines...)
		s.held = nil
		header := s.w.Header()
		header.Set("Content-Type", linesType)
		header.Set("Cache-Control", "no-store")
		header.Set("X-Accel-Buffering", "no") // nginx passes lines on as they come
		if status == http.StatusServiceUnavailable {
			header.Set("Retry-After", web.RetrySoon)
		}
		s.w.WriteHeader(status)
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // tests write to memory
	encoder := json.NewEncoder(s.w)
	encoder.SetEscapeHTML(false)
	for _, m := range lines {
		if err := encoder.Encode(m); err != nil {
			return err
		}
	}
	return s.control.Flush()
}

package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/catalogdb"
	"palmares/internal/clientip"
	"palmares/internal/content"
	"palmares/internal/problem"
	"palmares/internal/publication"
	"palmares/internal/wire"
)

// A Client publishes folders on one server. Its methods may return an Error. What ended with
// ErrUnavailable may be tried again, also a publication whose outcome is not known: what is
// published already changes nothing. It follows no redirect: what it sends is for that server only.
type Client struct {
	URL      string           // of the server, without a final slash
	Language problem.Language // of what the server says about a folder
	http     *http.Client
	token    string
}

// questionTimeout is how long the server may take for everything but a publication.
const questionTimeout = time.Minute

// NewClient returns a client of the server at an http or https URL. The token is sent in
// clear text over http, which is therefore for this machine only.
func NewClient(server, token string) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && !clientip.IsLoopback(u.Host) {
		return nil, fmt.Errorf("%s would send the token in clear text: use https:// (http:// is for this machine only)",
			server)
	}
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return nil, problem.New("no-token")
	case account.HasKeyForm(token):
		return nil, problem.New("is-key", "PALMARES_TOKEN")
	case !account.CheckPublishToken(token):
		return nil, problem.New("is-broken-token", "PALMARES_TOKEN")
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   30 * time.Second,
		ExpectContinueTimeout: 10 * time.Second,
		IdleConnTimeout:       time.Minute,
		Protocols:             &http.Protocols{},
	}
	transport.Protocols.SetHTTP1(true) // only there a refusal arrives while a body is being sent
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Transport: transport, CheckRedirect: follow}
	return &Client{URL: strings.TrimSuffix(server, "/"), http: client, token: token}, nil
}

// Close closes the connections to the server.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Head returns what is published.
func (c *Client) Head(ctx context.Context) (head catalogdb.Head, err error) {
	err = c.ask(ctx, http.MethodGet, cataloguePath, nil, &head)
	return head, err
}

// missing returns which pictures the server lacks, of those with these checksums.
func (c *Client) missing(ctx context.Context, sums []string) (map[string]bool, error) {
	all := map[string]bool{}
	for some := range slices.Chunk(sums, maxPictures) {
		var lacked []string
		if err := c.ask(ctx, http.MethodPost, picturesPath, wire.AppendJSON(nil, some), &lacked); err != nil {
			return nil, err
		}
		for _, sum := range lacked {
			all[sum] = true
		}
	}
	return all, nil
}

// ask sends a request and decodes the response.
func (c *Client) ask(ctx context.Context, method, path string, body []byte, into any) error {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	resp, err := c.send(ctx, method, path, http.Header{}, bytes.NewReader(body))
	if err != nil {
		return c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp)
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxQuestion)).Decode(into)
	if err != nil {
		return fmt.Errorf("%s does not answer as a server of Palmarès does: check --server (%w)", c.URL, err)
	}
	return nil
}

func (c *Client) send(ctx context.Context, method, path string, h http.Header, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		return nil, err
	}
	h.Set("Authorization", "Bearer "+c.token)
	req.Header = h
	return c.http.Do(req)
}

// ErrUnavailable means that a server cannot be reached, or asks to try again later.
var ErrUnavailable = errors.New("the server is unavailable")

// An Error is why a server did not do what it was asked to.
type Error struct {
	problem.Text
	Status int // of the response; 0 without a complete one
}

// Is reports whether target is ErrUnavailable and the server, or a proxy in front of it, may do
// later what it was asked to.
func (e *Error) Is(target error) bool {
	switch e.Status {
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return target == ErrUnavailable
	}
	return false
}

// cause returns why there was no response, without the request and the ports of its connection,
// which differ each time.
func cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	return err
}

// reason returns the sentence of an error response; "" if Palmarès did not write that.
func reason(resp *http.Response) string {
	var said struct{ Error string }
	err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said)
	if err != nil {
		return ""
	}
	return said.Error
}

func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &Error{Text: problem.New("server-unreachable", c.URL, cause(err))}
}

func (c *Client) refused(resp *http.Response) error {
	target, said := resp.Header.Get("Location"), reason(resp)
	var why string
	switch {
	case resp.StatusCode/100 == 3 && target != "":
		why = " redirects to " + target + ": give --server the address of the server itself; nothing was published"
	case resp.StatusCode == http.StatusNotFound:
		return &Error{problem.New("accepts-no-folders", c.URL), resp.StatusCode}
	case said != "":
		why = ": " + said
	case resp.StatusCode < http.StatusInternalServerError:
		why = " answered " + resp.Status + ": check --server, and what the proxy in front of it allows; " +
			"nothing was published"
	default:
		why = " answered " + resp.Status + ": try again later; nothing was published"
	}
	return &Error{problem.Words(c.URL + why), resp.StatusCode}
}

// Publish sends a folder and shows what the server says about it, which is what the job
// would have said here. Of the job it uses everything but Guard, Known and Now.
//
// Both conditions apply if something would change: with expect the server publishes only
// if that is the published version, and with refused it publishes nothing and Publish
// returns that error.
func (c *Client) Publish(ctx context.Context, job *publication.Job, root *os.Root, expect *int64, refused error) error {
	parts, err := content.Parts(root.FS())
	if err != nil {
		return checkHere(ctx, job, err)
	}
	p := packer{root: root, parts: parts, name: job.Name, sink: job.Sink}
	if err := p.findPictures(); err != nil {
		return checkHere(ctx, job, err)
	}
	p.lacked, err = c.missing(ctx, slices.Compact(slices.Sorted(maps.Values(p.byPath))))
	if err != nil {
		return err
	}
	stream, end := io.Pipe()
	var packErr error
	packed := make(chan struct{})
	go func() {
		defer close(packed)
		packErr = p.pack(end)
		_ = end.CloseWithError(packErr) // it never fails
	}()
	defer func() {
		_ = stream.Close() // it never fails
		<-packed
	}()
	header := http.Header{
		"Content-Type": {"application/x-tar"}, "Content-Encoding": {"zstd"}, "Expect": {"100-continue"},
	}
	path := cataloguePath + "?" + c.query(job, expect, refused != nil).Encode()
	resp, sendErr := c.send(ctx, http.MethodPost, path, header, stream)
	if sendErr == nil {
		defer resp.Body.Close()
		if strings.HasPrefix(resp.Header.Get("Content-Type"), linesType) {
			err = c.show(resp, job.Sink)
			if refused != nil && resp.StatusCode == http.StatusPreconditionFailed {
				return refused
			}
			return err
		}
		err = c.refused(resp)
	}
	_ = stream.Close()
	<-packed
	switch {
	case packErr != nil && !errors.Is(packErr, io.ErrClosedPipe):
		return checkHere(ctx, job, packErr) // the server was only told that the stream broke
	case sendErr == nil:
		return err
	case packErr == nil:
		return errUnknown(c.URL, cause(sendErr))
	}
	return c.unreachable(sendErr)
}

// checkHere says what is wrong with a folder that cannot be sent: it is read here, which
// finds that and everything else.
func checkHere(ctx context.Context, job *publication.Job, why error) error {
	if _, ok := errors.AsType[*content.PartError](why); !ok {
		return why
	}
	read, err := job.Read(ctx)
	if err != nil {
		return err
	}
	return errors.Join(problem.Wrap(why, "part-not-published", why), read.Close())
}

// setLanguage asks for a language other than English.
func setLanguage(q url.Values, l problem.Language) {
	if l == problem.French {
		q.Set(paramLang, "fr")
	}
}

func (c *Client) query(job *publication.Job, expect *int64, unchanged bool) url.Values {
	q := url.Values{paramName: {"the folder"}}
	setLanguage(q, c.Language)
	for name, value := range map[string]string{
		paramName: job.Name, paramRevision: job.Source.Revision, paramAuthor: job.Source.Author,
	} {
		if value != "" && isOneLine(value) {
			q.Set(name, value)
		}
	}
	for name, isSet := range map[string]bool{
		paramDryRun: job.DryRun, paramAllowRemovals: job.AllowRemovals, paramStrict: job.Strict,
		paramClean:     job.Source.Clean,
		paramUnchanged: unchanged,
	} {
		if isSet {
			q.Set(name, "true")
		}
	}
	if job.MaxAge > 0 {
		q.Set(paramMaxAge, strconv.Itoa(job.MaxAge))
	}
	if expect != nil {
		q.Set(paramExpect, strconv.FormatInt(*expect, 10))
	}
	return q
}

// maxLine is the maximum length of a line of a response. A finding repeats a line of the
// folder at most.
const maxLine = 4 << 20

const maxFound = 50_000 // findings that are kept until they are shown: more than package content lists

// show shows the lines of a response, and returns the error that the last one tells.
func (c *Client) show(resp *http.Response, sink publication.Sink) error {
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxLine)
	var found []publication.Finding
	flush := func() (err error) {
		if len(found) > 0 {
			err = sink.Findings(found)
			found = nil
		}
		return err
	}
	var report []problem.Text
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return errUnknown(c.URL, err)
		}
		if m.Finding != nil {
			found = append(found, *m.Finding)
			if len(found) < maxFound {
				continue
			}
		}
		if err := flush(); err != nil {
			return err
		}
		switch {
		case m.Progress != nil:
			sink.Progress(m.Progress.Stage, m.Progress.Done, m.Progress.Total)
		case m.Line != nil:
			report = append(report, *m.Line)
		case m.Error != nil:
			return &Error{m.Error.Message, resp.StatusCode}
		case m.Done != nil:
			return sink.Report(report...)
		}
	}
	if resp.StatusCode != http.StatusOK {
		return errors.Join(flush(), fmt.Errorf("%s answered %s and broke the connection: try again; "+
			"nothing was published",
			c.URL, resp.Status))
	}
	return errors.Join(flush(), errUnknown(c.URL, lines.Err()))
}

// errUnknown is the error of a publication whose end was not heard of.
func errUnknown(server string, err error) error {
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return &Error{Text: problem.Words(fmt.Sprintf("the connection to %s broke before it said whether the folder was published: "+
		"`palmares log` there tells, or publish again, which changes nothing if it was (%v)", server, err))}
}

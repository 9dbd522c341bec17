package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"palmares/internal/account"
	"palmares/internal/content"
	"palmares/internal/publication"
	"palmares/internal/store"
	"palmares/internal/wire"
)

// A Client publishes folders on one server.
type Client struct {
	server string // its base URL
	token  string
	http   *http.Client
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
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return nil, fmt.Errorf("%s would send the token in clear text: use https:// (http:// is for this machine only)", server)
	}
	switch token = strings.TrimSpace(token); {
	case token == "":
		return nil, errors.New("PALMARES_TOKEN is not set: set it to a token that `palmares token create` printed on the server")
	case account.HasKeyForm(token):
		return nil, errors.New("PALMARES_TOKEN is " + isKeyText)
	case !account.CheckPublishToken(token):
		return nil, errors.New("PALMARES_TOKEN is " + isBrokenText)
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   30 * time.Second,
		ExpectContinueTimeout: 10 * time.Second,
		Protocols:             &http.Protocols{},
	}
	transport.Protocols.SetHTTP1(true) // only there a refusal arrives while the folder is being sent
	return &Client{server: server, token: token, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the token is not for others
	}}, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Close closes the connections to the server.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Head returns what is published.
func (c *Client) Head(ctx context.Context) (store.Head, error) {
	var head published
	err := c.ask(ctx, http.MethodGet, cataloguePath, nil, &head)
	return store.Head(head), err
}

// missing returns which pictures the server lacks, of those with these checksums.
func (c *Client) missing(ctx context.Context, sums []string) (map[string]bool, error) {
	all := map[string]bool{}
	for len(sums) > 0 {
		some := sums[:min(len(sums), maxPictures)]
		sums = sums[len(some):]
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

// ask sends a request and decodes the answer.
func (c *Client) ask(ctx context.Context, method, path string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	resp, err := c.send(ctx, method, path, bytes.NewReader(body))
	if err != nil {
		return c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxQuestion)).Decode(answer); err != nil {
		return fmt.Errorf("%s does not answer as a server of Palmarès does: check --server (%w)", c.server, err)
	}
	return nil
}

func (c *Client) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if _, isStream := body.(*io.PipeReader); isStream {
		req.Header.Set("Content-Type", "application/x-tar")
		req.Header.Set("Content-Encoding", "zstd")
		req.Header.Set("Expect", "100-continue")
	}
	return c.http.Do(req)
}

// ErrUnavailable is a server that cannot be reached, or cannot publish at the moment. A
// publication that ended with it may be tried again, also one whose outcome is not known:
// what is published already changes nothing.
var ErrUnavailable = errors.New("the server is unavailable")

// unavailable makes an error ErrUnavailable without changing its text.
func unavailable(err error) error { return &unavailableError{err} }

type unavailableError struct{ error }

func (e *unavailableError) Unwrap() []error { return []error{e.error, ErrUnavailable} }

// isUnavailable reports whether a status is that of a server, or of a proxy before it, that
// may publish later.
func isUnavailable(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

func (c *Client) unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return unavailable(fmt.Errorf("%s cannot be reached, or broke the connection: check --server, or try again later; nothing was published (%w)", c.server, rootError(err)))
}

// rootError returns err without the request that it is about.
func rootError(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// refused returns the error of an answer that is not 200.
func (c *Client) refused(resp *http.Response) error {
	err := c.refusal(resp)
	if isUnavailable(resp.StatusCode) {
		return unavailable(err)
	}
	return err
}

func (c *Client) refusal(resp *http.Response) error {
	if target := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && target != "" {
		return fmt.Errorf("%s redirects to %s: give --server the address of the server itself; nothing was published", c.server, target)
	}
	if resp.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%s does not accept folders: create a token there with `palmares token create`, or check --server; nothing was published", c.server)
	}
	var answer struct{ Error string }
	err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer)
	if err != nil || answer.Error == "" {
		advice := "try again later"
		if resp.StatusCode < 500 {
			advice = "check --server, and what the proxy in front of it allows"
		}
		return fmt.Errorf("%s answered %s: %s; nothing was published", c.server, resp.Status, advice)
	}
	return fmt.Errorf("%s: %s", c.server, answer.Error)
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
	if p.lacked, err = c.missing(ctx, p.sums()); err != nil {
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
	resp, sendErr := c.send(ctx, http.MethodPost, cataloguePath+"?"+query(job, expect, refused != nil).Encode(), stream)
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
		return errUnknown(c.server, rootError(sendErr))
	}
	return c.unreachable(sendErr)
}

// checkHere says what is wrong with a folder that cannot be sent: it is read here, which
// finds that and everything else.
func checkHere(ctx context.Context, job *publication.Job, reason error) error {
	if _, ok := errors.AsType[*content.PartError](reason); !ok {
		return reason
	}
	read, err := job.Read(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fmt.Errorf("%w; nothing was published", reason), read.Close())
}

func query(job *publication.Job, expect *int64, unchanged bool) url.Values {
	q := url.Values{paramName: {"the folder"}}
	for name, value := range map[string]string{
		paramName: job.Name, paramRevision: job.Source.Revision, paramAuthor: job.Source.Author,
	} {
		if value != "" && isOneLine(value) {
			q.Set(name, value)
		}
	}
	for name, isSet := range map[string]bool{
		paramDryRun: job.DryRun, paramAllowRemovals: job.AllowRemovals, paramStrict: job.Strict, paramClean: job.Source.Clean,
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

// maxLine is the maximum length of a line of an answer. A finding repeats a line of the
// folder at most.
const maxLine = 4 << 20

// show shows the lines of an answer, and returns the error that the last one tells.
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
	var report strings.Builder
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return errUnknown(c.server, err)
		}
		if m.Finding != nil {
			found = append(found, *m.Finding)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		switch {
		case m.Progress != nil:
			sink.Progress(m.Progress.Stage, m.Progress.Done, m.Progress.Total)
		case m.Line != nil:
			report.WriteString(*m.Line + "\n")
		case m.Error != nil && isUnavailable(resp.StatusCode):
			return unavailable(errors.New(m.Error.Message))
		case m.Error != nil:
			return errors.New(m.Error.Message)
		case m.Done != nil:
			return sink.Report(report.String())
		}
	}
	if resp.StatusCode != http.StatusOK {
		return errors.Join(flush(), fmt.Errorf("%s answered %s and broke the connection: try again; nothing was published", c.server, resp.Status))
	}
	return errors.Join(flush(), errUnknown(c.server, lines.Err()))
}

// errUnknown is the error of a publication whose end was not heard of.
func errUnknown(server string, cause error) error {
	if cause == nil {
		cause = io.ErrUnexpectedEOF
	}
	return unavailable(fmt.Errorf("the connection to %s broke before it said whether the folder was published: `palmares log` there tells, or publish again, which changes nothing if it was (%v)", server, cause))
}

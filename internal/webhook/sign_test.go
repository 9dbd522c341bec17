package webhook_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"palmares/internal/webhook"
)

const foreign = "../../tools/webhooks"

// signed is one request as a receiver sees it, and whether it is genuine.
type signed struct {
	Secret  string // that the receiver knows
	Header  http.Header
	Body    string
	Genuine bool
	What    string
}

func sign(t *testing.T, what, body string, at time.Time, known string, secrets ...string) signed {
	t.Helper()
	header, err := webhook.Sign([]byte(body), testEvent, at, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return signed{Secret: known, Header: header, Body: body, Genuine: true, What: what}
}

func (s signed) refused() signed {
	s.Genuine = false
	return s
}

// randomBody is up to 20 kB of characters of one to four bytes. Most bodies are
// short, as events are.
func randomBody(rng *rand.Rand) string {
	alphabet := []rune("abc xyz0189{}[]:,\"\\\n\t\u0000éèçœŒàÿ€’«»\u00a0\u202f日本語🎉👩‍💻🇫🇷\u0301\u2028\ufeff\ufffd")
	limit := 300
	if rng.IntN(20) == 0 {
		limit = 20_000
	}
	var b strings.Builder
	for size := rng.IntN(limit); b.Len() < size; {
		b.WriteRune(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

// requests are 10,000 genuine ones, and forgeries of every kind. The libraries
// read the clock themselves, so they are made now.
func requests(t *testing.T) []signed {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	now := time.Now()
	all := []signed{sign(t, "an empty body", "", now, testSecret, testSecret)}
	for len(all) < 10_000 {
		secret := webhook.NewSecret()
		all = append(all, sign(t, "a random body", randomBody(rng), now, secret, secret))
	}
	for range 200 {
		secret, other := webhook.NewSecret(), webhook.NewSecret()
		body := testBody + randomBody(rng)
		all = append(
			all,
			sign(t, "the new secret of two", body, now, secret, secret, other),
			sign(t, "the old secret of two", body, now, other, secret, other),
			sign(t, "another secret", body, now, webhook.NewSecret(), secret).refused(),
			sign(t, "another secret than two", body, now, webhook.NewSecret(), secret, other).refused(),
			sign(t, "301 s in the past", body, now.Add(-301*time.Second), secret, secret).refused(),
			// With 301 s the forgery would be genuine by the time it is read.
			sign(t, "far in the future", body, now.Add(301*time.Second+5*time.Minute), secret, secret).refused(),
		)
		flipped := sign(t, "a flipped bit of the body", body, now, secret, secret).refused()
		bits := []byte(flipped.Body)
		bits[rng.IntN(len(testBody)/2)] ^= 1 // where all is ASCII and stays it
		flipped.Body = string(bits)
		all = append(all, flipped)

		flipped = sign(t, "a flipped bit of the signature", body, now, secret, secret).refused()
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(flipped.Header.Get("webhook-signature"), "v1,"))
		if err != nil {
			t.Fatal(err)
		}
		raw[rng.IntN(len(raw))] ^= 1 << rng.IntN(8)
		flipped.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(raw))
		all = append(all, flipped)

		moved := sign(t, "another id", body, now, secret, secret).refused()
		moved.Header.Set("webhook-id", testEvent[:len(testEvent)-1]+"z")
		all = append(all, moved)

		later := sign(t, "another time", body, now, secret, secret).refused()
		later.Header.Set("webhook-timestamp", fmt.Sprint(now.Unix()-1))
		all = append(all, later)
	}
	t.Logf("%d genuine requests, %d forged ones", 10_000+2*200, len(all)-10_000-2*200)
	return all
}

func TestWhatWeSignIsVerifiedByTheOfficialGoLibrary(t *testing.T) {
	for _, r := range requests(t) {
		verifier, err := standardwebhooks.NewWebhook(r.Secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify([]byte(r.Body), r.Header); (err == nil) != r.Genuine {
			t.Errorf("%s: %v", r.What, err)
		}
	}
}

func needNode(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(foreign + "/node_modules/standardwebhooks"); err != nil {
		t.Fatalf("the npm package standardwebhooks is missing: run `npm ci --prefix tools/webhooks` (%v)", err)
	}
}

func TestTheSignatureIsThatOfTheSpecification(t *testing.T) {
	// The vector of the specification's own libraries.
	header, err := webhook.Sign([]byte(`{"test": 2432232314}`), "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 999), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	if got := header.Get("webhook-signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Error(got)
	}
	if got := header.Get("webhook-timestamp"); got != "1614265330" {
		t.Error(got)
	}
}

func TestASecretIs24RandomBytesAndNeverInAnError(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		secret := webhook.NewSecret()
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) != 24 || len(secret) != len("whsec_")+32 || seen[secret] {
			t.Fatalf("%s: %d bytes, %v", secret, len(key), err)
		}
		seen[secret] = true
	}
	if _, err := webhook.Sign(nil, testEvent, time.Now(), "whsec_hunter2!"); err == nil || strings.Contains(err.Error(), "hunter") {
		t.Errorf("a secret that is none: %v", err)
	}
}

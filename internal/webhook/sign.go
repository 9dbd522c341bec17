package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// secretPrefix is the prefix of Standard Webhooks: it makes leaked secrets recognizable.
const secretPrefix = "whsec_"

// NewSecret returns a new secret, in the form that is shown to the owner once. 24 bytes
// give base64 without padding, which some libraries do not accept.
func NewSecret() string {
	var key [24]byte
	rand.Read(key[:])
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// Sign returns the headers that authenticate body, id and time. There is one signature
// per secret; a receiver needs to know only one of them.
func Sign(body []byte, id string, at time.Time, secrets ...string) (http.Header, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, errors.New("a webhook secret is not whsec_ and base64") // the cause would contain it
		}
		signatures[i], err = signer.Sign(id, at, body)
		if err != nil {
			return nil, err
		}
	}
	header := http.Header{}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return header, nil
}

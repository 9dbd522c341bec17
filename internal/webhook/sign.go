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

// secretPrefix is that of Standard Webhooks: a secret is known for one wherever
// it turns up.
const secretPrefix = "whsec_"

// NewSecret makes the secret of an endpoint, in the form its owner is shown once.
// 24 bytes give base64 without padding, which some libraries trip over.
func NewSecret() string {
	var key [24]byte
	rand.Read(key[:])
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// Sign gives the headers that prove that body, under this id, left here at this
// time. With several secrets there are as many signatures, and a receiver that
// knows any one of them is content.
func Sign(body []byte, id string, at time.Time, secrets ...string) (http.Header, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, errors.New("a webhook secret is not whsec_ and base64") // the cause would quote it
		}
		if signatures[i], err = signer.Sign(id, at, body); err != nil {
			return nil, err
		}
	}
	header := http.Header{}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return header, nil
}

package webhook

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// form is the form of endpoints, deliveries and recoveries in the API and in what their owner
// exports: times as in events, durations in milliseconds, and null for what there is not.
var form = json.WithMarshalers(json.JoinMarshalers(
	orNull(func(t time.Time) jsontext.Token { return jsontext.String(t.UTC().Format(TimeFormat)) }),
	orNull(func(s Status) jsontext.Token { return jsontext.Int(int64(s)) }),
	orNull(func(o Outcome) jsontext.Token { return jsontext.String(string(o)) }),
	orNull(func(r Reason) jsontext.Token { return jsontext.String(string(r)) }),
	json.MarshalToFunc(func(e *jsontext.Encoder, d time.Duration) error {
		return e.WriteToken(jsontext.Int(d.Milliseconds()))
	}),
))

func orNull[T comparable](token func(T) jsontext.Token) *json.Marshalers {
	return json.MarshalToFunc(func(e *jsontext.Encoder, v T) error {
		if v == *new(T) {
			return e.WriteToken(jsontext.Null)
		}
		return e.WriteToken(token(v))
	})
}

// JSON returns values of this package, or what contains them, as JSON.
func JSON(v any, options ...json.Options) (jsontext.Value, error) {
	return json.Marshal(v, append(options, form, jsontext.AllowInvalidUTF8(true))...)
}
